package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// wantProtected checks B1, B2, B4 and B13 for a page.
func wantProtected(t testing.TB, header http.Header) {
	t.Helper()
	policy := header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy %q has no %s", policy, want)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
		t.Errorf("the policy is %q", policy)
	}
	for name, want := range map[string]string{"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"} {
		if got := header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if policy := header.Get("Referrer-Policy"); policy != "same-origin" && policy != "strict-origin" {
		t.Errorf("Referrer-Policy is %q", policy)
	}
}

func (c *campus) link(t *testing.T, p *campusSchool) string {
	t.Helper()
	link, err := c.accounts.NewPasswordLink(t.Context(), lyceum.By{School: p.id, Actor: "test"}, learnerID)
	if err != nil {
		t.Fatal(err)
	}
	return link
}

// everyPage returns the responses of all pages, for valid and invalid requests.
func (c *campus) everyPage(t *testing.T) map[string]*httptest.ResponseRecorder {
	t.Helper()
	responses := map[string]*httptest.ResponseRecorder{}
	out, in := c.browse(), c.browse()
	in.signIn(t, c.ours, learnerEmail)
	for name, b := range map[string]*browser{"out ": out, "in ": in} {
		for _, path := range []string{
			c.ours.authorize(lyceum.V1), c.ours.authorize(lyceum.V1, set("client_id", "x")), c.ours.path("sign_in"), c.ours.path("forgot_password"),
			c.ours.path("set_password/" + c.link(t, c.ours)), c.ours.path("set_password/x"), c.ours.path("confirm_email/x"), c.ours.path("nothing"), "/secure/99/identity/sign_in",
			"/account", "/account/apps", "/account/receipts", "/account/receipts/1", "/account/profile", "/account/profile/email", "/account/downloads/1", "/account/certificates", "/account/certificates/1", "/account/nothing", "/secure/sign_in", "/secure/sign_in?school=x", "/secure/", "/admin", "/admin/nothing",
		} {
			responses[name+"GET "+path] = b.get(path)
		}
	}
	responses["wrong password"] = out.post(c.ours.path("sign_in"), url.Values{"email": {learnerEmail}, "password": {"x"}})
	responses["no consent"] = in.post(c.ours.path("oauth_provider/authorize"), url.Values{})
	responses["consent"] = in.post(c.ours.path("oauth_provider/authorize"), in.consent(t, c.ours.authorize(lyceum.V1)))
	responses["large"] = out.post(c.ours.path("sign_in"), url.Values{"email": {strings.Repeat("x", 70_000)}})
	responses["broken"] = out.send(request(http.MethodPost, c.ours.path("sign_in"), strings.NewReader("%zz"), "Content-Type: application/x-www-form-urlencoded"))
	responses["revoke"] = in.post("/account/apps/1/revoke", nil)
	responses["sign out"] = in.post(c.ours.path("sign_out"), nil)
	return responses
}

func TestB1_B2_B4_B13_EveryPageIsProtected(t *testing.T) {
	c := newCampus(t)
	foreign := regexp.MustCompile(`(?:src|href|action)="(?:https?:)?//[^"]*"`)
	for name, w := range c.everyPage(t) {
		t.Run(name, func(t *testing.T) {
			wantProtected(t, w.Header())
			if w.Code >= 500 {
				t.Errorf("%d: %s", w.Code, w.Body)
			}
			if found := foreign.FindString(strings.ReplaceAll(strings.ReplaceAll(w.Body.String(), authURL, ""), baseURL, "")); found != "" {
				t.Errorf("the page has %s", found)
			}
		})
	}
}

// TestB3_WhereFormsLead checks form-action, which browsers also apply to the redirects after a
// form, including those of the app that it leads to.
func TestB3_WhereFormsLead(t *testing.T) {
	c := newCampus(t)
	b := c.browse()
	wantLeaves := func(page string, want bool) {
		t.Helper()
		policy := b.get(page).Header().Get("Content-Security-Policy")
		if !strings.Contains(policy, "base-uri 'none'") || strings.Contains(policy, "form-action") == want {
			t.Errorf("the policy is %s", policy)
		}
	}
	path := c.ours.authorize(lyceum.V1)
	wantLeaves(leads(b.get(path)), false)
	wantLeaves(leads(b.get(path+"&code_challenge_method=plain")), true) // the app is told after the sign-in
	b.signIn(t, c.ours, learnerEmail)
	wantLeaves(path, true)
	wantLeaves("/account/apps", false)
}

