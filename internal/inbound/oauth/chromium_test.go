package oauth_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/oauth"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

const (
	email    = "mira@example.com"
	password = "four words that differ"
)

// window is a learner's browser, with a school and an app.
type window struct {
	t      *testing.T
	tab    context.Context
	at     string // the school's pages
	pages  http.Handler
	app    string // the app, on its own origin
	heard  *webtest.Heard
	oauth  *access.OAuth
	people *access.Accounts
	apps   *access.Apps
	client access.Client
	school lyceum.SchoolID
	store  lyceum.Store
	sales  *sales.Service
}

// show opens a school with one learner and one app in a browser.
func show(t *testing.T) *window {
	t.Helper()
	w := serve(t, "")
	w.tab = webtest.Browser(t)
	w.openApp()
	w.heard = webtest.Listen(t, w.tab, w.at)
	return w
}

// serve starts a school with one learner. Its pages use the given address as their own; ""
// means the real one.
func serve(t *testing.T, at string, change ...func(*oauth.Options)) *window {
	t.Helper()
	w := &window{t: t}
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	w.oauth = access.NewOAuth(store, time.Now)
	w.people = access.NewAccounts(store, time.Now, w.oauth, lyceum.NewKeyring(lyceum.SecretKey{1}))
	w.apps = access.NewApps(store, time.Now, w.oauth, true)

	now := lyceum.Second(time.Now())
	school, err := store.CreateSchool(t.Context(), lyceum.School{Name: "Fernwood School of Craft", CreatedAt: now}, "test")
	if err != nil {
		t.Fatal(err)
	}
	w.school, w.store = school.ID, store
	err = store.Write(t.Context(), lyceum.Stamp{School: school.ID, At: now, Actor: "test"}, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, lyceum.User{
			ID: 7, Email: email, Name: lyceum.Some("Mira Okafor"), Role: lyceum.Student, CreatedAt: now,
			PasswordHash: lyceum.Some(access.HashPassword(password, [16]byte{1})),
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	if w.at = at; at == "" {
		w.at = strings.Replace(server.URL, "127.0.0.1", "localhost", 1) // passkeys need a host name
	}
	emails := templates.New(store, time.Now, templates.Options{
		Ring: lyceum.NewKeyring(lyceum.SecretKey{}),
		Send: func(context.Context, templates.Message) error { return nil },
	})
	site := web.Site{BaseURL: w.at, AuthURL: w.at}
	rules := people.New(store, time.Now)
	w.sales = sales.New(store, time.Now, learning.New(store, time.Now), rules)
	options := oauth.Options{
		Sales: w.sales, People: rules, Doors: people.Doors{
			Forget: w.people.Forget, Offer: w.people.OfferEmail, SendConfirmation: (&oauth.Notices{Emails: emails, Site: site}).SendConfirmation,
		},
		Site: site, School: storetest.School(store),
		OnlySchool: func(context.Context) (lyceum.SchoolID, bool) { return school.ID, true },
		OAuth:      w.oauth, Accounts: w.people, Apps: w.apps, Clock: time.Now, Log: slog.New(slog.DiscardHandler), Learning: learning.New(store, time.Now),
		Emails: emails,
	}
	for _, changed := range change {
		changed(&options)
	}
	pages, err := oauth.Pages(options)
	if err != nil {
		t.Fatal(err)
	}
	maps.Insert(pages, maps.All(map[string]http.Handler{"/assets/": web.Assets()}))
	for pattern, handler := range pages {
		mux.Handle(pattern, handler)
	}
	w.pages = mux
	return w
}

// openApp starts an app with a page that links to the school, and a callback page that the
// school redirects to.
func (w *window) openApp() {
	w.t.Helper()
	mux := http.NewServeMux()
	// 127.0.0.1 and localhost are different sites, as a real app and school are.
	app := httptest.NewServer(mux)
	w.t.Cleanup(app.Close)
	w.app = app.URL
	registered, secret, err := w.apps.Register(w.t.Context(), lyceum.By{School: w.school, Actor: "test"}, access.AppForm{
		Name: "Ledger for Schools", RedirectURL: w.app + "/callback?from=school", Version: lyceum.V2,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.client = access.Client{Version: lyceum.V2, ID: registered.ClientID, Secret: secret}
	page := `<!doctype html><title>app</title><link rel=icon href="data:,"><meta name=referrer content="unsafe-url">`
	mux.HandleFunc("/", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(rw, "%s<h1>Ledger</h1><a id=go href=%q>Connect</a>", page, w.authorize("state", "a+b c&=é"))
	})
	mux.HandleFunc("/callback", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprint(rw, page, "<h1>Connected</h1>")
	})
}

// certify gives the learner a certificate.
func (w *window) certify() {
	w.t.Helper()
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	storetest.Write(w.t, w.store, w.school, func(tx lyceum.Tx) error {
		_, courseErr := tx.Courses.Save(tx, lyceum.Course{ID: 1, Name: "Throwing and glazing on the potter’s wheel", IsPublished: true, CreatedAt: at, UpdatedAt: at})
		_, err := tx.Progress.Save(tx, lyceum.Progress{ID: 1, User: 7, Course: 1, PercentComplete: 100, CompletedAt: lyceum.Some(at), Certificate: lyceum.Some(lyceum.Certificate{
			IssuedAt: at, PageID: 1, SerialNumber: "cert_7x3kq2m9vb4nt8wz1rjp6hs5dy",
		})})
		return errors.Join(courseErr, err)
	})
}

// wantOnePage fails the test unless the page prints on a single sheet of A4 in landscape.
func (w *window) wantOnePage() {
	w.t.Helper()
	var printed page.PrintToPDFResult
	w.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) (err error) {
		yes := true
		printed, err = chromedp.Call(ctx, page.PrintToPDF, page.PrintToPDFParams{PreferCSSPageSize: &yes})
		return err
	}))
	sheets := regexp.MustCompile(`/MediaBox ?\[0 0 84[0-9.]+ 59[0-9.]+\]`).FindAll(printed.Data, -1)
	if all := bytes.Count(printed.Data, []byte("/MediaBox")); len(sheets) != 1 || all != 1 {
		w.t.Errorf("it prints on %d sheets, %d of them A4 on its side", all, len(sheets))
	}
}

