package console_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// trade creates three pages of sales. The second newest is a subscription with a long history.
func (p *place) trade() (sale lyceum.SaleID, id lyceum.TransactionID) {
	p.t.Helper()
	p.market()
	names := []string{"Mira Okafor", "Jonas Lindqvist", "Chen Wei", "Aïcha Benali", "Wolfeschlegelsteinhausenbergerdorff Adolph Blaine Charles", "شهرزاد"}
	p.write(func(tx lyceum.Tx) error {
		var buyers []lyceum.User
		for i, name := range names {
			buyers = append(buyers, lyceum.User{
				ID: lyceum.UserID(21 + i), Email: []string{"mira", "jonas", "chen.wei", "aicha", strings.Repeat("long", 15), "shahrzad"}[i] + "@example.com",
				Name: lyceum.Some(name), Role: lyceum.Student, CreatedAt: p.clock.Now(),
			})
		}
		_, err := tx.Users.Save(tx, buyers...)
		return err
	})
	for i := range 45 {
		_, made := p.sell(lyceum.PricingPlanID(1+i*7%5), lyceum.UserID(21+i%len(names)))
		switch i % 9 {
		case 2:
			_, _ = p.sales.Refund(p.t.Context(), p.by(), sales.Refund{Transaction: made})
		case 5:
			_, _ = p.sales.OpenChargeback(p.t.Context(), p.by(), sales.Chargeback{Transaction: made, Fee: 100})
		}
		p.clock.Pass(73 * time.Minute)
	}
	sale, id = p.sell(2, 21, taxed(95), func(n *sales.NewSale) {
		n.Affiliate, n.AffiliateFees = lyceum.Some(lyceum.AffiliateID(7)), lyceum.Some(lyceum.Minor(50))
		n.Charge, n.Reference = lyceum.Some(lyceum.USDCents(648)), lyceum.Some("ch_3Pq8Zx")
	})
	p.clock.Pass(26 * time.Hour)
	p.must(p.sales.Refund(p.t.Context(), p.by(), sales.Refund{
		Transaction: id,
		Total:       lyceum.Some(lyceum.Minor(150)), Reason: lyceum.Some("Two lessons were missing in the first week."), Reference: lyceum.Some("re_91"),
	}))
	p.clock.Pass(5 * time.Hour)
	p.must(p.sales.OpenChargeback(p.t.Context(), p.by(), sales.Chargeback{Transaction: id, Fee: 1500, Reason: lyceum.Some("The buyer did not know the charge.")}))
	p.clock.Pass(50 * time.Hour)
	p.must(p.sales.CloseChargeback(p.t.Context(), p.by(), sales.Outcome{Transaction: id, State: lyceum.DisputeWon}))
	p.clock.Pass(29 * time.Hour)
	p.decline(sale, "The card has expired.", 2*time.Hour)
	p.clock.Pass(2 * time.Hour)
	p.must(p.sales.Renew(p.t.Context(), p.by(), sales.Renewal{Sale: sale, Amounts: sales.Amounts{Charge: lyceum.Some(lyceum.USDCents(545))}}))
	p.clock.Pass(7 * time.Minute)
	p.sell(1, 11)
	p.session()
	return sale, id
}

func TestSalesPagesInABrowser(t *testing.T) {
	w, p := show(t)
	w.open(transactions) // while it is empty
	w.sound()
	sale, id := p.trade()
	webtest.Cookie(t, w.tab, w.at, "lyceum", p.owner)
	w.tour([]string{
		transactions, transactions + "?user_id=21&course_id=1&is_chargeback=false&page=2", transactions + "?page=9", transactions + "?user_id=99",
		transactions + "?user_id=example.com", "/admin/search?q=mi", "/admin/search?q=ch_3Pq8Zx", "/admin/search?q=nothing",
		salePath(sale), salePath(sale + 1), salePath(sale) + "/cancel", refundPath(id),
	})
	w.tour([]string{transactions + "?user_id=x&from=yesterday", transactions + "?page=0"}, "422")
	w.tour([]string{salePath(sale+1) + "/cancel"}, "409")
	w.open(refundPath(id))
	w.press("main button[type=submit]")
	w.eachAppearance(func() { w.sound() })
}