// TestB5_Only303 checks that browsers are redirected after a form with a 303, which drops what
// was sent.
func TestB5_Only303(t *testing.T) {
	c := newCampus(t)
	for name, w := range c.everyPage(t) {
		if w.Code >= 300 && w.Code < 400 && w.Code != http.StatusSeeOther {
			t.Errorf("%s is a %d", name, w.Code)
		}
	}
	for _, folder := range []string{"../oauth", "../console", "../web"} {
		files, err := filepath.Glob(folder + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatal("no files", err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if found := regexp.MustCompile(`StatusTemporaryRedirect|StatusPermanentRedirect|\b30[78]\b`).Find(text); found != nil && !strings.HasSuffix(name, "_test.go") {
				t.Errorf("%s has %s", name, found)
			}
		}
	}
}

func TestB6_FormsOfOtherSites(t *testing.T) {
	c := newCampus(t)
	b := c.browse()
	b.signIn(t, c.ours, learnerEmail)
	form := b.consent(t, c.ours.authorize(lyceum.V1))
	owner := c.browse()
	owner.signIn(t, c.ours, ownerEmail)
	host := "Host: people.example.com"
	for path, form := range map[string]url.Values{
		c.ours.path("oauth_provider/authorize"):                form,
		c.ours.path("sign_in"):                                 {"email": {learnerEmail}, "password": {goodPassword}},
		c.ours.path("sign_out"):                                nil,
		c.ours.path("forgot_password"):                         {"email": {learnerEmail}},
		c.ours.path("set_password/" + c.link(t, c.ours)):       {"password": {"another four words entirely"}},
		"/account/apps/1/revoke":                               nil,
		"/admin/settings/api-keys":                             {"name": {"x"}, "permissions": {"read"}},
		"/admin/settings/oauth-apps":                           {"name": {"x"}, "redirect_url": {callbackURL}, "version": {"1"}},
		fmt.Sprintf("/admin/settings/oauth-apps/%d/delete", 1): nil,
	} {
		who := b
		if strings.HasPrefix(path, "/admin") {
			who = owner
		}
		for _, header := range []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site", "Origin: https://evil.example", "Origin: null"} {
			w := who.post(path, form, header, host)
			if w.Code != http.StatusForbidden || len(w.Result().Cookies()) > 0 {
				t.Errorf("%s with %s is a %d", path, header, w.Code)
			}
		}
	}
	if w := b.post(c.ours.path("oauth_provider/authorize"), form, "Sec-Fetch-Site: same-origin"); w.Code != http.StatusSeeOther {
		t.Errorf("the same form from here is a %d", w.Code)
	}
}

func TestB7_SessionFixation(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		b := c.browse()
		b.signIn(t, c.ours, learnerEmail)
		before := b.cookies["__Host-lyceum"]
		if before == "" {
			t.Fatalf("the cookies are %v", b.cookies)
		}
		b.signIn(t, c.ours, learnerEmail)
		if after := b.cookies["__Host-lyceum"]; after == before {
			t.Error("the session is the same after another sign-in")
		}
		if _, err := c.accounts.Session(t.Context(), c.ours.id, before); lyceum.KindOf(err) != lyceum.NotFound {
			t.Error("the session from before is good:", err)
		}
		planted := c.browse()
		planted.cookies["__Host-lyceum"] = "lyceum_session_1_planted"
		planted.signIn(t, c.ours, learnerEmail)
		if planted.cookies["__Host-lyceum"] == "lyceum_session_1_planted" {
			t.Error("a planted session is taken")
		}
		w := c.browse().post(c.ours.path("sign_in"), url.Values{"email": {learnerEmail}, "password": {goodPassword}})
		if line := w.Header().Get("Set-Cookie"); !strings.HasPrefix(line, "__Host-lyceum=") || !strings.Contains(line, "; HttpOnly; Secure; SameSite=Lax") || !strings.Contains(line, "Path=/;") || strings.Contains(line, "Domain") {
			t.Errorf("the cookie is %q", line)
		}
	})
}

