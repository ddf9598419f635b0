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
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

// fillDeliveries creates three webhooks: a verified one with two pages of deliveries, the
// first of which took three attempts; one that has failed; and a pending one with a long
// address. A fourth is a record of another server.
func (w *window) fillDeliveries(p *place) {
	w.t.Helper()
	p.market()
	p.hook("url", "https://ledger.example.com/hooks/lyceum?token=8f1c2a")
	p.hook("url", "https://mail.example.com/in", "schedule", "standard")
	form := p.form(hooksPath+"/new", "url", "https://crm.example.com/"+strings.Repeat("a-very-long-path/", 30), "which", "some", "schedule", "standard", "as_array", "on")
	form["events"] = []string{"User.created", "User.updated", "UserTag.created", "Transaction.refunded"}
	want(w.t, p.send(p.owner, "POST", hooksPath, form), 200)
	p.clock.Pass(time.Minute)
	p.sell(1, 11)
	for _, o := range []events.Outcome{noResponse, refusedBy, taken} {
		p.happen(o)
		p.clock.Pass(3 * time.Hour)
	}
	for range 12 {
		p.sell(1, 11)
		p.clock.Pass(7 * time.Minute)
	}
	p.happen(taken)
	p.session()
	webtest.Cookie(w.t, w.tab, w.at, "lyceum", p.owner)
	p.send(p.owner, "POST", hookPath(2)+"/test", p.form(hookPath(2), "event", "Sale.created"))
	for range 10 {
		p.happen(refusedBy)
		p.clock.Pass(30 * time.Hour)
	}
	p.session()
	webtest.Cookie(w.t, w.tab, w.at, "lyceum", p.owner)
	p.sell(1, 12)
	p.happen(taken)
	p.send(p.owner, "POST", hookPath(1)+"/test", p.form(hookPath(1), "event", "Transaction.created"))
	p.record(40)
	if states := p.hooks(); states[0].State != lyceum.WebhookVerified || states[1].State != lyceum.WebhookFailed || states[2].State != lyceum.WebhookPending {
		w.t.Fatalf("the webhooks are %+v", states)
	}
}

func TestWebhookPagesInABrowser(t *testing.T) {
	w, p := show(t)
	w.open(hooksPath) // while it is empty
	w.sound()
	w.fillDeliveries(p)
	w.tour([]string{
		hooksPath, hooksPath + "/new", hookPath(1), hookPath(1) + "?page=2", hookPath(1) + "?state=failed", hookPath(2), hookPath(3), hookPath(3) + "/edit", hookPath(40),
		hookPath(1) + "/rotate", hookPath(3) + "/delete", hookPath(1) + "/resend", deliveryPath(1, 1), deliveryPath(40, 900),
	})
	w.tour([]string{hookPath(1) + "?state=lost&page=0"}, "422")
	w.open(hookPath(1) + "/resend")
	w.do(chromedp.SetValue("#state", "delivered"))
	w.press("main button[type=submit]")
	w.eachAppearance(func() { w.sound() })
}

