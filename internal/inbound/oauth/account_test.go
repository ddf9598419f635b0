package oauth_test

import (
	"context"
	"errors"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/oauth"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// learner returns a browser in which the learner is signed in.
func learner(t *testing.T, change ...func(*oauth.Options)) *client {
	t.Helper()
	c := &client{window: serve(t, "https://school.example.com:443", change...), cookies: map[string]*http.Cookie{}}
	c.want(c.send("POST", "/secure/1/identity/sign_in", url.Values{"email": {email}, "password": {password}}), 303, "/account")
	return c
}

// wantNot fails the test if a page contains a text.
func (c *client) wantNot(w *httptest.ResponseRecorder, text string) {
	c.t.Helper()
	if strings.Contains(w.Body.String(), text) {
		c.t.Errorf("the page has %q: %s", text, w.Body)
	}
}

// The errors of a form use the form's own field names, and what was typed is kept.
func TestWrongProfile(t *testing.T) {
	t.Parallel()
	c := learner(t)
	long := strings.Repeat("n", 300)
	w := c.send("POST", "/account/profile", url.Values{"name": {long}, "phone_number": {strings.Repeat("1", 51)}})
	c.want(w, 422, "The name must be at most 255 characters long. The phone number must be at most 50 characters long.")
	c.want(w, 422, long)
	c.want(w, 422, `maxlength="255" aria-invalid="true" aria-describedby="problem"`)
	c.want(w, 422, `maxlength="50" aria-invalid="true" aria-describedby="problem"`)
	c.wantNot(w, "phone_number must")
	w = c.send("POST", "/account/profile/email", url.Values{"email": {"nobody"}})
	c.want(w, 422, "The email address must be an email address such as learner@example.com.")
	c.want(w, 422, `value="nobody" autocomplete="email" required autofocus aria-invalid="true" aria-describedby="problem"`)
}

// Someone who comes to the second step without a first one still gets to the page they wanted.
func TestSecondStepKeepsThePage(t *testing.T) {
	t.Parallel()
	c := learner(t)
	const signIn = "/secure/1/identity/sign_in?next=%2Faccount%2Freceipts"
	c.want(c.send("GET", "/secure/1/identity/second_step?next=/account/receipts", nil), 303, signIn)
	c.want(c.send("GET", signIn, nil), 303, "/account/receipts")
}

// A browser that was signed in to a school that is not here, such as on another server at this
// address, is redirected to one that is.
func TestSessionOfAnotherServer(t *testing.T) {
	t.Parallel()
	c := learner(t, func(o *oauth.Options) {
		here := o.School
		o.School = func(ctx context.Context, id lyceum.SchoolID) (lyceum.School, error) {
			if id != 1 {
				return lyceum.School{}, lyceum.Errorf(lyceum.NotFound, "there is no school %d", id)
			}
			return here(ctx, id)
		}
	})
	other, err := c.store.CreateSchool(t.Context(), lyceum.School{Name: "Elsewhere", CreatedAt: time.Now()}, "test")
	if err != nil {
		t.Fatal(err)
	}
	storetest.Write(t, c.store, other.ID, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, lyceum.User{
			ID: 1, Email: email, Role: lyceum.Student, CreatedAt: time.Now(), PasswordHash: lyceum.Some(access.HashPassword(password, [16]byte{1})),
		})
		return err
	})
	in, err := c.people.SignIn(t.Context(), access.Attempt{School: other.ID, Email: email, Password: password})
	if err != nil {
		t.Fatal(err)
	}
	for _, cookie := range c.cookies {
		if _, ok := access.SchoolOfSession(cookie.Value); ok {
			cookie.Value = in.Session
		}
	}
	c.want(c.send("GET", "/account/receipts", nil), 303, "/secure/sign_in?next=%2Faccount%2Freceipts")
	c.want(c.send("GET", "/secure/sign_in?next=/account/receipts", nil), 303, "/secure/1/identity/sign_in?next=%2Faccount%2Freceipts")
}

// An address that gets no link for now stays in the form.
func TestTooManyLinksForAddresses(t *testing.T) {
	t.Parallel()
	c := learner(t)
	for range 5 {
		c.want(c.send("POST", "/account/profile/email", url.Values{"email": {"new@example.com"}}), 303, "done=asked")
	}
	w := c.send("POST", "/account/profile/email", url.Values{"email": {"newer@example.com"}})
	c.want(w, 429, "Too many links were sent within an hour. Wait and try again.")
	c.want(w, 429, `value="newer@example.com"`)
}