func TestSignInLeadsNowhereElse(t *testing.T) {
	c := newCampus(t)
	for next, want := range map[string]string{
		"/account/apps?x=1": "/account/apps?x=1", `/account/apps?state=a\b`: `/account/apps?state=a\b`, "": "/account", "https://evil.example/": "/account", "//evil.example/": "/account",
		"/\\evil.example": "/account", "\\\\evil.example": "/account", "javascript:alert(1)": "/account", "/a\r\nSet-Cookie: x=y": "/account",
		"evil": "/account", "/\t/evil.example": "/account", "http:/account": "/account",
	} {
		b := c.browse()
		c.clock.Pass(time.Minute) // so that signing in this often is allowed
		w := b.post(c.ours.path("sign_in"), url.Values{"email": {learnerEmail}, "password": {goodPassword}, "next": {next}})
		if to := w.Header().Get("Location"); w.Code != http.StatusSeeOther || to != want {
			t.Errorf("next %q leads to %q, want %q", next, to, want)
		}
		if to := b.get(c.ours.path("sign_in") + "?next=" + url.QueryEscape(next)).Header().Get("Location"); to != want {
			t.Errorf("next %q leads who is signed in to %q, want %q", next, to, want)
		}
	}
	for query, want := range map[string]string{
		"school=1&next=/admin": "/secure/1/identity/sign_in?next=%2Fadmin", "school=1&next=//evil.example": "/secure/1/identity/sign_in?next=",
		"school=99": "", "school=x": "", "": "",
	} {
		if to := c.browse().get("/secure/sign_in?" + query).Header().Get("Location"); to != want {
			t.Errorf("%q leads to %q, want %q", query, to, want)
		}
	}
}

func TestR11_SignInIsBounded(t *testing.T) {
	c := newCampus(t)
	b := c.browse()
	for n := range 12 {
		w := b.post(c.ours.path("sign_in"), url.Values{"email": {learnerEmail}, "password": {"x"}, "next": {"/account/apps"}})
		want := http.StatusUnprocessableEntity
		if n >= 10 {
			want = http.StatusTooManyRequests
		}
		if w.Code != want || (w.Header().Get("Retry-After") == "") != (n < 10) || !strings.Contains(w.Body.String(), `value="`+learnerEmail+`"`) {
			t.Errorf("attempt %d is a %d", n+1, w.Code)
		}
	}
	c.clock.Pass(time.Minute)
	b.signIn(t, c.ours, learnerEmail)
}

func TestB12_AccountPage(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		tokens := c.tokens(t, c.ours, lyceum.V1)
		b := c.browse()
		b.signIn(t, c.ours, learnerEmail)
		text := b.get("/account/apps").Body.String()
		for _, want := range []string{"Ledger", "See your name", "See the courses you are enrolled in", "not yet"} {
			if !strings.Contains(text, want) {
				t.Errorf("the page has no %q", want)
			}
		}
		stranger := c.browse()
		stranger.signIn(t, c.theirs, learnerEmail)
		id := c.ours.clients[lyceum.V1].app.ID
		stranger.post(fmt.Sprintf("/account/apps/%d/revoke", id), nil)
		wantStatus(t, c.me(t, lyceum.V1, "Authorization: bearer "+tokens.AccessToken), http.StatusOK)
		w := b.post(fmt.Sprintf("/account/apps/%d/revoke", id), nil)
		if w.Header().Get("Location") != "/account/apps?done=revoked" {
			t.Errorf("revoking is a %d to %q", w.Code, w.Header().Get("Location"))
		}
		wantError(t, c.me(t, lyceum.V1, "Authorization: bearer "+tokens.AccessToken), http.StatusUnauthorized, "invalid_token")
		again := c.token(t, lyceum.V1, "token", "form", url.Values{
			"grant_type": {"refresh_token"}, "refresh_token": {tokens.RefreshToken}, "client_id": {c.ours.clients[lyceum.V1].id}, "client_secret": {c.ours.clients[lyceum.V1].secret},
		})
		wantError(t, again, http.StatusBadRequest, "invalid_grant")
		for _, bad := range []string{"0", "x", "99999999999"} {
			if w := b.post("/account/apps/"+bad+"/revoke", nil); w.Code != http.StatusNotFound {
				t.Errorf("app %s is a %d", bad, w.Code)
			}
		}
	})
}