// An owner adds a webhook, tests it, changes its secret, enables it again and deletes it, with
// and without scripts.
func TestWebhookInABrowser(t *testing.T) {
	for _, scripts := range []bool{true, false} {
		w, p := show(t)
		webtest.Scripts(t, w.tab, scripts)
		webtest.Look(t, w.tab, map[bool]int64{true: webtest.Phone, false: webtest.Desktop}[scripts], 800, scripts)
		w.open(hooksPath)
		w.do(chromedp.Click("main a.primary"))
		w.until("location.pathname.endsWith('/new') && document.querySelector('.picker').offsetHeight === 0")
		w.do(chromedp.SendKeys("#url", "http://hooks.example.com/"), chromedp.Click("#which-some"), chromedp.Click("#event-Sale-created"), chromedp.Click("main button[type=submit]"))
		w.until("document.getElementById('url-error') && document.getElementById('event-Sale-created').checked && document.querySelector('.picker').offsetHeight > 0")
		if scripts { // axe is a script
			w.sound("422")
		}
		w.do(chromedp.SetValue("#url", "https://hooks.example.com/"), chromedp.Click("main button[type=submit]"))
		w.until("document.getElementById('hook-secret')")
		secret := w.text("document.getElementById('hook-secret').textContent")
		if scripts {
			w.sound()
			if w.text("location.pathname") != hookPath(1) {
				t.Error("a reload would send the form again")
			}
			w.leave(chromedp.Reload())
			w.until("document.querySelector('h1').textContent === 'Webhook 1'")
			w.press(".eyebrow a")
			w.back(hookPath(1))
			if strings.Contains(w.text("document.documentElement.innerHTML"), secret) {
				t.Error("the secret comes back with the page")
			}
		}
		w.open(hookPath(1))
		w.do(chromedp.Click("form[action$='/test'] button"))
		w.until("location.pathname === '" + deliveryPath(1, 1) + "' && document.querySelector('.notice')")
		p.fail(refusedBy)
		p.session()
		webtest.Cookie(t, w.tab, w.at, "lyceum", p.owner)
		w.open(hookPath(1))
		w.do(chromedp.Click("form[action$='/resume'] button"))
		w.until("location.search === '?done=resumed'")
		w.do(chromedp.Click("a[href$='/rotate']"))
		w.until("document.querySelector('#confirmation button')")
		w.do(chromedp.Click("#confirmation button"))
		w.until("document.getElementById('hook-secret')?.textContent.startsWith('whsec_')")
		w.do(chromedp.Click("main .actions a"))
		w.until("location.pathname === '" + hookPath(1) + "' && document.querySelector('a[href$=\"/delete\"]')")
		w.do(chromedp.Click("a[href$='/resend']"))
		w.until("document.getElementById('from')")
		w.do(chromedp.SetValue("#state", ""), chromedp.Click("main button[type=submit]"))
		w.until("document.querySelector('#confirmation button.danger')")
		w.do(chromedp.Click("#confirmation button.danger"))
		w.until("location.search === '?done=resent'")
		w.do(chromedp.Click("a[href$='/delete']"))
		w.until("document.querySelector('#confirmation button')")
		w.do(chromedp.Click("#confirmation button"))
		w.until("location.search === '?done=hook-deleted'")
		if n := len(p.hooks()); n != 0 {
			t.Errorf("%d webhooks are left", n)
		}
	}
}

// A webhook is created and tested, and the response is read, using only the keyboard.
func TestWebhookByKeyboard(t *testing.T) {
	w, p := show(t)
	w.open(hooksPath + "/new")
	w.tabTo("#url")
	w.do(chromedp.KeyEvent(receiver), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.ArrowDown))
	w.until("document.getElementById('which-some').checked")
	w.tabTo("#event-Sale-created")
	w.do(chromedp.KeyEvent(" "))
	w.tabTo("main button[type=submit]")
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.tabTo("main .actions a")
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.tabTo("form[action$=\"/test\"] button")
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.until("location.search === '?done=tested'")
	p.happen(refusedBy)
	w.open(deliveryPath(1, 1))
	for range 4 { // the body, and three parts of the attempt
		w.tabTo("pre.box:not(.seen)")
		w.do(chromedp.Evaluate[chromedp.Void]("document.activeElement.classList.add('seen')"))
	}
	if hooks := p.hooks(); len(hooks) != 1 || hooks[0].EventTrigger != "Sale.created" || hooks[0].URL != receiver {
		t.Errorf("the webhooks are %+v", hooks)
	}
}

// TestWebhookPictures takes the screenshots of the webhooks, as TestPictures does for the other
// pages.
func TestWebhookPictures(t *testing.T) {
	w, p := show(t, web.Site{BaseURL: "http://api.northwind.example", AuthURL: "http://northwind.example"})
	w.fillDeliveries(p)
	w.pictures(map[string]string{"webhooks": hooksPath, "webhook": hookPath(2), "webhook-edit": hookPath(3) + "/edit", "delivery": deliveryPath(1, 1)})
	webtest.Look(t, w.tab, webtest.Desktop, 844, false)
	w.open(hookPath(2))
	w.do(chromedp.Evaluate[chromedp.Void]("document.getElementById('log').scrollIntoView()"))
	webtest.Screenshot(t, w.tab, "console-webhook-log-light", webtest.Desktop, false)
	w.open(hookPath(1) + "/rotate")
	w.press("#confirmation button")
	w.picture("webhook-secret")
}
