package intake_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/intake"
)

// goodSale has the cells of a valid transaction.
var goodSale = map[string]string{
	"id": "7", "user_id": "8", "pricing_plan_id": "9", "sale_id": "10",
	"created_at": "2024-01-31T15:04:05Z", "purchased_at": "2024-02-01",
	"charge": "1999", "final_price": "1800", "currency": "usd", "tax_charge": "199", "revenue": "1500",
	"affiliate_fees": "0", "author_fees": "-3", "amount_refunded": "0",
	"status": "", "has_chargeback": "", "chargeback_fee": "", "affiliate_id": "", "author_id": "", "coupon_id": "", "refunded_at": "",
}

// csvOf and jsonOf return a file of one row, with one of its cells replaced.
func csvOf(cells map[string]string, column, text string) string {
	cells = maps.Clone(cells)
	cells[column] = text
	names := slices.Sorted(maps.Keys(cells))
	row := make([]string, len(names))
	for i, name := range names {
		row[i] = cells[name]
		if strings.ContainsAny(row[i], "\",\r\n") {
			row[i] = `"` + strings.ReplaceAll(row[i], `"`, `""`) + `"`
		}
	}
	return strings.Join(names, ",") + "\n" + strings.Join(row, ",") + "\n"
}

func jsonOf(cells map[string]string, column, literal string) string {
	members := []string{fmt.Sprintf("%q:%s", column, literal)}
	for name, text := range cells {
		if name != column {
			members = append(members, fmt.Sprintf("%q:%q", name, text))
		}
	}
	return "{" + strings.Join(members, ",") + "}\n"
}

// TestR14Cells checks every kind of value in every kind of column: in CSV, as a JSON string, and,
// where it is one, as a JSON number or word.
func TestR14Cells(t *testing.T) {
	const (
		id      = "must be an integer from 1 to 2147483647, digits only"
		amount  = "must be an integer from -2147483648 to 2147483647, digits only"
		date    = "must be an RFC 3339 date-time such as 2024-01-31T15:04:05Z or a day such as 2024-01-31"
		empty   = "must not be empty"
		boolean = "must be true, false, 1 or 0"
		code    = "must be a currency code of three letters, such as USD"
		long    = "must be at most 64 KiB long"
	)
	noInteger := []string{
		"1e9", "1.0", "1.5", " 1", "1 ", "+1", "１", "0x10", "1_000", "1,000", "x", "-", "--1", "NaN", "true", "null", "1\x00",
		"2147483648", "4294967297", "9223372036854775807", "9223372036854775808", "18446744073709551617",
		"-2147483649", "-9223372036854775809", strings.Repeat("9", 400),
	}
	noTime := []string{
		"0", "2024", "2024-02-30", "2023-02-29", "2024-13-01", "2024-1-1", "20240101", "31.01.2024", "0000-01-01",
		"0000-12-31T23:59:59Z", "10000-01-01T00:00:00Z", "9999-12-31T23:59:59-01:00", "2024-01-01T24:00:00Z",
		"2024-01-01T00:00:61Z", "2024-01-01T00:00:00", "2024-01-01t00:00", "yesterday", "２024-01-01", "2024-01-01\x00",
	}
	for _, tc := range []struct {
		column, problem string
		values          []string
	}{
		{"id", "", []string{"1", "2147483647", "0012"}},
		{"id", id, append([]string{"0", "-1", "-0", "-2147483648"}, noInteger...)},
		{"id", empty, []string{""}},
		{"id", long, []string{strings.Repeat("1", 64<<10+1)}},
		{"charge", "", []string{"0", "-1", "2147483647", "-2147483648"}},
		{"charge", amount, noInteger},
		{"charge", empty, []string{""}},
		{"chargeback_fee", "", []string{"", "0", "-1", "2147483647"}},
		{"chargeback_fee", amount, noInteger},
		{"coupon_id", "", []string{"", "1", "2147483647"}},
		{"coupon_id", id, append([]string{"0", "-1"}, noInteger...)},
		{"created_at", "", []string{"2024-02-29", "0001-01-01", "9999-12-31T23:59:59Z", "2024-01-01T00:00:00.999Z", "2024-01-01T00:00:00+05:30", "2024-01-01T00:00:00 01:00"}},
		{"created_at", date, noTime},
		{"created_at", empty, []string{""}},
		{"refunded_at", "", []string{"", "2024-02-29"}},
		{"refunded_at", date, noTime},
		{"has_chargeback", "", []string{"", "true", "false", "1", "0"}},
		{"has_chargeback", boolean, []string{"TRUE", "yes", "2", "-1", "t", " true", "null"}},
		{"currency", "", []string{"USD", "eur", "Jpy"}},
		{"currency", code, []string{"US", "USDX", "U$D", "12", "ＵＳＤ", "US\x00", "\xff\xff\xff"}},
		{"currency", empty, []string{""}},
		{"status", "", []string{"", "paid"}},
		{"status", "must be paid, or empty for unpaid", []string{"unpaid", "Paid", "refunded", "1", "paid "}},
	} {
		for _, value := range tc.values {
			files := map[string]string{"csv": csvOf(goodSale, tc.column, value)}
			if quoted, err := json.Marshal(value); err == nil && !strings.Contains(value, "\xff") {
				files["json string"] = jsonOf(goodSale, tc.column, string(quoted))
			}
			if json.Valid([]byte(value)) && value != "null" && value == strings.TrimSpace(value) {
				files["json literal"] = jsonOf(goodSale, tc.column, value)
			}
			for format, file := range files {
				checkCell(t, fmt.Sprintf("%s %s=%.30q", format, tc.column, value), file, tc.column, tc.problem)
			}
		}
		checkCell(t, tc.column+" object", jsonOf(goodSale, tc.column, `{"a":[1]}`), tc.column, "must be a single value, not an object or an array")
		checkCell(t, tc.column+" array", jsonOf(goodSale, tc.column, `[1]`), tc.column, "must be a single value, not an object or an array")
	}
}