// Someone who requests a link again and again is told that there are at most three.
func TestForgottenPasswordSaysHowMany(t *testing.T) {
	t.Parallel()
	c := &client{window: serve(t, "https://school.example.com:443"), cookies: map[string]*http.Cookie{}}
	for _, who := range []string{email, "nobody@example.com"} {
		w := c.send("POST", "/secure/1/identity/forgot_password", url.Values{"email": {who}})
		c.want(w, 200, "we have sent a link to it. We send at most three links within an hour")
	}
}

// Without mail, there is no form that could not do what it says.
func TestAddressWithoutMail(t *testing.T) {
	t.Parallel()
	c := learner(t, func(o *oauth.Options) { o.Doors.SendConfirmation = nil })
	for method, status := range map[string]int{"GET": 200, "POST": 409} {
		w := c.send(method, "/account/profile/email", url.Values{"email": {"new@example.com"}})
		c.want(w, status, "Ask the school to change your address.")
		c.wantNot(w, "email a link")
		c.wantNot(w, "an app")
		c.wantNot(w, `action="/account/profile/email"`)
	}
}

// The page only says that a session ended if it did.
func TestEndedSessions(t *testing.T) {
	t.Parallel()
	c := learner(t)
	here := c.cookies
	c.cookies = map[string]*http.Cookie{}
	c.want(c.send("POST", "/secure/1/identity/sign_in", url.Values{"email": {email}, "password": {password}}), 303, "/account")
	other := c.cookies
	c.cookies = here
	page := c.send("GET", "/account/sessions", nil).Body.String()
	_, end, found := strings.Cut(page, `action="/account/sessions/`)
	if end, _, _ = strings.Cut(end, `/end"`); !found || end == "end" {
		t.Fatalf("no session to end: %s", page)
	}
	for _, tc := range []struct{ name, notice string }{
		{"0000000000000000", "not-ended"}, {end, "ended"}, {end, "not-ended"},
	} {
		c.want(c.send("POST", "/account/sessions/"+tc.name+"/end", nil), 303, "/account/sessions?done="+tc.notice)
	}
	c.want(c.send("GET", "/account/sessions?done=not-ended", nil), 200, "nothing was ended")
	c.cookies = other
	c.want(c.send("GET", "/account/sessions", nil), 303, "sign_in")
}

// Of two open pages of the profile, neither undoes what the other changed.
func TestProfileInTwoTabs(t *testing.T) {
	t.Parallel()
	c := learner(t)
	page := c.send("GET", "/account/profile", nil).Body.String()
	first, second := url.Values{}, url.Values{}
	for _, field := range regexp.MustCompile(`<input type="(?:text|tel|hidden)" name="([^"]*)" value="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		first.Set(field[1], html.UnescapeString(field[2]))
		second.Set(field[1], html.UnescapeString(field[2]))
	}
	first.Set("name", "Ada Lovelace")
	first.Set("marketing", "on")
	c.want(c.send("POST", "/account/profile", first), 303, "done=profile")
	second.Set("phone_number", strings.Repeat("1", 51))
	refused := c.send("POST", "/account/profile", second)
	c.want(refused, 422, `name="shown_name" value="`+html.EscapeString(second.Get("shown_name"))+`"`)
	second.Set("phone_number", "1 555 0100")
	c.want(c.send("POST", "/account/profile", second), 303, "done=profile")
	after := c.send("GET", "/account/profile", nil)
	for _, kept := range []string{"Ada Lovelace", "1 555 0100", `on" checked>`} {
		c.want(after, 200, `value="`+kept)
	}
	second.Set("name", "") // which was changed in the meantime, and is emptied by the learner
	c.want(c.send("POST", "/account/profile", second), 303, "done=profile")
	c.want(c.send("GET", "/account/profile", nil), 200, `name="name" value=""`)
}

// Error pages, for pages that do not exist or reject a request, link to the account.
func TestNoPageLeadsOn(t *testing.T) {
	t.Parallel()
	c := learner(t)
	for path, status := range map[string]int{
		"/account/": 404, "/account/receipts/0": 404, "/secure": 404, "/secure/9/identity/sign_in": 404,
		"/secure/1/identity/sign_out": 405,
	} {
		c.want(c.send("GET", path, nil), status, `<a class="primary" href="/account">To your account</a>`)
	}
}