// Learners see their own certificates, even after their access has ended, and those of nobody
// else.
func TestF9_CertificatesAreOfTheLearner(t *testing.T) {
	c := newCampus(t)
	issued := time.Date(2024, 1, 31, 23, 30, 0, 0, time.UTC)
	for p, name := range map[*campusSchool]string{c.ours: "Pottery <ours>", c.theirs: "Pottery of theirs"} {
		storetest.Write(t, c.store, p.id, func(tx lyceum.Tx) error {
			zoneErr := tx.ChangeSchool(func(s *lyceum.School) { s.TimeZone = "Europe/Berlin" })
			_, courseErr := tx.Courses.Save(tx, lyceum.Course{ID: 7, Name: name, CreatedAt: issued, UpdatedAt: issued, ArchivedAt: lyceum.Some(issued)})
			_, err := tx.Progress.Save(tx, lyceum.Progress{ID: 7, User: learnerID, Course: 7, PercentComplete: 100, CompletedAt: lyceum.Some(issued), Certificate: lyceum.Some(lyceum.Certificate{
				IssuedAt: issued, PageID: 1, SerialNumber: fmt.Sprintf("cert_%d", p.id),
			})})
			return errors.Join(zoneErr, courseErr, err)
		})
	}
	for name, tc := range map[string]struct {
		email, path string
		status      int
		says        []string
	}{
		"the list":           {learnerEmail, "/account/certificates", 200, []string{"Pottery &lt;ours&gt;", `href="/account/certificates/7"`, "1\u00a0February\u00a02024"}},
		"one":                {learnerEmail, "/account/certificates/7", 200, []string{"Certificate of completion", "Mira Okafor", "Pottery &lt;ours&gt;", fmt.Sprintf("cert_%d", c.ours.id), "1\u00a0February\u00a02024"}},
		"of another course":  {learnerEmail, "/account/certificates/8", 404, []string{"You have no such certificate."}},
		"of no course":       {learnerEmail, "/account/certificates/x", 404, []string{"You have no such certificate."}},
		"of another learner": {ownerEmail, "/account/certificates/7", 404, []string{"You have no such certificate."}},
		"somebody without":   {ownerEmail, "/account/certificates", 200, []string{"You have no certificate yet."}},
	} {
		b := c.browse()
		b.signIn(t, c.ours, tc.email)
		w := b.get(tc.path)
		wantStatus(t, w, tc.status)
		for _, want := range tc.says {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: no %q in %s", name, want, w.Body)
			}
		}
		if strings.Contains(w.Body.String(), "theirs") {
			t.Errorf("%s: the other school's: %s", name, w.Body)
		}
	}
	if to := c.browse().get("/account/certificates/7").Header().Get("Location"); !strings.HasPrefix(to, "/secure/sign_in?") {
		t.Errorf("somebody unknown is led to %q", to)
	}
}

// TestF9_SessionsAreOfOneSchool checks that a session in one school gives no access to another.
func TestF9_SessionsAreOfOneSchool(t *testing.T) {
	c := newCampus(t)
	b := c.browse()
	b.signIn(t, c.ours, ownerEmail)
	w := b.get(c.theirs.authorize(lyceum.V1))
	if !strings.HasPrefix(w.Header().Get("Location"), c.theirs.path("sign_in")) {
		t.Errorf("the other school's page is a %d to %q", w.Code, w.Header().Get("Location"))
	}
	link := c.link(t, c.theirs)
	if w := b.get(c.ours.path("set_password/" + link)); w.Code != http.StatusNotFound {
		t.Errorf("the other school's link is a %d", w.Code)
	}
	theirs := c.register(t, c.theirs.id, access.AppForm{Name: "Secret of theirs", RedirectURL: callbackURL, Version: lyceum.V1})
	for _, path := range []string{"/admin/settings/oauth-apps", fmt.Sprintf("/admin/settings/oauth-apps/%d", theirs.app.ID)} {
		if w := b.get(path); strings.Contains(w.Body.String(), "Secret of theirs") {
			t.Errorf("%s shows the other school's app", path)
		}
	}
}

// faulty is a store that fails for an unknown reason once fails is set.
type faulty struct {
	lyceum.Store

	fails bool
}

func (f *faulty) In(ctx context.Context, id lyceum.SchoolID) lyceum.View {
	return storetest.FailSchool(f.Store.In(ctx, id), func() error {
		if f.fails {
			return errors.New("the roof of hall 7 fell in")
		}
		return nil
	})
}