func checkCell(t *testing.T, name, file, column, problem string) {
	t.Helper()
	rows := mustRead(t, intake.Transactions(), file)
	if len(rows) != 1 {
		t.Fatalf("%s: %d rows", name, len(rows))
	}
	got := rows[0].Problems
	switch {
	case problem == "" && len(got) > 0:
		t.Errorf("%s: refused: %v", name, got)
	case problem != "" && (len(got) != 1 || got[0].Column != column || got[0].Message != problem):
		t.Errorf("%s: %v, want %q of %s", name, got, problem, column)
	}
}

func TestTextCells(t *testing.T) {
	long := strings.Repeat("x", 64<<10)
	for _, tc := range []struct {
		name, column, value, problem string
	}{
		{"any text", "name", "Ann, \"the\r\nbest\" \u2028 Ünïcødé 学校", ""},
		{"64 KiB", "name", long, ""},
		{"more", "name", long + "x", "must be at most 64 KiB long"},
		{"bad UTF-8", "name", "Ann\xc3(", "must be valid UTF-8"},
		{"surrogate", "name", "\xed\xa0\x80", "must be valid UTF-8"},
		{"NUL", "src", "a\x00b", "must not contain a NUL character"},
		{"own role", "role", "teaching assistant", ""},
		{"no role", "role", "", "must not be empty"},
		{"address", "email", "Ann.O'Neil+school@exämple.com", ""},
		{"254 bytes", "email", strings.Repeat("a", 242) + "@example.com", ""},
		{"255 bytes", "email", strings.Repeat("a", 243) + "@example.com", emailTaken},
		{"no at", "email", "ann.example.com", emailTaken},
		{"two at", "email", "ann@home@example.com", emailTaken},
		{"no local part", "email", "@example.com", emailTaken},
		{"no domain", "email", "ann@", emailTaken},
		{"space", "email", "ann @example.com", emailTaken},
		{"no-break space", "email", "ann\u00a0@example.com", emailTaken},
		{"line end", "email", "ann@example.com\n", emailTaken},
		{"control", "email", "ann\x7f@example.com", emailTaken},
		{"bad UTF-8 address", "email", "ann\xff@example.com", "must be valid UTF-8"},
		{"empty address", "email", "", "must not be empty"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rows := mustRead(t, intake.Users(), csvOf(map[string]string{"id": "1", "email": "a@b"}, tc.column, tc.value))
			want := []intake.Problem{{Line: 2, Column: tc.column, Message: tc.problem}}
			if tc.problem == "" {
				want = nil
			}
			if !slices.Equal(rows[0].Problems, want) {
				t.Errorf("problems %v, want %v", rows[0].Problems, want)
			}
		})
	}
}

const emailTaken = "must be an e-mail address such as ann@example.com, of at most 254 bytes"

func TestJSONText(t *testing.T) {
	for _, tc := range []struct{ literal, want, problem string }{
		{`"a\"\\\/\b\f\n\r\t"`, "a\"\\/\b\f\n\r\t", ""},
		{`"\u00e9\u0041\uD83D\ude00"`, "éA😀", ""},
		{`"\u0000"`, "", "must not contain a NUL character"},
		{`"\ud800"`, "", "must be valid UTF-8"},
		{`"\ud800\u0041"`, "", "must be valid UTF-8"},
		{`"\ude00\ud83d"`, "", "must be valid UTF-8"},
		{"\"\xff\"", "", "must be valid UTF-8"},
		{`5`, "", "must be a string"},
		{`true`, "", "must be a string"},
		{`""`, "", ""},
	} {
		rows := mustRead(t, intake.Users(), `{"id":1,"email":"a@b","name":`+tc.literal+`}`)
		switch got := rows[0]; {
		case tc.problem != "":
			if len(got.Problems) != 1 || got.Problems[0].Message != tc.problem {
				t.Errorf("%s: %v", tc.literal, got.Problems)
			}
		case len(got.Problems) > 0 || got.Value.Name != lyceum.Some(tc.want):
			t.Errorf("%s: %q, %v", tc.literal, got.Value.Name.Value, got.Problems)
		}
	}
}

