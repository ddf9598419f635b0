package console_test

import (
	"context"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/console"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

func TestTransactionsFilter(t *testing.T) {
	p := open(t, site)
	want(t, p.send(p.owner, "GET", transactions, nil), 200, "No transactions yet", "lyceum import transactions")
	p.market()
	at := func(text string) {
		at, _ := time.Parse(time.DateTime, text)
		p.clock.Set(at)
		p.session()
	}
	at("2026-03-10 12:00:00")
	_, first := p.sell(1, 11)
	at("2026-03-11 00:00:00")
	p.sell(2, 12, func(n *sales.NewSale) { n.Affiliate = lyceum.Some(lyceum.AffiliateID(7)) })
	at("2026-03-11 23:59:59")
	p.sell(3, 13)
	at("2026-03-12 00:00:00")
	_, fourth := p.sell(4, 11, taxed(100))
	p.sell(5, 12)
	_, partly := p.sell(1, 12)
	p.must(p.sales.Refund(t.Context(), p.by(), sales.Refund{Transaction: first}))
	p.must(p.sales.Refund(t.Context(), p.by(), sales.Refund{Transaction: partly, Total: lyceum.Some(lyceum.Minor(1))}))
	p.must(p.sales.OpenChargeback(t.Context(), p.by(), sales.Chargeback{Transaction: fourth, Fee: 100}))

	for _, tc := range []struct{ query, sales, chosen string }{
		{"", "6 5 4 3 2 1", ""},
		{"user_id=&from=", "6 5 4 3 2 1", ""},
		{"user_id=11", "4 1", "Buyer: Ada Lovelace"},
		{"user_id=+11+", "4 1", "Buyer: Ada Lovelace"},
		{"affiliate_id=7", "2", "Affiliate: 7"},
		{"course_id=1", "6 2 1", "Course: Pottery"},
		{"pricing_plan_id=3", "3", "Pricing plan: Kiln & clay"},
		{"is_fully_refunded=true", "1", "Fully refunded: yes"},
		{"is_fully_refunded=false", "6 5 4 3 2", "Fully refunded: no"},
		{"is_chargeback=true", "4", "Chargeback: yes"},
		{"is_chargeback=false", "6 5 3 2 1", "Chargeback: no"},
		{"from=2026-03-11", "6 5 4 3 2", "From: 2026-03-11"},
		{"until=2026-03-11", "3 2 1", "Until: 2026-03-11"},
		{"from=2026-03-11&until=2026-03-11", "3 2", "Until: 2026-03-11"},
		{"from=0001-01-01&until=9999-12-31", "6 5 4 3 2 1", "From: 0001-01-01"},
		{"user_id=12&course_id=1&from=2026-03-12", "6", "Course: Pottery"},
	} {
		t.Run(tc.query, func(t *testing.T) {
			w := p.send(p.owner, "GET", transactions+"?"+tc.query, nil)
			want(t, w, 200, tc.chosen)
			if got := salesOn(w); got != tc.sales {
				t.Errorf("the sales are %s, want %s", got, tc.sales)
			}
			total := len(strings.Fields(tc.sales))
			want(t, w, 200, fmt.Sprintf("%d transaction", total))
		})
	}
	for _, query := range []string{"user_id=2147483647", "course_id=2&is_fully_refunded=true", "from=2030-01-01"} {
		want(t, p.send(p.owner, "GET", transactions+"?"+query, nil), 200, "No transactions match this filter", "Show all")
	}
	want(t, p.send(p.owner, "GET", transactions, nil), 200,
		"Ada Lovelace", "ada@example.com", "grace@example.com", "Pottery in full", "Kiln & clay", "$19.99", "€5.00", "¥9,000", "BHD 1.600", "$0.00",
		"Refunded", "Partly refunded", "Chargeback", "Free", "Paid", `<time datetime="2026-03-11T23:59:59Z">`, "11 Mar 2026 23:59", `href="/admin/transactions" aria-current="page"`)
}

// session signs the owner in again, because the clock was moved.
func (p *place) session() {
	p.t.Helper()
	session, _, err := p.admitted(p.t.Context(), 1, "owner@example.com")
	if err != nil {
		p.t.Fatal(err)
	}
	p.owner = session
}

func TestTransactionsFilterRefuses(t *testing.T) {
	p := open(t, site)
	p.market()
	p.sell(1, 11)
	number, nothing := "must be a whole number from 1 to 2147483647", "matches nothing; type part of the name, or the number"
	for _, tc := range []struct{ field, value, says string }{
		{"user_id", "x@y", "Buyer " + nothing},
		{"user_id", "0", "Buyer " + number},
		{"user_id", "-1", "Buyer " + nothing},
		{"user_id", "1.5", "Buyer " + nothing},
		{"user_id", "2147483648", "Buyer " + number},
		{"user_id", "+7", "Buyer " + nothing},
		{"user_id", `"><script>alert(1)</script>`, "Buyer " + nothing},
		{"user_id", "1\xff", "Buyer " + nothing},
		{"user_id", strings.Repeat("ada ", 200), "Buyer " + nothing},
		{"affiliate_id", "seven", "Affiliate " + nothing},
		{"course_id", "1 2", "Course " + nothing},
		{"pricing_plan_id", "1,2", "Pricing plan " + nothing},
		{"is_fully_refunded", "maybe", "Fully refunded must be any, yes or no"},
		{"is_chargeback", "2", "Chargeback must be any, yes or no"},
		{"from", "31.1.2026", "From must be a day written like 2026-01-31"},
		{"from", "2026-02-30", "From must be a day"},
		{"until", "2026-1-1", "Until must be a day"},
		{"until", "2026-02-01T00:00:00Z", "Until must be a day"},
		{"until", "0000-01-01", "Until must be a day"},
		{"until", "2026-01-01", "Until must not be before the day in From"},
		{"page", "0", "Page " + number},
		{"page", "last", "Page " + number},
		{"page", "99999999999", "Page " + number},
	} {
		t.Run(tc.field+" "+tc.value, func(t *testing.T) {
			query := url.Values{"user_id": {"11"}, "course_id": {"1"}, "from": {"2026-03-01"}, "is_chargeback": {"false"}}
			query.Set(tc.field, tc.value)
			w := p.send(p.owner, "GET", transactions+"?"+query.Encode(), nil)
			want(t, w, 422, "<title>Error: ", `id="`+tc.field+`-error"`, `href="#`+tc.field+`"`, tc.says)
			body := html.UnescapeString(w.Body.String())
			for name, values := range query {
				if typed := strings.ToValidUTF8(values[0], "\uFFFD"); !strings.Contains(body, `value="`+typed+`"`) {
					t.Errorf("what was typed for %s is gone", name)
				}
			}
			if tc.field == "page" && salesOn(w) != "1" {
				t.Error("there is no list because its page is none")
			}
		})
	}
	w := p.send(p.owner, "GET", transactions+"?user_id=x%40y&from=y&page=z", nil)
	want(t, w, 422, "3 fields need correction")
}

func TestTransactionsPages(t *testing.T) {
	p := open(t, site)
	p.market()
	for range 45 {
		p.sell(1, 11)
	}
	p.sell(3, 12)
	const filter = "user_id=11&course_id=1&pricing_plan_id=1&is_fully_refunded=false&is_chargeback=false&from=2026-01-01&until=2026-12-31"
	page := func(n int) string {
		values, _ := url.ParseQuery(filter)
		if n > 1 {
			values.Set("page", fmt.Sprint(n))
		}
		return `href="` + html.EscapeString(transactions+"?"+values.Encode()) + `"`
	}
	w := p.send(p.owner, "GET", transactions+"?"+filter, nil)
	want(t, w, 200, "45 transactions, page 1 of 3", page(2)+` rel="next">Next`, page(3)+`>Last`, `name="user_id" value="11"`, `name="until" value="2026-12-31"`)
	if ids := strings.Fields(salesOn(w)); len(ids) != 20 || ids[0] != "45" || ids[19] != "26" {
		t.Errorf("page 1 has %v", ids)
	}
	if strings.Contains(w.Body.String(), "First") || strings.Contains(w.Body.String(), "Previous") {
		t.Error("there is a way back from the first page")
	}
	w = p.send(p.owner, "GET", transactions+"?"+filter+"&page=2", nil)
	want(t, w, 200, "page 2 of 3", page(1)+">First", page(1)+` rel="prev">Previous`, page(3)+` rel="next">Next`)
	w = p.send(p.owner, "GET", transactions+"?"+filter+"&page=3", nil)
	want(t, w, 200, "page 3 of 3", page(2)+` rel="prev"`)
	if ids := strings.Fields(salesOn(w)); len(ids) != 5 || ids[4] != "1" {
		t.Errorf("page 3 has %v", ids)
	}
	if strings.Contains(w.Body.String(), "Next") {
		t.Error("there is a way on from the last page")
	}
	want(t, p.send(p.owner, "GET", transactions+"?"+filter+"&page=2147483647", nil), 200, "There is no page 2,147,483,647", "45 transactions", page(3))
	want(t, p.send(p.owner, "GET", "/admin", nil), 200, "46 sales, 2 new buyers.")
}

// counted counts the queries for names.
type counted struct {
	lyceum.Store

	views int
}

func (c *counted) In(ctx context.Context, school lyceum.SchoolID) lyceum.View {
	c.views++
	return c.Store.In(ctx, school)
}

func TestNamesAreQueriedAtOnce(t *testing.T) {
	p := open(t, site)
	p.market()
	for i := range 20 {
		p.sell(1, lyceum.UserID(11+i%3))
	}
	names := &counted{Store: p.store}
	var err error
	p.handler, err = console.New(console.Options{
		Site: site, School: storetest.School(p.store), Accounts: p.accounts, Apps: p.apps, Keys: p.keys,
		Sales: p.sales, Names: names, Clock: p.clock.Now, Reports: p.options.Reports,
	})
	if err != nil {
		t.Fatal(err)
	}
	want(t, p.send(p.owner, "GET", transactions, nil), 200, "20 transactions")
	if names.views != 2 {
		t.Errorf("%d queries, want one for the names and one whether the owner is an author", names.views)
	}
}

// A filter can be set by a name: one with a single match filters the list by it, one with
// several matches shows a list to pick from.
func TestFilterByName(t *testing.T) {
	p := open(t, site)
	p.market()
	p.write(func(tx lyceum.Tx) error {
		var many []lyceum.User
		for i := range 30 {
			many = append(many, lyceum.User{ID: lyceum.UserID(100 + i), Email: fmt.Sprintf("pupil%d@example.com", i), Name: lyceum.Some("Pupil"), Role: lyceum.Student})
		}
		_, err := tx.Users.Save(tx, many...)
		return err
	})
	p.sell(1, 11)
	p.sell(3, 12)
	for _, tc := range []struct{ query, to string }{
		{"user_id=lovel", "user_id=11"},
		{"user_id=GRACE%40&page=3", "user_id=12"},
		{"user_id=+ada+lovelace+&course_id=1&from=2026-01-01&is_chargeback=", "course_id=1&from=2026-01-01&user_id=11"},
		{"course_id=glass&pricing_plan_id=taste", "course_id=2&pricing_plan_id=5"},
	} {
		w := p.send(p.owner, "GET", transactions+"?"+tc.query, nil)
		if got := w.Header().Get("Location"); w.Code != 303 || got != transactions+"?"+tc.to {
			t.Errorf("%s: %d to %s, want %s", tc.query, w.Code, got, tc.to)
		}
	}
	w := p.send(p.owner, "GET", transactions+"?pricing_plan_id=Pottery&from=2026-01-01&page=2", nil)
	want(t, w, 200, "Pricing plan: which one?", "2 contain “Pottery”.", `<a href="/admin/transactions?from=2026-01-01&amp;pricing_plan_id=1"><bdi>Pottery in full</bdi></a>`,
		`<a href="/admin/transactions?from=2026-01-01&amp;pricing_plan_id=2"><bdi>Pottery club</bdi></a> <span class="quiet"><bdi>Pottery</bdi>`)
	w = p.send(p.owner, "GET", transactions+"?user_id=pupil", nil)
	want(t, w, 200, "More than 20 contain “pupil”.")
	if n := strings.Count(w.Body.String(), "/admin/transactions?user_id=1"); n != 20 {
		t.Errorf("%d people to pick from, want 20", n)
	}
	want(t, p.send(p.owner, "GET", transactions+"?user_id=11", nil), 200, `name="user_id" type="text" value="11"`, `<p class="hint" id="user_id-hint">Ada Lovelace</p>`)
}

func TestSearch(t *testing.T) {
	p := open(t, site)
	p.market()
	p.write(func(tx lyceum.Tx) error {
		_, err := tx.Affiliates.Save(tx, lyceum.AffiliatePartner{ID: 7, Name: lyceum.Some("Clay Weekly")})
		return err
	})
	p.sell(1, 12)
	sale, id := p.sell(2, 11, func(n *sales.NewSale) {
		n.Reference, n.Affiliate = lyceum.Some("ch_3Pq8"), lyceum.Some(lyceum.AffiliateID(7))
	})
	const search = "/admin/search"
	for _, tc := range []struct {
		query string
		has   []string
	}{
		{"", []string{"Find a person or a sale"}},
		{"ch_3Pq8", []string{`<a href="` + salePath(sale) + `"><bdi>Payment ch_3Pq8</bdi>`, fmt.Sprintf("of sale %d", sale)}},
		{fmt.Sprint(id), []string{fmt.Sprintf("Transaction %d", id), fmt.Sprintf("Sale %d", sale)}},
		{"ada", []string{`href="/admin/people/11"><bdi>Ada Lovelace</bdi></a> <span class="quiet"><bdi>ada@example.com`}},
		{"grace@", []string{`href="/admin/people/12"><bdi>grace@example.com</bdi></a></li>`}},
		{"pottery", []string{"?course_id=1", "?pricing_plan_id=1", "?pricing_plan_id=2", "Course", "Pricing plan, Pottery"}},
		{"clay", []string{"?affiliate_id=7", "Clay Weekly", "?pricing_plan_id=3"}},
		{"nobody at all", []string{"Nothing found"}},
		{"19.99", []string{`<a href="/admin/sales/1"><span>$19.99`, "grace@example.com", "Pottery in full, 14"}},
		{"5 eur", []string{"Payments of this amount", `<a href="` + salePath(sale) + `"><span>€5.00`}},
		{"5", []string{`<a href="` + salePath(sale) + `"><span>€5.00`}},
		{"€5.00", []string{"Payments of this amount", `<a href="` + salePath(sale) + `"><span>€5.00`}},
		{"$ 19.99", []string{`<a href="/admin/sales/1"><span>$19.99`}},
		{"$19.99 usd", []string{`<a href="/admin/sales/1"><span>$19.99`}},
		{"19,99", []string{`<a href="/admin/sales/1"><span>$19.99`}},
		{"5,00 €", []string{`<a href="` + salePath(sale) + `"><span>€5.00`}},
		{"5,00€", []string{`<a href="` + salePath(sale) + `"><span>€5.00`}},
		{"19,990", []string{"Nothing found"}},
		{"1,9,99", []string{"Nothing found"}},
		{"$19.99 EUR", []string{"Nothing found"}},
		{"USD 5.00", []string{"Nothing found"}},
		{"$5.00", []string{"Nothing found"}},
		{"19.990", []string{"Nothing found"}},
		{"陳", []string{"Nothing found"}},
		{"ch_3pq8", []string{"Nothing found"}},
	} {
		want(t, p.send(p.owner, "GET", search+"?q="+url.QueryEscape(tc.query), nil), 200, tc.has...)
	}
	for bad, says := range map[string]string{
		"a\x00": "Find must be at most 320 bytes of text", strings.Repeat("ä", 5000): "Find must be at most 320 bytes of text",
		"a": "Find must have at least two characters, or be a number", "%": "Find must contain a letter or a digit", "_%": "Find must contain a letter",
	} {
		want(t, p.send(p.owner, "GET", search+"?q="+url.QueryEscape(bad), nil), 422, says, `id="q-error"`, `aria-invalid="true"`)
	}
	for _, path := range []string{search, people} { // a text that is too long is cut between two characters
		page := p.send(p.owner, "GET", path+"?q="+strings.Repeat("陳", 107), nil)
		want(t, page, 422, `value="`+strings.Repeat("陳", 106)+`"`)
	}
	want(t, p.send(p.learner, "GET", search+"?q=ada", nil), 403, `href="/account"`)
	p.addSchool("Another")
	theirs := p.signIn(2, "other@example.com", lyceum.Owner)
	for _, text := range []string{"ada", "ch_3Pq8", fmt.Sprint(id)} {
		want(t, p.send(theirs, "GET", search+"?q="+text, nil), 200, "Nothing found")
	}
	want(t, p.send(p.owner, "GET", salePath(sale), nil), 200, "AffiliateClay Weekly", "Pottery club", "Course Pottery")
}

// B10: names of buyers and plans are shown as plain text everywhere.
func TestB10NamesInSales(t *testing.T) {
	p := open(t, site)
	p.market()
	p.write(func(tx lyceum.Tx) error {
		_, err := tx.PricingPlans.Save(tx, lyceum.PricingPlan{ID: 6, Name: hostile, Price: 100, Currency: "USD", Frequency: lyceum.Subscription})
		return err
	})
	_, id := p.sell(6, 13)
	p.must(p.sales.Refund(t.Context(), p.by(), sales.Refund{Transaction: id, Total: lyceum.Some(lyceum.Minor(1)), Reason: lyceum.Some(hostile), Reference: lyceum.Some(hostile)}))
	const escaped = "<bdi>&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;"
	for path, times := range map[string]int{transactions: 2, "/admin/sales/1": 4, "/admin/sales/1/cancel": 2, refundPath(id): 3} {
		w := p.send(p.owner, "GET", path, nil)
		want(t, w, 200)
		if got := strings.Count(w.Body.String(), escaped); got != times {
			t.Errorf("%s has the name %d times as text, want %d", path, got, times)
		}
		if strings.ContainsRune(w.Body.String(), '\u202E') {
			t.Errorf("%s turns the direction of writing as a name wants", path)
		}
	}
	w := p.send(p.owner, "POST", refundPath(id), p.form(refundPath(id), "amount", "0.50", "reason", hostile))
	want(t, w, 200, escaped, "$0.50 of transaction 1 goes back to")
}