// An owner filters the list, makes a partial refund and cancels, on a desktop and on a phone,
// with and without scripts.
func TestRefundInABrowser(t *testing.T) {
	for _, scripts := range []bool{true, false} {
		w, p := show(t)
		webtest.Scripts(t, w.tab, scripts)
		sale, id := p.trade()
		webtest.Cookie(t, w.tab, w.at, "lyceum", p.owner)
		webtest.Look(t, w.tab, map[bool]int64{true: webtest.Phone, false: webtest.Desktop}[scripts], 800, scripts)
		w.open(transactions)
		w.do(chromedp.Click("#chip-buyer"), chromedp.SendKeys("#user_id", "21x"), chromedp.Click(".chip-group[open] button"))
		w.until("document.querySelector('#user_id[aria-invalid]') && document.querySelector('.chip-group[open] #user_id')")
		w.do(chromedp.SetValue("#user_id", "21"), chromedp.Click(".chip-group[open] button"))
		w.until("location.search.includes('user_id=21&') && document.querySelector('#chip-buyer.chip-on')")
		w.do(chromedp.Click("a.more[href$='" + salePath(sale) + "']"))
		w.until("location.pathname === '" + salePath(sale) + "'")
		w.do(chromedp.Click("a.danger[href$='" + refundPath(id) + "']"))
		w.until("document.getElementById('amount').value === '4.45'")
		w.do(chromedp.SetValue("#amount", "100"), chromedp.Click("main button[type=submit]"))
		w.until("document.getElementById('amount-error')")
		w.do(chromedp.SetValue("#amount", "1.45"), chromedp.SendKeys("#reason", "kind"))
		w.press("main button.plain")
		if scripts && w.text("location.pathname") != refundPath(id) {
			t.Error("a reload would send the form again")
		}
		w.until("document.getElementById('preview').textContent.includes('1.45') && document.getElementById('reason').value === 'kind'")
		w.do(chromedp.Click("main button.danger"))
		w.until("location.search === '?done=refunded' && document.querySelector('.timeline').textContent.includes('kind')")
		if scripts { // axe is a script
			w.sound("422")
		}
		if amount, _ := p.refunded(id); amount != 295 {
			t.Errorf("%d is refunded, want 295", amount)
		}
		w.do(chromedp.Click("a.danger[href$='/cancel']"))
		w.until("document.querySelector('#confirmation button')")
		w.do(chromedp.Click("#confirmation button"))
		w.until("location.search === '?done=canceled' && !document.querySelector('a[href$=cancel]')")
	}
}

// A refund is made using only the keyboard.
func TestRefundByKeyboard(t *testing.T) {
	w, p := show(t)
	sale, id := p.trade()
	webtest.Cookie(t, w.tab, w.at, "lyceum", p.owner)
	w.open(transactions)
	w.tabTo("#chip-days")
	w.do(chromedp.KeyEvent(kb.Enter))
	w.tabTo("#until")
	w.tabTo(`a.more[href$="` + salePath(sale) + `"]`)
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.tabTo(`a.danger[href$="` + refundPath(id) + `"]`)
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.tabTo("#reason")
	w.do(chromedp.KeyEvent("kind"))
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.tabTo("main button.danger")
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.until("location.search === '?done=refunded'")
	if amount, _ := p.refunded(id); amount != 595 {
		t.Errorf("%d is refunded, want 595", amount)
	}
}

// The checkbox that ends access can be reached and set with the keyboard, and the confirmation
// lists the courses of a bundle.
func TestRefundEndsAccessByKeyboard(t *testing.T) {
	w, p := show(t)
	p.market()
	p.bundle()
	p.sell(1, 11)
	sale, id := p.sell(8, 11)
	p.session()
	webtest.Cookie(t, w.tab, w.at, "lyceum", p.owner)
	w.open(refundPath(id))
	w.do(chromedp.SetValue("#amount", "1.00"))
	w.tabTo("#end_access")
	w.do(chromedp.KeyEvent(" "))
	w.sound()
	w.until("document.getElementById('preview').textContent.includes('1.00')") // without a click
	w.tabTo("main button[type=submit]")
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.until("document.getElementById('preview').textContent.includes('49.00')")
	w.sound()
	if said := w.text("document.querySelector('#preview ul').innerText"); said != "Glass: access ends at once.\nPottery: access stays, through sale 1." {
		t.Errorf("the question says %q", said)
	}
	w.tabTo("main button.danger")
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.until("location.search === '?done=refunded'")
	if d, err := p.sales.Show(t.Context(), p.by(), sale); err != nil || !d.EndedAt.Present {
		t.Errorf("%+v, %v", d.Sale, err)
	}
}

