package oauth_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/pquerna/otp/totp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// callback starts a server that responds as an app's callback, and returns its address.
func callback(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func connected(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprint(w, `<!doctype html><title>app</title><link rel=icon href="data:,"><h1>Connected</h1>`)
}

// TestB3_WhereAnAppLeads checks an app's own redirects, to which browsers also apply the policy
// of the page whose form led to the app.
func TestB3_WhereAnAppLeads(t *testing.T) {
	home := callback(t, connected)
	for name, redirect := range map[string]string{
		"to another origin": home,
		"on to another origin": callback(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, home+"/callback", http.StatusFound)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			w := show(t)
			w.app = redirect
			app, _, err := w.apps.Register(t.Context(), lyceum.By{School: w.school, Actor: "test"}, access.AppForm{
				Name: "Ledger for Schools", RedirectURL: redirect + "/callback", Version: lyceum.V2,
			})
			if err != nil {
				t.Fatal(err)
			}
			w.client.ID = app.ClientID
			w.open(w.authorize())
			w.signIn(password)
			w.wantHeading(consentHeading)
			w.leave(chromedp.Click("button[value=authorize]"))
			w.wantHeading("Connected")
		})
	}
}

// An invalid request is also reported to the app from the page of the second factor.
func TestB3_AProblemAfterASecondFactor(t *testing.T) {
	w := show(t)
	w.open(w.at + "/account/second-factor")
	w.signIn(password)
	secret := w.text("document.querySelector('code').innerText")
	code := func(at time.Time) string {
		text, err := totp.GenerateCode(secret, at)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	now := time.Now()
	w.enter("input[name=code]", code(now))
	w.open(w.at + "/account/sessions")
	w.leave(chromedp.Click("main .danger")) // signs out everywhere
	webtest.Until(t, w.tab, "document.title.startsWith('Sign in')")
	w.open(w.authorize("required_scopes", "no:such"))
	w.signIn(password)
	w.enter("input[name=code]", code(now.Add(30*time.Second)))
	if got := w.arrived().Get("error"); got != "invalid_scope" {
		t.Errorf("the app is told %q", got)
	}
}
