package console_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

const byCourse = "/admin/reports/sales?by=course&amp;from=2026-03-01&amp;until=2026-03-31"

// earnings makes sales in March and, up to today, in April.
func (p *place) earnings() {
	p.market()
	affiliate := func(n *sales.NewSale) {
		n.Affiliate = lyceum.Some(lyceum.AffiliateID(7))
		n.AffiliateFees = lyceum.Some(lyceum.Minor(100))
	}
	for day := range 34 {
		for n := range 1 + day%3 {
			_, id := p.sell(lyceum.PricingPlanID(1+(day+n)%2), lyceum.UserID(11+n), affiliate)
			if day%9 == 0 {
				_, err := p.sales.Refund(p.t.Context(), p.by(), sales.Refund{Transaction: id, Amount: lyceum.Some[lyceum.Minor](300)})
				if err != nil {
					p.t.Fatal(err)
				}
			}
		}
		p.clock.Pass(24 * time.Hour)
	}
	p.session()
}

func TestEarned(t *testing.T) {
	p := open(t, site)
	want(t, p.send(p.owner, "GET", "/admin", nil), 200, "Four steps to get started", "Bring in your sales", "Connect a program", "Set up something to sell", "Invite your staff")
	p.earnings()
	w := p.send(p.owner, "GET", "/admin", nil)
	want(t, w, 200, "Last 30 days in USD", `href="/admin?currency=EUR"`, byCourse, "Best courses", "Pottery", "Best affiliates", "Affiliate 7", "Newest sales", "Ada Lovelace", "Show the figures", "refunded</title>",
		`href="/admin/transactions?course_id=1&amp;from=`, `href="/admin/transactions?affiliate_id=7&amp;from=`, "All transactions", "100% less than yesterday ($4.36).", " from 1 sale, ", " from 2 sales, ")
	want(t, p.send(p.owner, "GET", "/admin?currency=EUR", nil), 200, "Last 30 days in EUR")
	want(t, p.send(p.owner, "GET", "/admin?currency=XXX", nil), 200, "Last 30 days in USD")

	w = p.send(p.owner, "GET", strings.ReplaceAll(byCourse, "&amp;", "&"), nil)
	want(t, w, 200, "By Course", "Pottery", "Export CSV", "1\u00a0Feb\u00a02026 to 28\u00a0Feb\u00a02026", `/admin/reports/sales.csv?by=course&amp;from=2026-03-01&amp;until=2026-03-31`)
	want(t, p.send(p.owner, "GET", "/admin/reports/sales?by=&from=&until=2026-04-10", nil), 200, "1\u00a0Apr\u00a02026 to 10\u00a0Apr\u00a02026")
	want(t, p.send(p.owner, "GET", "/admin/reports/sales?from=2026-04-01", nil), 200, "Days begin and end in UTC.")
	want(t, p.send(p.owner, "GET", "/admin/reports/sales?from=2026-04-01&time_zone=Asia/Tokyo", nil), 200, "Days begin and end in Asia/Tokyo.", `<input type="hidden" name="time_zone" value="Asia/Tokyo">`)
	want(t, p.send(p.owner, "GET", "/admin/reports/sales?by=hour", nil), 422, "By must be day or week or month")
	want(t, p.send(p.owner, "GET", "/admin/reports/sales?from=2026-04-02&until=2026-04-01", nil), 422, "Until must not be before from, which is 2026-04-02")
	w = p.send(p.owner, "GET", "/admin/reports/sales?by=course&from=2026-03-01&until=2026-03-31&affiliate_id=7&is_chargeback=false", nil)
	want(t, w, 200, "Affiliate: 7", `href="/admin/reports/sales?by=course&amp;from=2026-03-01&amp;is_chargeback=false&amp;until=2026-03-31"`,
		"Chargeback: no", `<input type="hidden" name="affiliate_id" value="7">`, `href="/admin/transactions?affiliate_id=7&amp;course_id=1&amp;from=2026-03-01&amp;is_chargeback=false&amp;until=2026-03-31"`,
		`/admin/reports/sales.csv?affiliate_id=7&amp;`, "revenue from", "Compared with $0.00 for the period before.")
	want(t, p.send(p.owner, "GET", "/admin/reports/sales?by=coupon&from=2026-03-01&until=2026-03-31&affiliate_id=8", nil), 200, "Affiliate: 8", "$0.00 revenue from 0 sales")
	want(t, p.send(p.owner, "GET", "/admin/reports/sales?by=coupon&from=2026-03-01&until=2026-03-31", nil), 200, "No coupon")
	want(t, p.send(p.owner, "GET", "/admin/reports/sales?by=week&from=2026-03-02&until=2026-03-08", nil), 200, `href="/admin/transactions?from=2026-03-02&amp;until=2026-03-08"`)
	want(t, p.send(p.owner, "GET", "/admin/reports/sales?affiliate_id=x", nil), 422, "Affiliate must be")
	w = p.send(p.owner, "GET", "/admin/reports/sales.csv?by=course&from=2026-03-01&until=2026-03-31", nil)
	if w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), "\uFEFFfrom,until,type,id,name,currency,sales_count,") || !strings.Contains(w.Body.String(), ",1,Pottery,EUR,") ||
		w.Header().Get("Content-Disposition") != `attachment; filename="sales-2026-03-01-2026-03-31.csv"` {
		t.Errorf("%d %v\n%s", w.Code, w.Header(), w.Body)
	}
	leads(t, p.send(p.owner, "GET", "/admin/reports/sales.csv?by=hour", nil), "/admin/reports/sales?by=hour")

	p.clock.Pass(40 * 24 * time.Hour)
	p.session()
	want(t, p.send(p.owner, "GET", "/admin", nil), 200, "The newest sale is from April 2026", `href="/admin/reports/sales?by=course&amp;from=2026-04-01&amp;until=2026-04-30"`)
}

// TestEarnedCurrency checks that a chart, the cards and the totals of a list begin with the
// currency in which the school earns, even if it gives away more than it sells.
func TestEarnedCurrency(t *testing.T) {
	p := open(t, site)
	p.market()
	for range 3 {
		p.sell(5, 11) // free, in USD
	}
	p.sell(4, 12)
	want(t, p.send(p.owner, "GET", "/admin", nil), 200, "Last 30 days in BHD", `href="/admin?currency=USD"`, "BHD 1.500 gross. $0.00 gross.")
	want(t, p.send(p.owner, "GET", transactions, nil), 200, "(1 paid) $0.00 gross")
}

func TestEarnedInABrowser(t *testing.T) {
	w, p := show(t)
	p.earnings()
	webtest.Cookie(t, w.tab, w.at, "lyceum", p.owner)
	pages := map[string]string{"money": "/admin", "report": strings.ReplaceAll(byCourse, "&amp;", "&")}
	w.tour(slices.Collect(maps.Values(pages)))
	for name, path := range pages {
		w.open(path)
		for _, dark := range []bool{false, true} {
			webtest.Screenshot(t, w.tab, "console-"+name+"-"+lightOrDark(dark), webtest.Desktop, dark)
			webtest.Screenshot(t, w.tab, "console-"+name+"-phone-"+lightOrDark(dark), webtest.Phone, dark)
		}
	}
}