// newAddress returns the secret of a link that confirms a new address of the learner.
func (w *window) newAddress(email string) string {
	w.t.Helper()
	link, now := "", time.Now()
	stamp := lyceum.Stamp{School: w.school, At: now, Actor: "test"}
	if err := w.store.Write(w.t.Context(), stamp, func(tx lyceum.Tx) (err error) {
		link, err = w.people.OfferEmail(tx, 7, email, now)
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
	return link
}

// authorize returns the URL of the authorization page, with additional parameters.
func (w *window) authorize(pairs ...string) string {
	query := url.Values{
		"client_id": {w.client.ID}, "response_type": {"code"}, "required_scopes": {"profile:read courses:read"},
		"optional_scopes": {"courses:write transactions:read"},
	}
	for i := 0; i < len(pairs); i += 2 {
		query.Set(pairs[i], pairs[i+1])
	}
	return fmt.Sprintf("%s/secure/%d/identity/oauth_provider/authorize?%s", w.at, w.school, query.Encode())
}

func (w *window) do(steps ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	webtest.Do(w.t, w.tab, steps...)
}

func (w *window) open(address string) { w.t.Helper(); w.do(chromedp.Navigate(address)) }

func (w *window) text(expression string) string {
	w.t.Helper()
	return webtest.Eval[string](w.t, w.tab, expression)
}

// leave does a step that leads to another page, and waits for that page.
func (w *window) leave(steps ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	webtest.Eval[bool](w.t, w.tab, "window.left = true")
	w.do(steps...)
	webtest.Until(w.t, w.tab, "!window.left && document.readyState === 'complete'")
}

// signIn fills in the sign-in page using the keyboard.
func (w *window) signIn(with string) {
	w.t.Helper()
	w.wantHeading("Sign in")
	w.do(chromedp.SendKeys("input[name=email]", email), chromedp.SendKeys("input[name=password]", with))
	w.leave(chromedp.KeyEvent(kb.Enter))
}

func (w *window) wantHeading(want string) {
	w.t.Helper()
	if got := w.text("document.querySelector('h1').innerText"); got != want {
		w.t.Fatalf("the page is %q, want %q: %s", got, want, w.text("document.body.innerText"))
	}
}

// sound fails for a page that the browser complains about, or that a user on a phone, with a
// keyboard or with a screen reader could not use.
func (w *window) sound(expected ...string) {
	w.t.Helper()
	w.quiet(expected...)
	webtest.Sound(w.t, w.tab)
	webtest.Axe(w.t, w.tab)
}

// quiet fails if the browser complains.
func (w *window) quiet(expected ...string) {
	w.t.Helper()
	for _, complaint := range w.heard.Take(append(expected, w.app)...) {
		w.t.Errorf("%s: %s", w.text("location.pathname"), complaint)
	}
}

// arrived returns the parameters with which the browser arrived at the app.
func (w *window) arrived() url.Values {
	w.t.Helper()
	w.wantHeading("Connected")
	address, err := url.Parse(w.text("location.href"))
	if err != nil {
		w.t.Fatal(err)
	}
	return address.Query()
}

// exchange exchanges a code for tokens.
func (w *window) exchange(code string) access.Tokens {
	w.t.Helper()
	tokens, err := w.oauth.Exchange(w.t.Context(), w.client, code, w.app+"/callback?from=school", "")
	if err != nil {
		w.t.Fatal(err)
	}
	return tokens
}

const consentHeading = "Authorize “Ledger for Schools”?"

// TestB3_AuthorizeInABrowser goes the whole way of a learner: a page of the app, sign-in,
// consent, and back to the app with a code.
func TestB3_AuthorizeInABrowser(t *testing.T) {
	w := show(t)
	w.open(w.app)
	w.leave(chromedp.Click("#go"))
	w.sound()
	w.signIn("not the password")
	if !strings.Contains(w.text("document.querySelector('[role=alert]').innerText"), "Wrong email address or password") {
		t.Error("a wrong password is not told")
	}
	w.sound("422", "Unprocessable")
	w.do(chromedp.SendKeys("input[name=password]", password))
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.wantHeading(consentHeading)
	w.sound()
	if n := webtest.Eval[int](t, w.tab, "document.querySelectorAll('input[type=checkbox]:not(:checked)').length"); n != 2 {
		t.Errorf("%d optional scopes are to be chosen, want 2", n)
	}
	w.do(chromedp.Click("input[value='courses:write']"))
	w.leave(chromedp.Click("button[value=authorize]"))
	got := w.arrived()
	if got.Get("state") != "a+b c&=é" || got.Get("iss") != w.at+"/v2" || got.Get("from") != "school" {
		t.Errorf("the app is called with %v", got)
	}
	if tokens := w.exchange(got.Get("code")); tokens.Scopes.String() != "courses:read courses:write profile:read" {
		t.Errorf("granted are %q", tokens.Scopes)
	}

	// A19: the second visit asks for consent again.
	w.open(w.authorize())
	w.wantHeading(consentHeading)
	w.leave(chromedp.Click("button[value=authorize]"))
	first := w.arrived().Get("code")

	// Going back after Authorize shows the page again, and it works again.
	w.do(webtest.Start("history.back()"))
	webtest.Until(t, w.tab, "location.pathname !== '/callback' && document.readyState === 'complete'")
	w.wantHeading(consentHeading)
	// chromedp does not know the nodes of a page from the back/forward cache.
	w.leave(webtest.Start("document.querySelector('button[value=authorize]').click()"))
	if second := w.arrived().Get("code"); second == first || second == "" {
		t.Error("authorizing once more gives no code of its own")
	}
}

// TestB11_CancelInABrowser checks that Cancel leads back to the page of the app that the
// learner came from, also through the sign-in, and that nothing is granted.
func TestB11_CancelInABrowser(t *testing.T) {
	w := show(t)
	w.open(w.app)
	w.leave(chromedp.Click("#go"))
	w.signIn(password)
	w.wantHeading(consentHeading)
	w.leave(chromedp.Click("button[value=cancel]"))
	if at := w.text("location.href"); at != w.app+"/" {
		t.Errorf("Cancel leads to %s", at)
	}
	w.open(w.at + "/account/apps")
	if text := w.text("document.body.innerText"); !strings.Contains(text, "No app can act for you") {
		t.Errorf("after Cancel: %s", text)
	}
	// A learner who did not come from a page is told that nothing was granted.
	w.open(w.authorize())
	w.leave(chromedp.Click("button[value=cancel]"))
	w.wantHeading("Apps with access")
	if text := w.text("document.body.innerText"); !strings.Contains(text, "Nothing was granted") {
		t.Errorf("after Cancel: %s", text)
	}
	w.sound()
}

// TestDoubleClickOnAuthorize checks that a double click gives one or two valid codes, never an
// error.
func TestDoubleClickOnAuthorize(t *testing.T) {
	w := show(t)
	w.open(w.authorize())
	w.signIn(password)
	webtest.Eval[bool](t, w.tab, "window.left = true")
	w.do(chromedp.DoubleClick("button[value=authorize]"))
	webtest.Until(t, w.tab, "!window.left && document.readyState === 'complete' && document.querySelector('h1').innerText === 'Connected'")
	w.exchange(w.arrived().Get("code"))
}

// TestR38_SessionsInABrowser ends another session and then all of them, using the keyboard.
func TestR38_SessionsInABrowser(t *testing.T) {
	w := show(t)
	other, err := w.people.SignIn(t.Context(), access.Attempt{
		School: w.school, Email: "mira@example.com", Password: password, From: netip.MustParseAddr("198.51.100.7"), Browser: "Firefox on Windows",
	})
	if err != nil {
		t.Fatal(err)
	}
	w.open(w.at + "/account/sessions")
	w.signIn(password)
	w.open(w.at + "/account/sessions")
	if text := w.text("document.querySelector('table').innerText"); !strings.Contains(text, "Firefox on Windows") || !strings.Contains(text, "198.51.100.0/24") ||
		!strings.Contains(text, "Chrome on Linux") || !strings.Contains(text, "This browser") {
		t.Errorf("the sessions are %s", text)
	}
	w.sound()
	w.do(chromedp.Focus("button[aria-label^='End Firefox on Windows']"))
	w.leave(chromedp.KeyEvent(kb.Enter))
	if text := w.text("document.body.innerText"); !strings.Contains(text, "That session has ended") || strings.Contains(text, "Firefox on Windows") {
		t.Errorf("after End: %s", text)
	}
	if _, err := w.people.Session(t.Context(), w.school, other.Session); lyceum.KindOf(err) != lyceum.NotFound {
		t.Errorf("the session that was ended: %v", err)
	}
	w.do(chromedp.Focus("form[action='/account/sessions/end'] button"))
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.wantHeading("Sign in")
	if text := w.text("document.body.innerText"); !strings.Contains(text, "You are signed out everywhere") {
		t.Errorf("after Sign out everywhere: %s", text)
	}
}

// TestStaleSession checks that a user who signed out in another tab signs in again and is asked
// again.
func TestStaleSession(t *testing.T) {
	w := show(t)
	w.open(w.authorize("state", "kept"))
	w.signIn(password)
	w.wantHeading(consentHeading)
	webtest.Eval[bool](t, w.tab, fmt.Sprintf("fetch('/secure/%d/identity/sign_out', {method: 'POST'}).then(() => true)", w.school))
	w.leave(chromedp.Click("button[value=authorize]"))
	w.signIn(password)
	w.wantHeading(consentHeading)
	w.leave(chromedp.Click("button[value=authorize]"))
	if state := w.arrived().Get("state"); state != "kept" {
		t.Errorf("state is %q", state)
	}
}

// TestWrongRequestAfterSignIn checks that the error reaches the app, although browsers restrict
// the redirects after the sign-in's form.
func TestWrongRequestAfterSignIn(t *testing.T) {
	w := show(t)
	w.open(w.authorize("optional_scopes", "everything", "state", "kept"))
	w.signIn(password)
	got := w.arrived()
	if got.Get("error") != "invalid_scope" || got.Get("state") != "kept" || got.Has("code") {
		t.Errorf("the app is called with %v", got)
	}
}

// TestWithoutScripts checks that every page works without JavaScript.
func TestWithoutScripts(t *testing.T) {
	w := show(t)
	webtest.Scripts(t, w.tab, false)
	w.open(w.authorize())
	w.do(chromedp.SendKeys("input[name=email]", email), chromedp.SendKeys("input[name=password]", password+kb.Enter))
	w.do(chromedp.WaitVisible("button[value=authorize]"), chromedp.Click("button[value=authorize]"))
	webtest.Scripts(t, w.tab, true)
	webtest.Until(t, w.tab, "location.pathname === '/callback'")
	w.exchange(w.arrived().Get("code"))
}

// TestPagesInABrowser checks every page, wide and narrow, light and dark. With
// LYCEUM_PICTURES=docs/pages it saves screenshots.
func TestPagesInABrowser(t *testing.T) {
	w := show(t)
	link, err := w.people.NewPasswordLink(t.Context(), lyceum.By{School: w.school, Actor: "test"}, 7)
	if err != nil {
		t.Fatal(err)
	}
	identity := fmt.Sprintf("%s/secure/%d/identity/", w.at, w.school)
	look := func(name string, expected ...string) {
		t.Helper()
		webtest.EachAppearance(t, w.tab, func(audit func(testing.TB, context.Context)) {
			w.quiet(expected...)
			webtest.Sound(t, w.tab)
			audit(t, w.tab)
		})
		pictures := map[string]struct {
			width int64
			dark  bool
		}{"light": {webtest.Desktop, false}, "phone-dark": {webtest.Phone, true}}
		for suffix, how := range pictures {
			webtest.Screenshot(t, w.tab, name+"-"+suffix, how.width, how.dark)
		}
	}
	w.open(identity + "forgot_password")
	look("forgotten-password")
	w.open(identity + "set_password/" + link)
	w.wantHeading("Choose a password")
	look("choose-password")
	w.open(identity + "oauth_provider/authorize?client_id=nobody")
	w.wantHeading("Request not possible")
	look("refused", "400", "Bad Request")
	w.open(w.authorize())
	look("sign-in")
	w.signIn(password)
	look("consent")
	w.leave(chromedp.Click("button[value=authorize]"))
	tokens := w.exchange(w.arrived().Get("code"))
	w.heard.Take()
	w.open(w.at + "/account/apps")
	look("account")
	w.leave(chromedp.Click("button.danger"))
	if text := w.text("document.body.innerText"); !strings.Contains(text, "The app no longer has access") {
		t.Errorf("after Revoke: %s", text)
	}
	if _, err := w.oauth.Bearer(t.Context(), tokens.AccessToken); lyceum.KindOf(err) != lyceum.Unauthenticated {
		t.Errorf("a token that was taken back: %v", err)
	}
	look("account-empty")
	w.leave(chromedp.Click("a[href='/account/sessions']"))
	w.wantHeading("Where you are signed in")
	look("sessions")
	w.buy()
	for name, page := range map[string]string{
		"products": "/account", "files": "/account/downloads/1", "receipts": "/account/receipts", "receipt": "/account/receipts/1",
		"credit-note": "/account/receipts/2", "profile": "/account/profile", "change-email": "/account/profile/email",
	} {
		w.open(w.at + page)
		look(name)
	}
	w.open(w.at + "/account/certificates")
	look("certificates-empty")
	w.certify()
	w.open(w.at + "/account/certificates")
	look("certificates")
	w.leave(chromedp.Click("a[href='/account/certificates/1']"))
	w.wantHeading("Certificate of completion")
	look("certificate")
	w.wantOnePage()
	webtest.Eval[int](t, w.tab, "document.querySelectorAll('.certificate-name').forEach(e => e.textContent = 'W'.repeat(255)), 0")
	w.wantOnePage()
	w.open(identity + "confirm_email/" + w.newAddress("mira.okafor-lind@a-rather-long-name.example.com"))
	w.wantHeading("Confirm your email address")
	look("confirm-email")

	// B12, E7: a new password ends grants and sessions.
	w.open(identity + "set_password/" + link)
	w.do(chromedp.SendKeys("input[name=password]", "password1234"))
	w.leave(chromedp.KeyEvent(kb.Enter))
	if text := w.text("document.querySelector('[role=alert]').innerText"); !strings.Contains(text, "too common") {
		t.Errorf("a common password: %s", text)
	}
	w.do(chromedp.SendKeys("input[name=password]", "another four words entirely"))
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.wantHeading("Sign in")
	if filled := w.text("document.querySelector('input[name=email]').value"); filled != email {
		t.Errorf("the address at the sign-in is %q", filled)
	}
	w.do(chromedp.SendKeys("input[name=password]", "another four words entirely"))
	w.leave(chromedp.KeyEvent(kb.Enter))
	w.wantHeading("Your products")
}
