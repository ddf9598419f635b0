package oauth_test

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
)

// phone adds a virtual authenticator to the browser that stores passkeys and verifies its user.
func (w *window) phone() {
	w.t.Helper()
	w.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if _, err := chromedp.Call(ctx, webauthn.Enable, webauthn.EnableParams{}); err != nil {
			return err
		}
		_, err := chromedp.Call(ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{
			Options: &webauthn.VirtualAuthenticatorOptions{
				Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
				HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
			},
		})
		return err
	}))
}

// R61: a passkey is added on the second factor page; it signs the user in, on its own and after
// the password, and confirms their identity.
func TestR61PasskeysInABrowser(t *testing.T) {
	w := show(t)
	w.phone()
	webtest.Look(t, w.tab, webtest.Phone, 800, false)
	w.open(w.at + "/account/sessions")
	if n := webtest.Eval[int](t, w.tab, "document.querySelectorAll('[data-passkey]').length"); n != 0 {
		t.Error("a passkey is offered where nobody has one")
	}
	w.signIn(password)
	webtest.Scripts(t, w.tab, false)
	w.open(w.at + "/account/second-factor")
	webtest.Scripts(t, w.tab, true)
	if text := w.text("document.body.innerText"); !strings.Contains(text, "Passkeys need JavaScript") || strings.Contains(text, "Add a passkey") {
		t.Errorf("without JavaScript the page is %s", text)
	}
	w.open(w.at + "/account/second-factor")
	w.sound()
	const add = "form[data-for=add] "
	w.do(chromedp.SendKeys(add+"input[name=name]", "Work phone"))
	w.leave(chromedp.Click(add + "button"))
	w.wantHeading("Keep your recovery codes")
	w.leave(chromedp.Click("a.primary"))
	if text := w.text("document.querySelector('table').innerText"); !strings.Contains(text, "Work phone") || !strings.Contains(text, "never") {
		t.Errorf("the passkeys are %s", text)
	}
	w.sound()
	w.do(chromedp.Click(add + "button"))
	webtest.Until(t, w.tab, "document.querySelector('"+add+"[role=alert]').innerText.includes('already')")
	w.heard.Take()

	webtest.Look(t, w.tab, webtest.Desktop, 800, true)
	signOut := func() {
		w.open(w.at + "/account/sessions")
		w.leave(chromedp.Click("main form[action='/account/sessions/end'] button"))
		w.wantHeading("Sign in")
	}
	signOut()
	w.sound()
	w.leave(chromedp.Click("form[data-for=sign_in] button"))
	if path := w.text("location.pathname"); path != "/account" {
		t.Fatalf("the passkey alone leads to %s: %s", path, w.text("document.body.innerText"))
	}
	signOut()
	w.signIn(password)
	w.wantHeading("Second factor")
	w.sound()
	w.leave(chromedp.Click("form[data-for=second_step] button"))
	if path := w.text("location.pathname"); path != "/account" {
		t.Fatalf("the passkey leads to %s: %s", path, w.text("document.body.innerText"))
	}
	w.open(w.at + "/secure/1/identity/confirm?next=/account/second-factor")
	w.wantHeading("Confirm that it is you")
	w.sound()
	w.leave(chromedp.Click("form[data-for=confirm] button"))
	w.wantHeading("Second factor")
	w.leave(chromedp.Click("button[aria-label='Remove Work phone']"))
	if text := w.text("document.body.innerText"); !strings.Contains(text, "The passkey is removed") || strings.Contains(text, "Work phone") {
		t.Errorf("after it was removed: %s", text)
	}
}