// TestJSONCells checks that JSON in a cell must be valid UTF-8, like everything else.
func TestJSONCells(t *testing.T) {
	for _, file := range []string{"user_id,tags\n1,\"[\"\"a\xff\"\"]\"\n", "{\"user_id\":1,\"tags\":[\"a\xff\"]}\n"} {
		rows := mustRead(t, intake.Tags(), file)
		if len(rows) != 1 || len(rows[0].Problems) != 1 || rows[0].Problems[0].Column != "tags" || rows[0].Problems[0].Message != "must be valid UTF-8" {
			t.Errorf("%q gives %v", file, rows)
		}
	}
}

// TestNULInOpenQuestions checks that no text of an open question can contain a NUL character,
// which a database rejects or cuts off.
func TestNULInOpenQuestions(t *testing.T) {
	const row = `{"id":1,"lecture_id":1,"name":null,"kind":"open_response_question","url":null,"text":null,"position":null,"file_size":null,` +
		`"file_extension":null,"quiz_id":null,"questions":null,"video_url":null,"video_content_type":null,"video_status":null,"url_thumbnail":null,` +
		`"media_duration":null,"open_response_question":`
	for question, problem := range map[string]string{
		`{"question":"Why?","img_url":"u","img_name":"n","img_alt_text":"a"}`: "",
		`{"question":"Why\\u0000?"}`:                                          "",
		`{"question":"Why\u0000?"}`:                                           "must not contain a NUL character",
		`{"question":"Why?","img_url":"\u0000"}`:                              "must not contain a NUL character",
		`{"question":"Why?","img_name":"\u0000"}`:                             "must not contain a NUL character",
		`{"question":"Why?","img_alt_text":"\u0000"}`:                         "must not contain a NUL character",
	} {
		rows := mustRead(t, intake.Attachments(), row+question+"}")
		switch got := rows[0].Problems; {
		case problem == "" && len(got) > 0:
			t.Errorf("%s: refused: %v", question, got)
		case problem != "" && (len(got) != 1 || got[0].Column != "open_response_question" || got[0].Message != problem):
			t.Errorf("%s: %v, want %q", question, got, problem)
		}
	}
}

func TestValues(t *testing.T) {
	want := lyceum.Transaction{
		ID: 7, UserID: 8, PricingPlanID: 9, SaleID: 10,
		CreatedAt: time.Date(2024, 1, 31, 15, 4, 5, 0, time.UTC), PurchasedAt: time.Date(2024, 2, 1, 0, 0, 0, 0, time.UTC),
		Charge: 1999, FinalPrice: 1800, Currency: "USD", TaxCharge: 199, Revenue: 1500, AuthorFees: -3,
	}
	full := want
	full.Paid, full.HasChargeback, full.ChargebackFee = true, lyceum.Some(false), lyceum.Some[lyceum.Minor](15)
	full.AffiliateID, full.AuthorID, full.CouponID = lyceum.Some[lyceum.AffiliateID](3), lyceum.Some[lyceum.AuthorID](4), lyceum.Some[lyceum.CouponID](5)
	full.RefundedAt = lyceum.Some(time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC))
	cells := maps.Clone(goodSale)
	maps.Copy(cells, map[string]string{"status": "paid", "has_chargeback": "0", "chargeback_fee": "15", "affiliate_id": "3", "author_id": "4", "refunded_at": "2024-03-01"})
	for name, file := range map[string]string{
		"csv": csvOf(goodSale, "status", ""), "json": jsonOf(goodSale, "status", "null"),
	} {
		if rows := mustRead(t, intake.Transactions(), file); len(rows) != 1 || len(rows[0].Problems) > 0 || rows[0].Value != want {
			t.Errorf("%s: %+v", name, rows)
		}
	}
	for name, file := range map[string]string{"csv": csvOf(cells, "coupon_id", "5"), "json": jsonOf(cells, "coupon_id", "5")} {
		if rows := mustRead(t, intake.Transactions(), file); len(rows) != 1 || len(rows[0].Problems) > 0 || rows[0].Value != full {
			t.Errorf("%s: %+v", name, rows)
		}
	}
}
