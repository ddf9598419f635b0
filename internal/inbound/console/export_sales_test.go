package console_test

import (
	"encoding/csv"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

const export = transactions + ".csv"

// busyMonth makes sales in February and March in two currencies, with a refund, a chargeback, a
// coupon, an affiliate and a buyer whose name looks like a formula.
func (p *place) busyMonth() {
	p.t.Helper()
	p.market()
	p.write(func(tx lyceum.Tx) error {
		if _, err := tx.Affiliates.Save(tx, lyceum.AffiliatePartner{ID: 7, Name: lyceum.Some("Clay, Weekly")}); err != nil {
			return err
		}
		_, err := tx.Users.Save(tx, lyceum.User{ID: 12, Email: "grace@example.com", Name: lyceum.Some("=1+1"), Role: lyceum.Student, CreatedAt: p.clock.Now()})
		return err
	})
	at := func(text string) {
		moment, _ := time.Parse(time.DateTime, text)
		p.clock.Set(moment)
		p.session()
	}
	at("2026-02-28 23:30:00")
	p.sell(1, 11)
	at("2026-03-01 00:00:00")
	_, part := p.sell(1, 12, taxed(100))
	p.sell(2, 11, func(n *sales.NewSale) {
		n.Affiliate, n.AffiliateFees, n.Reference = lyceum.Some(lyceum.AffiliateID(7)), lyceum.Some(lyceum.Minor(50)), lyceum.Some("ch_77")
	})
	at("2026-03-31 23:59:59")
	_, disputed := p.sell(1, 11)
	p.sell(5, 11)
	p.must(p.sales.Refund(p.t.Context(), p.by(), sales.Refund{Transaction: part, Total: lyceum.Some(lyceum.Minor(500))}))
	p.must(p.sales.OpenChargeback(p.t.Context(), p.by(), sales.Chargeback{Transaction: disputed, Fee: 1500}))
}

// The chips of a list say what it is filtered by, and remove that filter.
func TestChips(t *testing.T) {
	p := open(t, site)
	p.busyMonth()
	w := p.send(p.owner, "GET", transactions+"?user_id=11", nil)
	want(t, w, 200, `<a class="chip" href="/admin/transactions?from=2026-03-01&amp;until=2026-03-31&amp;user_id=11">This month</a>`,
		`<a class="chip" href="/admin/transactions?from=2026-02-01&amp;until=2026-02-28&amp;user_id=11">Last month</a>`,
		`<summary class="chip chip-on" id="chip-buyer"><span><bdi>Buyer: Ada Lovelace</bdi></span></summary>`, `<a class="plain" href="/admin/transactions">Remove`)
	w = p.send(p.owner, "GET", transactions+"?from=2026-02-01&until=2026-02-28&course_id=1&is_chargeback=false", nil)
	want(t, w, 200, "1 transaction", `<a class="chip" href="/admin/transactions?course_id=1&amp;is_chargeback=false" aria-current="true">Last month</a>`,
		`<summary class="chip" id="chip-days"><span>Days</span></summary>`, `id="chip-product"><span><bdi>Course: Pottery</bdi>`, `id="chip-state"><span><bdi>Chargeback: no</bdi>`)
	want(t, p.send(p.owner, "GET", transactions+"?from=2026-03-02", nil), 200, `<summary class="chip chip-on" id="chip-days"><span><bdi>From: 2026-03-02</bdi>`)
	w = p.send(p.owner, "GET", transactions+"?from=March&course_id=2", nil)
	want(t, w, 422, `<details class="chip-group" name="filter" open>`, `id="chip-product"><span><bdi>Course: Glass</bdi>`)
	if strings.Contains(w.Body.String(), "Export CSV") {
		t.Error("what cannot be shown can be exported")
	}
}

// The totals and the file cover exactly what is shown.
func TestTotalsAndExport(t *testing.T) {
	p := open(t, site)
	p.busyMonth()
	for _, tc := range []struct {
		query  string
		totals []string
		ids    string
	}{
		{"", []string{"$59.97 gross, $1.00 tax, ", " net (4 paid)", "€5.00 gross, €0.50 fees, €4.50 net (1 paid)"}, "5 4 3 2 1"},
		{"from=2026-03-01&until=2026-03-31&is_chargeback=false", []string{"$19.99 gross, $1.00 tax, $4.76 refunded, $15.23 net (2 paid)", "€5.00 gross"}, "5 3 2"},
		{"from=2026-02-01&until=2026-02-28", []string{"$19.99 gross, $19.99 net (1 paid)", "$19.99 revenue", `href="/admin/reports/sales?by=course&amp;from=2026-02-01&amp;until=2026-02-28"`}, "1"},
		{
			"from=2026-02-01&until=2026-02-28&course_id=&pricing_plan_id=&is_fully_refunded=&is_chargeback=&user_id=&affiliate_id=",
			[]string{"$19.99 gross, $19.99 net (1 paid)"},
			"1", // as the form sends it
		},
		{"is_chargeback=true", []string{"$19.99 gross, $34.99 chargebacks with their fees, −$15.00 net (1 paid)"}, "4"},
		{"affiliate_id=7", []string{"€5.00 gross, €0.50 fees, €4.50 net", `href="/admin/reports/sales?affiliate_id=7&amp;by=month&amp;from=2026-03-01"`}, "3"},
	} {
		w := p.send(p.owner, "GET", transactions+"?"+tc.query, nil)
		want(t, w, 200, tc.totals...)
		if got := salesOn(w); got != tc.ids {
			t.Errorf("%s shows %s, want %s", tc.query, got, tc.ids)
		}
		w = p.send(p.owner, "GET", export+"?"+tc.query, nil)
		want(t, w, 200)
		lines, err := csv.NewReader(w.Body).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, line := range lines[1:] {
			ids = append(ids, line[0])
		}
		if got := strings.Join(ids, " "); got != tc.ids {
			t.Errorf("%s exports %s, want %s", tc.query, got, tc.ids)
		}
	}
	w := p.send(p.owner, "GET", export+"?from=2026-03-01&until=2026-03-31", nil)
	want(t, w, 200, "\uFEFFtransaction_id,sale_id,created_at,buyer_name,buyer_email,product,pricing_plan,state,paid,currency,price,tax,refunded",
		`3,3,2026-03-01T00:00:00Z,Ada Lovelace,ada@example.com,Pottery,Pottery club,Paid,true,EUR,5.00,0.00,0.00,,,"Clay, Weekly",0.50,,0.00,0.00,ch_77,5.45,`,
		`2,2,2026-03-01T00:00:00Z,"'=1+1",grace@example.com,Pottery,Pottery in full,Partly refunded,true,USD,19.99,1.00,4.76,2026-03-31T23:59:59Z,`)
	if got := w.Header().Get("Content-Disposition"); got != `attachment; filename="sales-2026-03-01-2026-03-31.csv"` {
		t.Errorf("the file is sent as %s", got)
	}
}

// The report of a list covers the same sales as the list, also those of earlier months.
func TestReportOfAList(t *testing.T) {
	p := open(t, site)
	p.busyMonth()
	for query, sales := range map[string]string{
		"":                            "5 sales",
		"user_id=11":                  "4 sales",
		"until=2026-03-30&user_id=11": "2 sales",
		"until=2026-02-28":            "1 sale",
		"from=2026-03-01":             "4 sales",
		"from=1970-01-01":             "5 sales", // longer than a report may be
		"from=1977-01-01":             "5 sales",
	} {
		w := p.send(p.owner, "GET", transactions+"?"+query, nil)
		want(t, w, 200)
		found := regexp.MustCompile(`href="(/admin/reports/sales\?[^"]*)">Report<`).FindStringSubmatch(w.Body.String())
		if found == nil {
			t.Fatalf("%s has no report", query)
		}
		want(t, p.send(p.owner, "GET", html.UnescapeString(found[1]), nil), 200, "revenue from "+sales)
	}
}

// An invalid filter gives no file, and neither does a user who may not export.
func TestExportRefuses(t *testing.T) {
	p := open(t, site)
	p.busyMonth()
	for query, to := range map[string]string{
		"user_id=ada&page=2": "user_id=ada", "from=March": "from=March", "is_chargeback=maybe": "is_chargeback=maybe",
		"from=2026-03-02&until=2026-03-01": "from=2026-03-02&until=2026-03-01",
	} {
		leads(t, p.send(p.owner, "GET", export+"?"+query, nil), transactions+"?"+to)
	}
	for role, exports := range map[lyceum.StaffRole]bool{lyceum.BookkeeperRole: true, lyceum.ManagerRole: true, lyceum.SupportRole: false} {
		session, _ := p.hire("the-"+string(role)+"@example.com", role)
		w := p.send(session, "GET", transactions, nil)
		want(t, w, 200, "5 transactions")
		if got := strings.Contains(w.Body.String(), "Export CSV"); got != exports {
			t.Errorf("%s is offered the file: %t", role, got)
		}
		if got := strings.Contains(w.Body.String(), " gross"); got != exports {
			t.Errorf("%s sees totals: %t", role, got)
		}
		want(t, p.send(session, "GET", export, nil), map[bool]int{true: 200, false: 403}[exports])
	}
	p.addSchool("Another")
	theirs := p.signIn(2, "other@example.com", lyceum.Owner)
	if w := p.send(theirs, "GET", export, nil); strings.Count(w.Body.String(), "\n") != 1 {
		t.Errorf("another school's file has %s", w.Body)
	}
}
