package apiv1_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/contract"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/inbound/wire/wiretest"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

func newFace(store lyceum.Store) *apiv1.Face {
	return apiv1.New(apiv1.Rules{Sales: sales.New(store, func() time.Time { return day(60) }, nil, nil)}, nil)
}

// asSchool serves a face's operations as if a caller of the school had authenticated. What the
// server does before and around that is tested in its own package.
func asSchool(face *apiv1.Face, school lyceum.SchoolID) http.Handler {
	mux := http.NewServeMux()
	for _, op := range face.Operations() {
		mux.HandleFunc(op.Method+" "+op.Path, func(w http.ResponseWriter, r *http.Request) {
			body, err := op.Serve(r.Context(), wire.Principal{By: lyceum.By{School: school, Permissions: op.Needs}}, r)
			if err == nil {
				err = wire.Send(w, r, http.StatusOK, body)
			}
			if err != nil {
				status, failure := face.Failure(lyceum.Public(err), "")
				_ = wire.Send(w, r, status, failure)
			}
		})
	}
	return mux
}

// document parses and returns the contract.
func document(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(contract.V1().JSON)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// violation returns an error if the contract does not allow the response for the operation.
func violation(operation *openapi3.Operation, status int, contentType string, body []byte) error {
	response := operation.Responses.Status(status)
	if response == nil {
		return fmt.Errorf("status %d is not in the contract", status)
	}
	media := response.Value.Content.Get(contentType)
	if media == nil {
		return fmt.Errorf("%q is not in the contract for status %d", contentType, status)
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	return media.Schema.Value.VisitJSON(value, openapi3.VisitAsResponse(), openapi3.EnableFormatValidation(), openapi3.MultiErrors())
}

// client requests lists of transactions and checks every response against the contract.
type client struct {
	handler   http.Handler
	operation *openapi3.Operation
}

func newClient(t *testing.T, store lyceum.Store, school lyceum.SchoolID) *client {
	t.Helper()
	return &client{asSchool(newFace(store), school), document(t).Paths.Value("/v1/transactions").Get}
}

func (c *client) get(t *testing.T, query string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/v1/transactions", nil).WithContext(t.Context())
	r.URL.RawQuery = query
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, r)
	if err := violation(c.operation, w.Code, w.Header().Get("Content-Type"), w.Body.Bytes()); err != nil {
		t.Errorf("the answer to %q is not the contract's: %v\n%s", query, err, w.Body)
	}
	return w
}

// list requests a list and fails the test unless the status is 200.
func (c *client) list(t *testing.T, query string) gen.TransactionList {
	t.Helper()
	w := c.get(t, query)
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	var list gen.TransactionList
	decode(t, w.Body.Bytes(), &list)
	return list
}

func decode(t testing.TB, text []byte, into any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

func idsOf(list gen.TransactionList) []int32 {
	ids := []int32{}
	for _, x := range list.Transactions {
		ids = append(ids, x.ID)
	}
	return ids
}

func TestResponsesAreTheGoldenOnes(t *testing.T) {
	for engine, open := range engines {
		t.Run(engine, func(t *testing.T) {
			store := open(t)
			c := newClient(t, store, smallSchool(t, store))
			for _, tc := range []struct {
				name, query string
				status      int
				golden      string
			}{
				{"second page of five", "per=5&page=2", 200, "page2.json"}, // rows 6 to 10
				{"oldest first", "per=2&sort_direction=asc", 200, "oldest.json"},
				{"past the last page", "page=99", 200, "empty.json"}, // the total is still 50
				{"chargebacks", "is_chargeback=true", 200, "chargebacks.json"},
				{"fully refunded", "is_fully_refunded=1", 200, "refunds.json"},
				{"every nullable field is null", "user_id=9&pricing_plan_id=1", 200, "nulls.json"},
				{"page is no number", "page=x", 400, "badpage.json"},
				{"several mistakes", "per=1&page=0&start=never&per=2&is_chargeback=maybe", 400, "several.json"},
			} {
				t.Run(tc.name, func(t *testing.T) {
					w := c.get(t, tc.query)
					if w.Code != tc.status {
						t.Fatalf("status %d, want %d: %s", w.Code, tc.status, w.Body)
					}
					wiretest.Golden(t, tc.golden, w.Body.Bytes())
				})
			}
		})
	}
}

// newest lists the ids from one down to another in the small school's order, newest first:
// 44 is newer than 45.
func newest(from, to int32) []int32 {
	var ids []int32
	for id := from; id >= to; id-- {
		ids = append(ids, id)
	}
	if i := slices.Index(ids, 45); i >= 0 && i+1 < len(ids) {
		ids[i], ids[i+1] = 44, 45
	}
	return ids
}

func without(ids []int32, some ...int32) []int32 {
	return slices.DeleteFunc(slices.Clone(ids), func(id int32) bool { return slices.Contains(some, id) })
}

func TestFiltersAndPages(t *testing.T) {
	all := newest(50, 1)
	course1 := append(newest(30, 21), newest(10, 1)...)
	meta := func(total, page, from, to, per, pages int32) gen.PaginationMeta {
		return gen.PaginationMeta{Total: total, Page: page, From: from, To: to, PerPage: per, NumberOfPages: pages}
	}
	// whole is the meta of a single page that contains everything.
	whole := func(ids []int32, per int32) gen.PaginationMeta {
		n := int32(len(ids))
		if n == 0 {
			return meta(0, 1, 0, 0, per, 0)
		}
		return meta(n, 1, 1, n, per, 1)
	}
	type row struct {
		name, query string
		ids         []int32
		meta        gen.PaginationMeta
	}
	rows := []row{
		{"20 without per", "", all[:20], meta(50, 1, 1, 20, 20, 3)},
		{"second page without per", "page=2", all[20:40], meta(50, 2, 21, 40, 20, 3)},
		{"last page is short", "page=3", all[40:], meta(50, 3, 41, 50, 20, 3)},
		{"first page past the last", "page=4", nil, meta(50, 4, 0, 0, 20, 3)},
		{"items 6 to 10", "per=5&page=2", all[5:10], meta(50, 2, 6, 10, 5, 10)},
		{"last page is full", "per=5&page=10", all[45:], meta(50, 10, 46, 50, 5, 10)},
		{"past a full last page", "per=5&page=11", nil, meta(50, 11, 0, 0, 5, 10)},
		{"one a page", "per=1&page=50", all[49:], meta(50, 50, 50, 50, 1, 50)},
		{"per just the total", "per=50", all, meta(50, 1, 1, 50, 50, 1)},
		{"largest per", "per=100", all, meta(50, 1, 1, 50, 100, 1)},
		{"R14 per above the largest", "per=101", all, meta(50, 1, 1, 50, 100, 1)},
		{"R14 per far above the largest", "per=1000", all, meta(50, 1, 1, 50, 100, 1)},
		{"R14 per is int32's last", "per=2147483647", all, meta(50, 1, 1, 50, 100, 1)},
		{"R14 per and page are int32's last", "per=2147483647&page=2147483647", nil, meta(50, 2147483647, 0, 0, 100, 1)},
		{"R14 page 400,000,000", "page=400000000&per=20", nil, meta(50, 400000000, 0, 0, 20, 3)},
		{"R14 page is int32's last", "page=2147483647", nil, meta(50, 2147483647, 0, 0, 20, 3)},

		{"oldest first", "sort_direction=asc&per=100", reversed(all), meta(50, 1, 1, 50, 100, 1)},
		{"oldest first, page 2", "sort_direction=asc&per=5&page=2", []int32{6, 7, 8, 9, 10}, meta(50, 2, 6, 10, 5, 10)},
		{"newest first by name", "sort_direction=desc&per=5&page=2", all[5:10], meta(50, 2, 6, 10, 5, 10)},

		{"v2's parameters are not v1's", "per_page=5&limit=1&offset=3&order=asc", all[:20], meta(50, 1, 1, 20, 20, 3)},
		{"unknown parameters", "foo=1&foo=2&start_date=x&=&%00=%00", all[:20], meta(50, 1, 1, 20, 20, 3)},
		{"parameters in capitals are unknown", "PER=5&Page=2", all[:20], meta(50, 1, 1, 20, 20, 3)},
	}
	for _, f := range []struct {
		name, query string
		ids         []int32
	}{
		{"user", "user_id=3", []int32{43, 33, 23, 13, 3}},
		{"user, oldest first", "user_id=3&sort_direction=asc", []int32{3, 13, 23, 33, 43}},
		{"affiliate", "affiliate_id=2", []int32{45, 38, 31, 24, 17, 10, 3}},
		{"plan", "pricing_plan_id=4", newest(40, 31)},
		{"course via its plans", "course_id=1", course1},
		{"course of one plan", "course_id=3", newest(50, 41)},
		{"fully refunded", "is_fully_refunded=true", []int32{36, 26, 16, 6}},
		{"not fully refunded finds what was not refunded, half refunded and free", "is_fully_refunded=false", without(all, 36, 26, 16, 6)},
		{"not fully refunded as 0", "is_fully_refunded=0", without(all, 36, 26, 16, 6)},
		{"chargeback", "is_chargeback=true", []int32{45, 25, 5}},
		{"chargeback as 1", "is_chargeback=1", []int32{45, 25, 5}},
		{"no chargeback finds nulls", "is_chargeback=false", without(all, 45, 25, 5)},
		{"no chargeback as 0", "is_chargeback=0", without(all, 45, 25, 5)},

		{"start is excluded", "start=2024-01-10T09:00:00Z", newest(50, 11)},
		{"start a second earlier", "start=2024-01-10T08:59:59Z", newest(50, 10)},
		{"start a second later", "start=2024-01-10T09:00:01Z", newest(50, 11)},
		{"end is included", "end=2024-01-10T09:00:00Z", newest(10, 1)},
		{"end a second earlier", "end=2024-01-10T08:59:59Z", newest(9, 1)},
		{"end a second later", "end=2024-01-10T09:00:01Z", newest(10, 1)},
		{"fractions of end are cut", "end=2024-01-10T08:59:59.999Z", newest(9, 1)},
		{"fractions of start are cut", "start=2024-01-10T09:00:00.999Z", newest(50, 11)},
		{"start and end", "start=2024-01-10T09:00:00Z&end=2024-01-15T09:00:00Z", newest(15, 11)},
		{"both are of created_at", "start=2023-11-30&end=2023-12-31", nil}, // when plan 3 was purchased
		{"start is end", "start=2024-01-10T09:00:00Z&end=2024-01-10T09:00:00Z", nil},
		{"end before start", "start=2024-01-15&end=2024-01-10", nil},
		{"a plain day is its midnight", "start=2024-01-10&end=2024-01-12", []int32{11, 10}},
		{"another offset", "start=2024-01-10T11:00:00%2B02:00&end=2024-01-11T07:00:00-02:00", []int32{11}},
		{"a plus that was not escaped", "start=2024-01-10T11:00:00+02:00&end=2024-01-11T11:00:00+02:00", []int32{11}},
		{"two in one second", "start=2024-02-11&end=2024-02-12", []int32{43, 42}},
		{"two in one second, oldest first", "start=2024-02-11&end=2024-02-12&sort_direction=asc", []int32{42, 43}},
		{"R14 year 9999", "start=9999-12-31T23:59:59Z", nil},
		{"R14 until year 9999", "end=9999-12-31T23:59:59Z", all},
		{"R14 year 1", "start=0001-01-01T00:00:00Z", all},
		{"R14 until year 1", "end=0001-01-01T00:00:00Z", nil},
		{"R14 until the second second of year 1", "end=0001-01-01T00:00:01Z", nil},

		{"R14 user 0", "user_id=0", nil},
		{"R14 user -1", "user_id=-1", nil},
		{"R14 user is int32's last", "user_id=2147483647", nil},
		{"R14 user is int32's first", "user_id=-2147483648", nil},
		{"R14 affiliate 0 is not null", "affiliate_id=0", nil},
		{"R14 affiliate -1", "affiliate_id=-1", nil},
		{"R14 affiliate is int32's last", "affiliate_id=2147483647", nil},
		{"R14 course 0 is not none", "course_id=0", nil},
		{"R14 course is int32's last", "course_id=2147483647", nil},
		{"R14 plan 0", "pricing_plan_id=0", nil},
		{"R14 plan is int32's last", "pricing_plan_id=2147483647", nil},
		{"an unknown user", "user_id=11", nil},

		{"course and user", "course_id=1&user_id=6", []int32{26, 6}},
		{"course and another course's plan", "course_id=1&pricing_plan_id=2", nil},
		{"course, affiliate and no chargeback", "course_id=1&affiliate_id=2&is_chargeback=false", []int32{24, 10, 3}},
		{"refunded and a period", "is_fully_refunded=true&start=2024-01-06T09:00:00Z&end=2024-01-26T09:00:00Z", []int32{26, 16}},
		{"chargeback and fully refunded", "is_chargeback=true&is_fully_refunded=true", nil},
		{
			"all ten", "user_id=3&affiliate_id=2&course_id=1&pricing_plan_id=1&is_fully_refunded=false&is_chargeback=false" +
				"&start=2024-01-02T09:00:00Z&end=2024-01-03T09:00:00Z&page=1&per=100&sort_direction=asc", []int32{3},
		},
		{
			"all ten but one", "user_id=3&affiliate_id=2&course_id=1&pricing_plan_id=1&is_fully_refunded=false&is_chargeback=true" +
				"&start=2024-01-02T09:00:00Z&end=2024-01-03T09:00:00Z&page=1&per=100&sort_direction=asc", nil,
		},
	} {
		if !strings.Contains(f.query, "per=") {
			f.query += "&per=100"
		}
		rows = append(rows, row{f.name, f.query, f.ids, whole(f.ids, 100)})
	}

	for engine, open := range engines {
		t.Run(engine, func(t *testing.T) {
			store := open(t)
			c := newClient(t, store, smallSchool(t, store))
			for _, tc := range rows {
				t.Run(tc.name, func(t *testing.T) {
					list := c.list(t, tc.query)
					if diff := cmp.Diff(append([]int32{}, tc.ids...), idsOf(list)); diff != "" {
						t.Errorf("ids differ (-want +got):\n%s", diff)
					}
					if list.Meta != tc.meta {
						t.Errorf("meta %+v, want %+v", list.Meta, tc.meta)
					}
				})
			}
		})
	}
}

func reversed(ids []int32) []int32 {
	ids = slices.Clone(ids)
	slices.Reverse(ids)
	return ids
}

// TestEveryTransactionIsThere checks that all rows are listed, with all fields as stored.
func TestEveryTransactionIsThere(t *testing.T) {
	for engine, open := range engines {
		t.Run(engine, func(t *testing.T) {
			store := open(t)
			list := newClient(t, store, smallSchool(t, store)).list(t, "per=100")
			if len(list.Transactions) != 50 {
				t.Fatalf("%d transactions", len(list.Transactions))
			}
			for _, got := range list.Transactions {
				if diff := cmp.Diff(summary(transaction(lyceum.TransactionID(got.ID))), got); diff != "" {
					t.Errorf("transaction %d differs (-want +got):\n%s", got.ID, diff)
				}
			}
		})
	}
}

// summary converts a transaction to the contract's type.
func summary(x lyceum.Transaction) gen.TransactionSummary {
	s := gen.TransactionSummary{
		ID: int32(x.ID), UserID: int32(x.UserID), PricingPlanID: int32(x.PricingPlanID), SaleID: int32(x.SaleID),
		CreatedAt: x.CreatedAt, PurchasedAt: x.PurchasedAt, Charge: int32(x.Charge), FinalPrice: int32(x.FinalPrice),
		Currency: string(x.Currency), TaxCharge: int32(x.TaxCharge), Revenue: int32(x.Revenue),
		HasChargeback: pointer(x.HasChargeback), AffiliateFees: int32(x.AffiliateFees), AuthorFees: int32(x.AuthorFees),
		RefundedAt: pointer(x.RefundedAt), AmountRefunded: int32(x.AmountRefunded),
		ChargebackFee: pointer32(x.ChargebackFee), AffiliateID: pointer32(x.AffiliateID), AuthorID: pointer32(x.AuthorID), CouponID: pointer32(x.CouponID),
	}
	if x.Paid {
		paid := gen.Paid
		s.Status = &paid
	}
	return s
}

func pointer[T comparable](v lyceum.Opt[T]) *T {
	if !v.Present {
		return nil
	}
	return &v.Value
}

func pointer32[T ~int32 | ~int64](v lyceum.Opt[T]) *int32 {
	if !v.Present {
		return nil
	}
	n := int32(v.Value)
	return &n
}

func TestR14BadValues(t *testing.T) {
	const (
		anyInteger = " must be an integer from -2147483648 to 2147483647"
		fromOne    = " must be an integer from 1 to 2147483647"
		trueFalse  = " must be true or false (or 1 or 0)"
		aTime      = " must be an RFC 3339 date-time such as 2024-01-31T15:04:05Z or a day such as 2024-01-31"
		direction  = " must be asc or desc"
		percent    = " has a percent sign that is not followed by two hexadecimal digits; write a percent sign as %25"
	)
	store := engines["sqlite"](t)
	c := newClient(t, store, storetest.MakeSchool(t, store))
	// Invalid for every parameter.
	anywhere := []string{"", "%00", "1%00", "%201x", "１２", "%EF%BC%91", "null", "undefined", "[]", "9223372036854775808", "1e9", "-", "%ff"}
	integers := []string{"2147483648", "-2147483649", "%201", "1%20", "+1", "%2B5", "1.5", "0x1", "abc", "1,2"}
	for _, p := range []struct {
		names    []string
		sentence string
		values   []string
	}{
		{[]string{"user_id", "affiliate_id", "course_id", "pricing_plan_id"}, anyInteger, integers},
		{[]string{"page", "per"}, fromOne, append([]string{"0", "-1", "-2147483648"}, integers...)},
		{[]string{"is_fully_refunded", "is_chargeback"}, trueFalse, []string{"TRUE", "False", "yes", "no", "2", "-1", "+1", "t", "on"}},
		{[]string{"start", "end"}, aTime, []string{
			"2024-02-30", "2023-02-29", "2024-13-01", "2024-01-31T24:00:00Z", "2024-01-31T15:04:05", "2024-01-31T5:04:05Z", "2024-01-31T15:04:05,5Z",
			"0000-01-01", "10000-01-01", "9999-12-31T23:59:59-01:00", "1706713445", "2024-1-1", "01/31/2024", "2016-12-31T23:59:60Z", "yesterday",
		}},
		{[]string{"sort_direction"}, direction, []string{"ASC", "ascending", "newest", "asc,desc", "+asc"}},
	} {
		for _, name := range p.names {
			rows := map[string]string{
				name + "=%":                name + percent,
				name + "=%z":               name + percent,
				name + "=%zz":              name + percent,
				name + "=%4":               name + percent,
				name + "=1&" + name + "=1": name + " must be sent once",
				name + "=&" + name:         name + " must be sent once",
				name:                       name + p.sentence,
			}
			for _, value := range slices.Concat(anywhere, p.values) {
				rows[name+"="+value] = name + p.sentence
			}
			for query, sentence := range rows {
				t.Run(query, func(t *testing.T) {
					w := c.get(t, query)
					var failure gen.Error
					decode(t, w.Body.Bytes(), &failure)
					if w.Code != http.StatusBadRequest || failure.Message != sentence {
						t.Errorf("got %d %q, want 400 %q", w.Code, failure.Message, sentence)
					}
				})
			}
		}
	}
}

func TestOtherBadQueries(t *testing.T) {
	store := engines["sqlite"](t)
	c := newClient(t, store, storetest.MakeSchool(t, store))
	for query, want := range map[string]string{
		"%=1":        "the query string has a parameter name with a percent sign that is not followed by two hexadecimal digits; write a percent sign as %25",
		"foo=%zz":    "foo has a percent sign that is not followed by two hexadecimal digits; write a percent sign as %25",
		"page=1;b=2": "page must be an integer from 1 to 2147483647",
	} {
		w := c.get(t, query)
		var failure gen.Error
		decode(t, w.Body.Bytes(), &failure)
		if w.Code != http.StatusBadRequest || failure.Message != want {
			t.Errorf("%s: got %d %q, want 400 %q", query, w.Code, failure.Message, want)
		}
	}
}

func TestViolationsAreSeen(t *testing.T) {
	operation := document(t).Paths.Value("/v1/transactions").Get
	good, err := os.ReadFile("testdata/page2.json")
	if err != nil {
		t.Fatal(err)
	}
	const contentType = "application/json; charset=utf-8"
	if err := violation(operation, http.StatusOK, contentType, good); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, from, to string }{
		{"null for what is never null", `"user_id": 4`, `"user_id": null`},
		{"a missing field", `"sale_id": 22,`, ``},
		{"text for a number", `"charge": 5190`, `"charge": "5190"`},
		{"a number beyond int32", `"charge": 5190`, `"charge": 2147483648`},
		{"a fraction", `"charge": 5190`, `"charge": 51.9`},
		{"a status there is not", `"status": "paid"`, `"status": "unpaid"`},
		{"a time that is none", `"created_at": "2024-02-14T09:00:00Z"`, `"created_at": "yesterday"`},
		{"no meta", `"meta"`, `"page"`},
	} {
		changed := strings.Replace(string(good), tc.from, tc.to, 1)
		if changed == string(good) {
			t.Fatalf("%s: nothing was changed", tc.name)
		}
		if violation(operation, http.StatusOK, contentType, []byte(changed)) == nil {
			t.Errorf("%s is not seen", tc.name)
		}
	}
	if violation(operation, http.StatusTeapot, contentType, good) == nil {
		t.Error("a status that is not in the contract is not seen")
	}
	if violation(operation, http.StatusOK, "text/html", good) == nil {
		t.Error("another content type is not seen")
	}
	if violation(operation, http.StatusBadRequest, contentType, []byte(`{"message":7}`)) == nil {
		t.Error("a message that is a number is not seen")
	}
}

// TestParametersAreTheContracts checks that every parameter of the contract rejects an invalid
// value, which a parameter that is never read would not, and accepts the contract's example.
func TestParametersAreTheContracts(t *testing.T) {
	store := engines["sqlite"](t)
	c := newClient(t, store, storetest.MakeSchool(t, store))
	for _, ref := range c.operation.Parameters {
		name := ref.Value.Name
		w := c.get(t, name+"=%00")
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), name+" must be ") {
			t.Errorf("%s=%%00 gives %d %s", name, w.Code, w.Body)
		}
		w = c.get(t, url.Values{name: {fmt.Sprint(ref.Value.Example)}}.Encode())
		if w.Code != http.StatusOK {
			t.Errorf("the contract's example of %s gives %d %s", name, w.Code, w.Body)
		}
	}
}

