package console_test

import (
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
)

// tooLate ends the owner's session and submits a form. Then it calls signIn, and opens the page
// that the sign-in redirects to, in the session that signIn returns.
func (w *window) tooLate(p *place, button string, signIn func() string) {
	w.t.Helper()
	if err := p.accounts.SignOut(w.t.Context(), 1, p.owner); err != nil {
		w.t.Fatal(err)
	}
	w.press(button)
	w.until("location.pathname === '/secure/sign_in'")
	query, err := url.ParseQuery(w.text("document.getElementById('next').textContent"))
	if err != nil {
		w.t.Fatal(err)
	}
	webtest.Cookie(w.t, w.tab, w.at, "lyceum", signIn())
	w.open(query.Get("next"))
}

// After the sign-in, what was typed before the session ended is still there, but no secret, and
// not for a different user.
func TestLateFormInABrowser(t *testing.T) {
	w, p := show(t)
	const receipt = "/admin/settings/emails/receipt"
	manager, _ := p.hire("manager@example.com", lyceum.ManagerRole)
	w.open(receipt)
	w.do(chromedp.SetValue("#body", "Thank you!\nYours"))
	owner := func() string { p.session(); return p.owner }
	w.tooLate(p, "button[value=save]", owner)
	w.until("document.querySelector('[role=alert]').textContent.startsWith('Nothing has been done yet')")
	w.eachAppearance(func() { w.sound() })
	if got := w.text("document.getElementById('body').value"); got != "Thank you!\nYours" {
		t.Errorf("the text is %q", got)
	}
	w.press("button[value=save]")
	w.until("location.search === '?done=changed'")

	w.open(appsPath + "/new")
	w.do(chromedp.SendKeys("#name", "Ledger"), chromedp.Click("#version-2"), chromedp.Click("#require_pkce"))
	w.tooLate(p, "main button[type=submit]", owner)
	w.until("document.getElementById('name').value === 'Ledger'")
	if got := w.text("[...document.querySelectorAll('input:checked')].map(e => e.id).join()"); got != "version-2,require_pkce" {
		t.Errorf("checked are %s", got)
	}

	w.open("/admin/settings/emails")
	w.do(chromedp.SendKeys("#name", "chat"), chromedp.SendKeys("#secret", "do not keep me"))
	w.tooLate(p, "form[action$=secrets] button", owner)
	w.until("document.getElementById('name').value === 'chat'")
	if got := w.text("document.getElementById('secret').value + sessionStorage.length"); got != "0" {
		t.Errorf("kept is %q", got)
	}

	w.open(receiptsPath)
	w.do(webtest.Start(`document.getElementById("name").value = "x".repeat(1000); document.getElementById("address").value = "1 High St"
		document.querySelector("main form").requestSubmit()`))
	w.until("document.getElementById('name-error') && document.readyState === 'complete'")
	w.do(webtest.Start(`document.getElementById("address").value = "y".repeat(70000); document.querySelector("main form").requestSubmit()`))
	w.until("document.querySelector('[data-keep]') && document.readyState === 'complete'")
	w.eachAppearance(func() { w.sound("413", "422") })
	w.press("[data-keep]")
	w.until("document.querySelector('[data-late]') && document.readyState === 'complete'")
	if got := w.text("document.getElementById('name').value.length + ' ' + document.getElementById('address').value.length"); got != "1000 70000" {
		t.Errorf("kept are %s characters", got)
	}
	w.eachAppearance(func() { w.sound() })

	w.open(receipt)
	w.do(chromedp.SetValue("#body", "Mine"))
	w.tooLate(p, "button[value=save]", func() string { return manager })
	w.until("document.querySelector('[data-late]') && document.readyState === 'complete'")
	if got := w.text("document.getElementById('body').value"); got != "Thank you!\nYours" {
		t.Errorf("somebody else sees %q", got)
	}
}
