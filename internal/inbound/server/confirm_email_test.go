package server_test

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/oauth"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/outbound/mail"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// letter is an email that was sent.
type letter struct{ to, text string }

// post makes the server of a classroom one that sends email.
func (k *class) post(t *testing.T) <-chan letter {
	t.Helper()
	sent := make(chan letter, 10)
	send := func(_ context.Context, m templates.Message) error { sent <- letter{m.To, m.Text}; return nil }
	rules, at := rulesOver(k.store, k.clock.Now), web.Site{BaseURL: baseURL, AuthURL: authURL}
	log, emails := slog.New(slog.DiscardHandler), templatesOver(k.store, k.clock.Now, send)
	rooms, err := oauth.Pages(oauth.Options{
		Site: at, School: storetest.School(k.store), OnlySchool: func(context.Context) (lyceum.SchoolID, bool) { return 0, false },
		OAuth: k.oauth, Accounts: k.accounts, Apps: k.apps, Emails: emails, Log: log, Clock: k.clock.Now, Readdress: rules.People.Readdress,
	})
	if err != nil {
		t.Fatal(err)
	}
	doors := people.Doors{
		Forget: k.accounts.Forget, Offer: k.accounts.OfferEmail,
		SendConfirmation: (&oauth.Notices{Emails: emails, Site: at}).SendConfirmation,
	}
	courier := &mail.Courier{
		Emails: emails, Send: send, Log: log, Changed: func() <-chan struct{} { return k.store.Changed(0) },
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); courier.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	maps.Copy(k.options.Pages, rooms)
	k.options.Faces[1] = apiv2.New(apiv2.Rules{Learning: rules.Learning, Sales: rules.Sales, People: rules.People, Doors: doors}, oauth.Endpoints(k.oauth, lyceum.V2))
	k.Handler = server.Handler(k.options)
	return sent
}

// wish makes Lena's app request another email address, and returns the path of the link that is
// sent to it.
func (k *class) wish(t *testing.T, sent <-chan letter, email string) string {
	t.Helper()
	w := k.patchMe(t, k.tokens[bearer{k.ours, lena, lyceum.V2}], `{"email":"`+email+`"}`)
	wantStatus(t, w, http.StatusOK)
	if !strings.Contains(w.Body.String(), `"pending_email":"`+email+`"`) || !strings.Contains(w.Body.String(), `"email":"lena@example.com"`) {
		t.Errorf("answered with %s", w.Body)
	}
	got := <-sent
	_, link, found := strings.Cut(got.text, authURL)
	ways := "to this one, in the account or through an app."
	if link, _, _ = strings.Cut(link, "\n"); got.to != email || !found || !strings.Contains(got.text, ways) {
		t.Fatalf("sent %+v", got)
	}
	return link
}

func (k *class) patchMe(t *testing.T, token, body string) *httptest.ResponseRecorder {
	t.Helper()
	const path = "/v2/current_user/me"
	w := k.do(request(http.MethodPatch, path, strings.NewReader(body), "Authorization: bearer "+token, "Content-Type: application/json"))
	wantOf(t, http.MethodPatch, path, w)
	return w
}

// TestLearnersConfirmTheirAddress checks that an address which an app requests takes effect
// when the signed-in learner confirms it, that the old address is notified, and that sessions
// end.
func TestLearnersConfirmTheirAddress(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		k := newClass(t, c)
		sent := k.post(t)
		learnersShelf(t, k)
		b, stranger := k.browse(), k.browse()
		b.signIn(t, k.ours, "lena@example.com")
		stranger.signIn(t, k.ours, "noah@example.com")
		first := k.wish(t, sent, "first@example.com")
		link := k.wish(t, sent, "lena.new@example.com")

		if w := k.browse().get(link); w.Code != http.StatusSeeOther || !strings.HasPrefix(w.Header().Get("Location"), k.ours.path("sign_in")+"?next=") {
			t.Errorf("who is not signed in gets %d to %q", w.Code, w.Header().Get("Location"))
		}
		wantStatus(t, b.get(first), http.StatusNotFound) // there is a newer one
		wantStatus(t, stranger.get(link), http.StatusNotFound)
		wantStatus(t, stranger.post(link, url.Values{}), http.StatusNotFound)
		wantStatus(t, k.browse().get(strings.Replace(link, "confirm_email", "set_password", 1)), http.StatusNotFound)
		w := b.get(link)
		wantStatus(t, w, http.StatusOK)
		if !strings.Contains(w.Body.String(), "lena.new@example.com") {
			t.Errorf("the page is %s", w.Body)
		}
		if w = b.post(link, url.Values{}); w.Header().Get("Location") != k.ours.path("sign_in")+"?done=email" {
			t.Fatalf("confirmed with %d to %q: %s", w.Code, w.Header().Get("Location"), w.Body)
		}
		if got := <-sent; got.to != "lena@example.com" || !strings.Contains(got.text, "was changed") {
			t.Errorf("the old address is told %+v", got)
		}
		if w = b.get("/account/apps"); w.Code != http.StatusSeeOther {
			t.Errorf("the session goes on: %d", w.Code)
		}
		again := k.browse()
		again.signIn(t, k.ours, "lena.new@example.com")
		if w = again.get(link); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "it was used") { // it works only once
			t.Errorf("the used link is a %d: %s", w.Code, w.Body)
		}
		me := k.me(t, lyceum.V2, "Authorization: bearer "+k.tokens[bearer{k.ours, lena, lyceum.V2}])
		if !strings.Contains(me.Body.String(), `"email":"lena.new@example.com"`) {
			t.Errorf("the app sees %s", me.Body)
		}
	})
}