// Times on the account's pages are in the school's time zone.
func TestTimesOfTheAccount(t *testing.T) {
	t.Parallel()
	c := learner(t)
	storetest.Write(t, c.store, c.school, func(tx lyceum.Tx) error {
		of, err := lyceum.All(tx.Users, tx, lyceum.UserFilter{Email: lyceum.Some(email)})
		if err != nil {
			return err
		}
		evening := time.Date(2026, 1, 1, 20, 0, 0, 0, time.UTC)
		used := lyceum.Some(evening.AddDate(0, 1, 0))
		app := lyceum.OAuthApp{ID: 1, Name: "Calendar", Version: lyceum.V2, ClientID: "calendar", RedirectURL: "https://app.example.com/", CreatedAt: evening}
		grant := lyceum.Grant{ID: 900, App: app.ID, User: of[0].ID, CreatedAt: evening, LastUsedAt: used}
		passkey := lyceum.Passkey{User: of[0].ID, Name: "Phone", CreatedAt: evening, LastUsedAt: used}
		err = errors.Join(tx.OAuthApps.Insert(tx, app), tx.Grants.Insert(tx, grant), tx.Passkeys.Insert(tx, passkey))
		return errors.Join(err, tx.ChangeSchool(func(s *lyceum.School) { s.TimeZone = "Asia/Kathmandu" }))
	})
	for path, shown := range map[string][2]string{
		"/account/apps":          {"2\u00a0Jan\u00a02026<", "2\u00a0Feb\u00a02026<"},
		"/account/second-factor": {"2\u00a0Jan\u00a02026, 01:45<", "2\u00a0Feb\u00a02026, 01:45<"},
	} {
		for _, at := range shown {
			c.want(c.send("GET", path, nil), 200, at)
		}
	}
	page := c.send("GET", "/account/sessions", nil)
	c.want(page, 200, "Times are in Asia/Kathmandu.")
	_, since, _ := strings.Cut(page.Body.String(), `<time datetime="`)
	machine, shown, _ := strings.Cut(since, `">`)
	at, err := time.Parse(time.RFC3339, machine)
	if err != nil {
		t.Fatal(err)
	}
	want := at.Add(5*time.Hour + 45*time.Minute).Format("2\u00a0Jan\u00a02006, 15:04")
	if shown, _, _ = strings.Cut(shown, "<"); shown != want {
		t.Errorf("%s is shown as %q, want %q", machine, shown, want)
	}
}

// The learner's products say the last day of access, as the school entered it, and not the day on
// which it is over at midnight.
func TestLastDayOfAccess(t *testing.T) {
	t.Parallel()
	c := learner(t)
	storetest.Write(t, c.store, c.school, func(tx lyceum.Tx) error {
		of, err := lyceum.All(tx.Users, tx, lyceum.UserFilter{Email: lyceum.Some(email)})
		if err != nil {
			return err
		}
		ends := map[lyceum.DigitalDownloadID]time.Time{
			1: time.Date(2095, 12, 31, 18, 15, 0, 0, time.UTC), // midnight in Kathmandu
			2: time.Date(2095, 11, 20, 18, 15, 1, 0, time.UTC), // a second later
			3: time.Date(2095, 10, 5, 12, 0, 0, 0, time.UTC),
		}
		for id, end := range ends {
			_, made := tx.DigitalDownloads.Save(tx, lyceum.DigitalDownload{ID: id, Name: "Guide", IsPublished: true, CreatedAt: storetest.Begin})
			_, held := tx.Entitlements.Save(tx, lyceum.Entitlement{
				ID: lyceum.EntitlementID(id), User: of[0].ID, Product: lyceum.Product{Kind: lyceum.DownloadKind, ID: int32(id)},
				StartsAt: storetest.Begin, EndsAt: lyceum.Some(end),
			})
			if err := errors.Join(made, held); err != nil {
				return err
			}
		}
		return tx.ChangeSchool(func(s *lyceum.School) { s.TimeZone = "Asia/Kathmandu" })
	})
	w := c.send("GET", "/account", nil)
	for _, day := range []string{"31\u00a0December\u00a02095", "21\u00a0November\u00a02095", "5\u00a0October\u00a02095"} {
		c.want(w, 200, day)
	}
	c.wantNot(w, "2096")
}