func TestEveryKindHasAStatus(t *testing.T) {
	want := map[lyceum.Kind]int{
		lyceum.Internal: 500, lyceum.Invalid: 400, lyceum.Unauthenticated: 401, lyceum.Forbidden: 403, lyceum.NotFound: 404,
		lyceum.Conflict: 409, lyceum.TooLarge: 413, lyceum.RateLimited: 429, lyceum.Unavailable: 503,
	}
	face := newFace(engines["sqlite"](t))
	for _, kind := range lyceum.Kinds() {
		status, body := face.Failure(lyceum.Errorf(kind, "this & that"), "seven")
		if status != want[kind] || status == 0 {
			t.Errorf("%v is %d, want %d", kind, status, want[kind])
		}
		text, err := body.AppendJSON(nil)
		said := `{"message":"this \u0026 that"}`
		if kind == lyceum.Unauthenticated {
			said = `{"message":"this \u0026 that","request_id":"seven"}`
		}
		if err != nil || string(text) != said {
			t.Errorf("%v is said as %s, %v", kind, text, err)
		}
	}
}

func TestSeveralSentencesAreAnArray(t *testing.T) {
	face := newFace(engines["sqlite"](t))
	one, two := lyceum.FieldError{Field: "page", Message: "is odd"}, lyceum.FieldError{Field: "per", Message: "is even"}
	for want, e := range map[string]*lyceum.Error{
		`{"message":"page is odd"}`:                 lyceum.InvalidFields(one),
		`{"message":["page is odd","per is even"]}`: lyceum.InvalidFields(one, two),
	} {
		_, body := face.Failure(e, "seven")
		if text, err := body.AppendJSON(nil); err != nil || string(text) != want {
			t.Errorf("got %s, %v; want %s", text, err, want)
		}
	}
}

func TestAmountBeyondInt32IsNotCut(t *testing.T) {
	for engine, open := range engines {
		t.Run(engine, func(t *testing.T) {
			store := open(t)
			school := storetest.MakeSchool(t, store)
			large := transaction(2)
			large.Charge = 1<<31 + 1999
			fill(t, store, school, transaction(1), large)
			c := newClient(t, store, school)
			w := c.get(t, "")
			if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "1999") || strings.Contains(w.Body.String(), "transaction") {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
			if got := idsOf(c.list(t, "user_id=1")); !slices.Equal(got, []int32{1}) {
				t.Errorf("a page without it has %v", got)
			}
		})
	}
}