// TestFailingPagesAreLogged checks that the log has a line with the id of a response, which
// names the page and not what was typed.
func TestFailingPagesAreLogged(t *testing.T) {
	kept, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	store := &faulty{Store: kept}
	c := campusOver(t, store)
	b := c.browse()
	b.signIn(t, c.ours, ownerEmail)
	const typed = "1007100710" // not part of any time, duration or id by chance
	hold := func(status int, level string, messages ...string) {
		t.Helper()
		for _, tc := range []struct{ message, path, pattern string }{
			{messages[0], "/admin/transactions/" + typed + "/refund?page=" + typed, "/admin/transactions/{id}/refund"},
			{messages[0], "/admin/grades-of-" + typed, "/"},
			{messages[1], c.ours.path("set_password/" + typed), "/secure/{school}/identity/set_password/{link}"},
			{messages[1], "/account/apps", "/account/apps"},
		} {
			w := b.get(tc.path)
			wantStatus(t, w, status)
			if strings.Contains(w.Body.String(), "roof") {
				t.Errorf("%s: the page tells what is inside", tc.path)
			}
			lines := c.log.lines(t, tc.message)
			if len(lines) == 0 {
				t.Fatalf("%s: %q is not in the log:\n%s", tc.path, tc.message, c.log)
			}
			last := lines[len(lines)-1]
			if last["level"] != level || last["request_id"] != w.Header().Get("X-Request-Id") || last["path"] != tc.pattern {
				t.Errorf("%s: the id is %s, the line %v", tc.path, w.Header().Get("X-Request-Id"), last)
			}
		}
		if strings.Contains(c.log.String(), typed) {
			t.Errorf("the log repeats an address:\n%s", c.log)
		}
	}
	store.fails = true
	hold(http.StatusInternalServerError, "ERROR", "console request failed", "page failed")
	store.fails = false
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	hold(http.StatusServiceUnavailable, "WARN", "console request cannot be answered now", "page cannot be shown now")
}

// TestR58_LateForms checks that a form that is sent after the session has ended, or when users
// have to confirm their identity, does nothing, and that its page says so afterwards.
func TestR58_LateForms(t *testing.T) {
	c := newCampus(t)
	const second = "/account/second-factor" // not available here, because there is no secret key
	for form, page := range map[string]string{
		"/account/apps/1/revoke": "/account/apps", "/account/sessions/end": "/account/sessions", "/account/sessions/ab/end": "/account/sessions",
		"/account/profile": "/account/profile", "/account/profile/email": "/account/profile/email",
		second: second, second + "/remove": second, second + "/passkeys/ab/remove": second,
	} {
		says := func(b *browser, reason string) {
			t.Helper()
			if w := b.get(page + "?done=" + reason); page != second && !strings.Contains(w.Body.String(), "Nothing has been done yet") {
				t.Errorf("%s does not say that nothing was done: %s", page, w.Body)
			}
		}
		b := c.browse()
		if got, want := leads(b.post(form, nil)), "/secure/sign_in?next="+url.QueryEscape(page+"?done=not-signed-in"); got != want {
			t.Errorf("%s leads to %s, want %s", form, got, want)
		}
		b.signIn(t, c.ours, learnerEmail)
		says(b, "not-signed-in")
		if page != second && page != "/account/profile/email" {
			continue
		}
		c.clock.Pass(access.FreshFor)
		if got, want := leads(b.post(form, nil)), c.ours.path("confirm")+"?next="+url.QueryEscape(page+"?done=unconfirmed"); got != want {
			t.Errorf("%s leads to %s, want %s", form, got, want)
		}
		b.post(c.ours.path("confirm"), url.Values{"password": {goodPassword}})
		says(b, "unconfirmed")
	}
	for page, back := range map[string]string{
		"/account/receipts":                                 "/account/receipts",
		"/account/receipts?page=2":                          "/account/receipts?page=2",
		"/account/sessions?page=2&done=ended":               "/account/sessions?page=2",
		"/account/certificates/1?page=%2F%2Fexample.com%5C": "/account/certificates/1?page=%2F%2Fexample.com%5C",
	} {
		if got, want := leads(c.browse().get(page)), "/secure/sign_in?next="+url.QueryEscape(back); got != want {
			t.Errorf("%s leads to %s, want %s", page, got, want)
		}
	}
}

func leads(w *httptest.ResponseRecorder) string { return w.Header().Get("Location") }
