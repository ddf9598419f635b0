package oauth_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/pquerna/otp/totp"

	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
)

// enter types into the only field of a page and submits it.
func (w *window) enter(selector, text string) {
	w.t.Helper()
	w.do(chromedp.SendKeys(selector, text))
	w.leave(chromedp.KeyEvent(kb.Enter))
}

// A second factor is set up on its page and requested at the next sign-in, and a recovery code
// replaces it.
func TestSecondFactorInABrowser(t *testing.T) {
	w := show(t)
	webtest.Look(t, w.tab, webtest.Phone, 800, false)
	w.open(w.at + "/account/sessions")
	w.signIn(password)
	w.open(w.at + "/account/second-factor")
	w.sound()
	secret := w.text("document.querySelector('code').innerText")
	dark := w.text("document.querySelector('.qr path').getAttribute('d')")
	if len(secret) != 32 || strings.Count(dark, "M") < 300 {
		t.Fatalf("secret %q, QR code %.60q", secret, dark)
	}
	w.enter("input[name=code]", "000000")
	w.sound("422", "Unprocessable")
	if again := w.text("document.querySelector('code').innerText"); again != secret {
		t.Errorf("after a wrong code the secret is %q, was %q", again, secret)
	}
	code := func(at time.Time) string {
		text, err := totp.GenerateCode(secret, at)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	w.enter("input[name=code]", code(time.Now()))
	w.wantHeading("Keep your recovery codes")
	w.sound()
	w.leave(chromedp.Click("a.primary"))
	w.wantHeading("Second factor")
	w.sound()
	w.leave(chromedp.Click(".actions .danger"))
	if !strings.Contains(w.text("document.body.innerText"), "The app is removed") {
		t.Error("it is not removed")
	}
	secret = w.text("document.querySelector('code').innerText")
	w.enter("input[name=code]", code(time.Now()))
	recovery := w.text("document.querySelector('li code').innerText")

	webtest.Look(t, w.tab, webtest.Desktop, 800, true)
	w.open(w.at + "/account/sessions")
	w.leave(chromedp.Click("main .danger")) // signs out everywhere
	w.signIn(password)
	w.wantHeading("Second factor")
	w.sound()
	w.enter("input[name=code]", "000000")
	w.sound("422", "Unprocessable")
	w.enter("input[name=code]", recovery)
	if path := w.text("location.pathname"); path != "/account" {
		t.Errorf("the recovery code leads to %s", path)
	}
	w.open(w.at + "/secure/1/identity/confirm?next=/account/sessions")
	w.wantHeading("Confirm that it is you")
	w.sound()
	w.enter("input[name=code]", code(time.Now().Add(30*time.Second)))
	if path := w.text("location.pathname"); path != "/account/sessions" {
		t.Errorf("the code leads to %s", path)
	}
}