// TestR58_AddressFromAnApp checks that a stolen session cannot give the account an address that an
// app requested, with which a new password could be set.
func TestR58_AddressFromAnApp(t *testing.T) {
	k := newClass(t, newCampus(t))
	sent := k.post(t)
	learnersShelf(t, k)
	b := k.browse()
	b.signIn(t, k.ours, "lena@example.com")
	link := k.wish(t, sent, "thief@example.com")
	leads := func(w *httptest.ResponseRecorder, to string) {
		t.Helper()
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != to {
			t.Errorf("led with %d to %q, want %q", w.Code, w.Header().Get("Location"), to)
		}
	}
	confirm := k.ours.path("confirm")
	k.clock.Pass(access.FreshFor)
	leads(b.get(link), confirm+"?next="+url.QueryEscape(link))
	leads(b.post(link, url.Values{}), confirm+"?next="+url.QueryEscape(link+"?done=unconfirmed"))
	if w := b.get("/account/apps"); w.Code != http.StatusOK {
		t.Errorf("the session is over: %d", w.Code)
	}
	leads(b.post(confirm, url.Values{"password": {goodPassword}, "next": {link + "?done=unconfirmed"}}), link+"?done=unconfirmed")
	w := b.get(link + "?done=unconfirmed")
	wantStatus(t, w, http.StatusOK)
	if !strings.Contains(w.Body.String(), "Nothing has been done yet") {
		t.Errorf("the page does not say that nothing was done: %s", w.Body)
	}
	leads(b.post(link, url.Values{}), k.ours.path("sign_in")+"?done=email")
}

// TestConfirmedAddressesAreBounded checks that a link expires, that an address of another user
// is not taken over, and that the number of links is limited.
func TestConfirmedAddressesAreBounded(t *testing.T) {
	k := newClass(t, newCampus(t))
	sent := k.post(t)
	learnersShelf(t, k)
	b := k.browse()
	b.signIn(t, k.ours, "lena@example.com")
	taken := k.wish(t, sent, "NOAH@example.com")
	w := b.post(taken, url.Values{})
	wantStatus(t, w, http.StatusConflict)
	if !strings.Contains(w.Body.String(), "Another account of this school has this email address") {
		t.Errorf("an address of somebody else: %s", w.Body)
	}
	for range 4 {
		k.wish(t, sent, "other@example.com")
	}
	w = k.patchMe(t, k.tokens[bearer{k.ours, lena, lyceum.V2}], `{"email":"other@example.com"}`)
	if wantError(t, w, http.StatusTooManyRequests, "rate_limit_exceeded"); w.Header().Get("Retry-After") == "" {
		t.Error("the answer does not say when to try again")
	}
	k.clock.Pass(48 * 3600e9)
	b = k.browse()
	b.signIn(t, k.ours, "lena@example.com")
	wantStatus(t, b.get(taken), http.StatusNotFound)
}

// TestProfileWithoutReading checks that an app that may not read the profile gets back only
// what it sent.
func TestProfileWithoutReading(t *testing.T) {
	k := newClass(t, newCampus(t))
	sent := k.post(t)
	learnersShelf(t, k)
	b := k.browse()
	b.signIn(t, k.ours, "lena@example.com")
	form := b.consent(t, k.ours.authorize(lyceum.V2, set("required_scopes", "profile:write"), without("optional_scopes")))
	code := arrivedAt(t, b.post(k.ours.path("oauth_provider/authorize"), form)).Get("code")
	var response tokenResponse
	decode(t, k.token(t, lyceum.V2, "token", "form", exchangeOf(k.ours.clients[lyceum.V2], code)).Body.Bytes(), &response)
	for body, want := range map[string]string{
		`{}`:              `{}`,
		`{"name":"Lena"}`: `{"name":"Lena"}`,
		`{"phone_number":"1","allow_marketing_emails":false}`: `{"phone_number":"1","allow_marketing_emails":false}`,
		`{"email":"lena@example.com"}`:                        `{"pending_email":"lena@example.com"}`,
		`{"email":"else@example.com"}`:                        `{"pending_email":"else@example.com"}`,
	} {
		if w := k.patchMe(t, response.AccessToken, body); w.Code != http.StatusOK || w.Body.String() != want {
			t.Errorf("%s is answered with %d %s, want %s", body, w.Code, w.Body, want)
		}
	}
	if got := <-sent; got.to != "else@example.com" {
		t.Errorf("sent to %s", got.to)
	}
}