// TestSalesPictures takes the screenshots of the sales, as TestPictures does for the other
// pages.
func TestSalesPictures(t *testing.T) {
	w, p := show(t, web.Site{BaseURL: "http://api.northwind.example", AuthURL: "http://northwind.example"})
	sale, id := p.trade()
	webtest.Cookie(t, w.tab, w.at, "lyceum", p.owner)
	p.hire("partner@example.com", lyceum.BookkeeperRole)
	w.pictures(map[string]string{
		"money": "/admin", "report": "/admin/reports/sales?by=course", "transactions": transactions, "sale": salePath(sale),
		"search": "/admin/search?q=mi", "buyer": people + "/21", "staff": staffPath, "audit-log": "/admin/settings/audit-log",
		"emails": emailsPath, "email": emailsPath + "/receipt", "snippet": "/admin/settings/page-snippet", "school": schoolPath,
	})
	w.open(refundPath(id))
	w.do(chromedp.SetValue("#amount", "1.50"), chromedp.SendKeys("#reason", "One more lesson was missing."), chromedp.SendKeys("#reference", "re_92"))
	w.press("main button[type=submit]")
	w.picture("refund-question")
}

// pictures takes screenshots of pages, by their names.
func (w *window) pictures(paths map[string]string) {
	w.t.Helper()
	for name, path := range paths {
		webtest.Look(w.t, w.tab, webtest.Desktop, 844, false)
		w.open(path)
		w.picture(name)
	}
}

// picture takes two screenshots of a page: on a desktop, and on a phone in dark mode.
func (w *window) picture(name string) {
	w.t.Helper()
	webtest.Screenshot(w.t, w.tab, "console-"+name+"-light", webtest.Desktop, false)
	webtest.Screenshot(w.t, w.tab, "console-"+name+"-phone-dark", webtest.Phone, true)
}

// An owner looks at the state of subscriptions, and confirms that charging one was stopped.
func TestSubscriptionsInABrowser(t *testing.T) {
	w, p := show(t)
	p.market()
	due, _ := p.sell(2, 12)
	p.clock.Pass(40 * 24 * time.Hour)
	p.session()
	running, _ := p.sell(2, 11, func(n *sales.NewSale) { n.Reference = lyceum.Some("ch_1") })
	ended, _ := p.sell(2, 13, func(n *sales.NewSale) { n.Reference = lyceum.Some("ch_2") })
	if _, err := p.sales.Cancel(t.Context(), p.by(), sales.Ending{Sale: ended}); err != nil {
		t.Fatal(err)
	}
	failed, _ := p.sell(2, 12)
	p.decline(failed, strings.Repeat("insufficientfunds", 4), 24*time.Hour)
	p.clock.Pass(24 * time.Hour)
	p.decline(failed, "The card has expired.", 72*time.Hour)
	p.session()
	webtest.Cookie(t, w.tab, w.at, "lyceum", p.owner)
	w.tour([]string{salePath(due), salePath(running), salePath(failed), salePath(ended), "/admin/sales_to_stop", "/admin/attention"})
	w.open(salePath(failed))
	for _, want := range []string{"Past due", "Last failed payment", "The card has expired.", "Next attempt"} {
		if said := w.text("document.querySelector('main').innerText"); !strings.Contains(said, want) {
			t.Errorf("the page does not say %q: %s", want, said)
		}
	}
	for name, path := range map[string]string{"due": salePath(due), "running": salePath(running), "failed": salePath(failed), "ended": salePath(ended), "to-stop": "/admin/sales_to_stop"} {
		w.open(path)
		webtest.Screenshot(t, w.tab, "console-subscription-"+name+"-light", webtest.Desktop, false)
		webtest.Screenshot(t, w.tab, "console-subscription-"+name+"-phone-light", webtest.Phone, false)
	}
	w.open(salePath(ended))
	w.press("form[action$='/charging_stopped'] button")
	w.until("location.search === '?done=stopped' && !document.querySelector('#charging')")
	w.open("/admin/sales_to_stop")
	w.until("document.getElementById('empty').textContent === 'Nothing to stop'")
}
