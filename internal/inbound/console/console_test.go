package console_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/console"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

func TestWhoIsLetIn(t *testing.T) {
	p := open(t, site)
	path, _, _ := p.register("Ledger", "https://app.example.com/cb", "1")
	author := p.signIn(1, "author@example.com", lyceum.Author)
	for _, tc := range []struct {
		name, session, method, path string
		status                      int
		to                          string // where a 303 redirects
	}{
		{"nobody", "", "GET", "/admin", 303, signIn + "%2Fadmin"},
		{"nobody, deep", "", "GET", path, 303, signIn + url.QueryEscape(path)},
		{"nobody, query", "", "GET", path + "?done=deleted", 303, signIn + url.QueryEscape(path)},
		{"nobody, no such page", "", "GET", "/admin/x", 303, signIn + "%2Fadmin%2Fx"},
		{"nobody, address in the path", "", "GET", "/admin/https:%2F%2Fevil.example.com", 303, signIn + "%2Fadmin%2Fhttps%3A%2F%2Fevil.example.com"},
		{"nobody, filters", "", "GET", "/admin/transactions?is_chargeback=true&done=changed&q=%5C%26", 303, signIn + url.QueryEscape("/admin/transactions?is_chargeback=true&q=%5C%26")},
		{"nobody posts", "", "POST", path + "/disable", 303, signIn + url.QueryEscape(path+"?done=signed-out")},
		{"a session that never was", "lyceum_session_1_x", "GET", "/admin", 303, signIn + "%2Fadmin"},
		{"a session of no school", "x", "GET", "/admin", 303, signIn + "%2Fadmin"},
		{"learner, no such page", p.learner, "GET", "/admin/x", 403, ""},
		{"author", author, "GET", "/admin", 403, ""},
		{"owner", p.owner, "GET", "/admin", 200, ""},
		{"owner by HEAD", p.owner, "HEAD", "/admin", 200, ""},
		{"owner, slash", p.owner, "GET", "/admin/", 303, "/admin"},
		{"owner, settings", p.owner, "GET", "/admin/settings", 303, schoolPath},
		{"owner, app", p.owner, "GET", path, 200, ""},
		{"owner, no such page", p.owner, "GET", "/admin/x", 404, ""},
		{"owner, wrong method", p.owner, "GET", path + "/disable", 405, ""},
		{"owner, no such app", p.owner, "GET", appsPath + "/99", 404, ""},
		{"owner, app 0", p.owner, "GET", appsPath + "/0", 404, ""},
		{"owner, app -1", p.owner, "GET", appsPath + "/-1", 404, ""},
		{"owner, app +1", p.owner, "GET", appsPath + "/+1", 404, ""},
		{"owner, app 01", p.owner, "GET", appsPath + "/01", 404, ""},
		{"owner, app x", p.owner, "GET", appsPath + "/x", 404, ""},
		{"owner, app beyond int32", p.owner, "GET", appsPath + "/4294967297", 404, ""},
		{"owner, app x is changed", p.owner, "POST", appsPath + "/x", 404, ""},
		{"owner, app 99 is deleted", p.owner, "POST", appsPath + "/99/delete", 404, ""},
		{"owner, app 99 gets a secret", p.owner, "POST", appsPath + "/99/rotate", 404, ""},
		{"owner, sales", p.owner, "GET", "/admin/sales", 303, "/admin/transactions"},
		{"owner, sale x", p.owner, "GET", "/admin/sales/x", 404, ""},
		{"owner, sale 01", p.owner, "GET", "/admin/sales/01", 404, ""},
		{"owner, sale 99", p.owner, "GET", "/admin/sales/99", 404, ""},
		{"owner, sale 99 is cancelled", p.owner, "POST", "/admin/sales/99/cancel", 404, ""},
		{"owner, transaction 0 is refunded", p.owner, "GET", "/admin/transactions/0/refund", 404, ""},
		{"owner, transaction 99 is refunded", p.owner, "POST", "/admin/transactions/99/refund/keep", 404, ""},
		{"owner, question of transaction 99", p.owner, "POST", "/admin/transactions/99/refund", 404, ""},
		{"owner, webhook x", p.owner, "GET", hooksPath + "/x", 404, ""},
		{"owner, webhook 01", p.owner, "GET", hooksPath + "/01", 404, ""},
		{"owner, webhook 99", p.owner, "GET", hooksPath + "/99", 404, ""},
		{"owner, webhook 99 is changed", p.owner, "POST", hooksPath + "/99/edit", 404, ""},
		{"owner, webhook 99 is tested", p.owner, "POST", hooksPath + "/99/test", 404, ""},
		{"owner, webhook 99 is deleted", p.owner, "POST", hooksPath + "/99/delete", 404, ""},
		{"owner, delivery x", p.owner, "GET", hooksPath + "/1/deliveries/x", 404, ""},
		{"owner, delivery 99", p.owner, "GET", hooksPath + "/1/deliveries/99", 404, ""},
		{"owner, key x", p.owner, "GET", keysPath + "/x/revoke", 404, ""},
		{"owner, key 99", p.owner, "POST", keysPath + "/99/revoke", 404, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := p.send(tc.session, tc.method, tc.path, nil)
			if got := w.Header().Get("Location"); w.Code != tc.status || got != tc.to {
				t.Errorf("status %d to %q, want %d to %q", w.Code, got, tc.status, tc.to)
			}
		})
	}
	want(t, p.send(p.learner, "GET", "/admin", nil), 403, "learner@example.com", "Sign out", `method="post" action="/secure/1/identity/sign_out"`)
	want(t, p.send(p.owner, "GET", "/admin", nil), 200, `method="post" action="/secure/1/identity/sign_out"`)
	if got := p.send(p.owner, "GET", path+"/disable", nil).Header().Get("Allow"); got != "POST" {
		t.Errorf("Allow is %q, want POST", got)
	}
	want(t, p.send(p.owner, "GET", path, nil), 200, "Active")
}

// every calls do for each path and method of the console, with ids of an app, a key, a sale, a
// transaction, a webhook and a delivery that exist in school 1.
func (p *place) every(do func(method, path string)) {
	p.t.Helper()
	p.register("Ledger", "https://app.example.com/cb", "1")
	p.send(p.owner, "POST", keysPath, p.form(keysPath+"/new", "name", "Nightly", "permissions", "read"))
	p.market()
	p.sell(1, 11)
	path, _ := p.hook()
	p.send(p.owner, "POST", path+"/test", p.form(path, "event", "Sale.created"))
	seen := 0
	for path, methods := range console.Routes() {
		for _, method := range methods {
			do(method, addresses.Replace(path))
			seen++
		}
	}
	if seen < 20 {
		p.t.Errorf("only %d actions were looked at", seen)
	}
}

// state is what changes if anything is done in school 1: the journal, and one-time links, which
// are not in it. A new link ends the previous one.
type state struct {
	entries int
	links   [2]string // of the owner and the learner
}

func (p *place) state() state {
	p.t.Helper()
	var s state
	for i := range s.links {
		var err error
		if s.links[i], err = p.accounts.NewPasswordLink(p.t.Context(), lyceum.By{School: 1, Actor: "test"}, lyceum.UserID(i+1)); err != nil {
			p.t.Fatal(err)
		}
	}
	s.entries = p.journal() // including those of the links
	return s
}

// untouched fails if anything was done since before.
func (p *place) untouched(before state) {
	p.t.Helper()
	if got := p.journal(); got != before.entries || got == 0 {
		p.t.Errorf("the journal has %d entries, want %d: something was done", got, before.entries)
	}
	for _, text := range before.links {
		if _, err := p.accounts.Link(p.t.Context(), 1, text); err != nil {
			p.t.Errorf("a link was made: %v", err)
		}
	}
}

// journal returns the number of entries in the journal of school 1.
func (p *place) journal() int {
	n := 0
	for _, entries := range p.actors() {
		n += entries
	}
	return n
}

func TestOwnersOnly(t *testing.T) {
	p := open(t, site)
	var before state
	p.every(func(method, path string) {
		if before.entries == 0 {
			before = p.state()
		}
		if got := next(t, p.send("", method, path, nil)); method == "GET" && got != path || !strings.HasPrefix(got, "/admin") {
			t.Errorf("%s %s leads to %q", method, path, got)
		}
		want(t, p.send(p.learner, method, path, url.Values{"email": {"owner@example.com"}, "name": {"x"}, "permissions": {"read"}}), 403, "The console is for the school’s owners and staff")
	})
	p.untouched(before)
}

// F9: the owner of another school finds nothing of this one, and nothing happens.
func TestF9AnotherSchoolsOwner(t *testing.T) {
	p := open(t, site)
	south := p.addSchool("Southwind")
	storetest.Write(t, p.store, south, func(tx lyceum.Tx) error { // so that no id in the paths exists in both schools
		_, err := tx.Users.Save(tx, lyceum.User{ID: 90, Email: "first@south.example.com", Role: lyceum.Student})
		return err
	})
	foreign := p.signIn(south, "owner@south.example.com", lyceum.Owner)
	var before state
	p.every(func(method, path string) {
		if before.entries == 0 {
			before = p.state()
		}
		w := p.send(foreign, method, path, url.Values{"email": {"learner@example.com"}, "keep": {"0"}, "name": {"x"}, "redirect_url": {"https://x.example.com/"}})
		if strings.Contains(path, "/1") {
			want(t, w, 404, "Page not found")
		}
		for _, ours := range []string{"Northwind", "Ledger", "Nightly", "owner@example.com", "Lovelace", "Pottery", "hooks.example.com"} {
			if strings.Contains(w.Body.String(), ours) {
				t.Errorf("%s %s shows another school's %s", method, path, ours)
			}
		}
	})
	p.untouched(before)
	want(t, p.send(foreign, "POST", people, url.Values{"email": {"learner@example.com"}}), 422, "belongs to nobody in this school")
	want(t, p.send(p.owner, "GET", appsPath+"/1", nil), 200, "Ledger", "Active")
	want(t, p.send(p.owner, "GET", keysPath, nil), 200, "Nightly", "Revoke…")
}

// B1, B2, B13: no page can be framed, loads anything foreign or is cached. The function send
// checks the headers in every response of the other tests; this test covers all pages,
// including those that are rejected.
func TestB1B2B13EveryPage(t *testing.T) {
	p := open(t, site)
	pages := 0
	p.every(func(method, path string) {
		for _, session := range []string{"", "x", p.learner, p.owner} {
			checkHeaders(t, method+" "+path, p.send(session, "GET", path, nil))
			checkHeaders(t, method+" "+path, p.send(session, "PUT", path, nil))
			pages++
		}
	})
	if pages < 80 {
		t.Errorf("only %d pages were looked at", pages)
	}
	checkHeaders(t, "another site", p.send(p.owner, "POST", appsPath, nil, "Sec-Fetch-Site", "cross-site"))
}

func TestSignedOutForAWhile(t *testing.T) {
	p := open(t, site)
	p.clock.Pass(access.SessionIdle)
	leads(t, p.send(p.owner, "GET", keysPath, nil), signIn+url.QueryEscape(keysPath))
	w := p.send(p.owner, "GET", keysPath, nil, "HX-Request", "true")
	if got := w.Header().Get("Hx-Redirect"); w.Code != 200 || got != signIn+url.QueryEscape(keysPath) {
		t.Errorf("htmx is led to %q", got)
	}
}

func TestFirstRoom(t *testing.T) {
	p := open(t, site)
	p.register("Ledger", "https://app.example.com/cb", "1")
	w := p.send(p.owner, "GET", "/admin", nil)
	want(t, w, 200, "Northwind Academy", "School 1", "owner@example.com", "Four steps to get started",
		"http://api.example.com", "http://school.example.com/secure/1/identity/oauth_provider/authorize",
		"http://api.example.com/v1/current_user/oauth2/token", "http://api.example.com/v2/current_user/oauth2/token", `href="/docs"`,
		`href="/admin" aria-current="page"`)
}

// B6: forms from other sites have no effect.
func TestB6FormsOfOtherSites(t *testing.T) {
	p := open(t, site)
	var before state
	p.every(func(method, to string) {
		if before.entries == 0 {
			before = p.state()
		}
		if method == "GET" {
			return
		}
		for _, header := range [][]string{
			{"Sec-Fetch-Site", "cross-site"},
			{"Sec-Fetch-Site", "same-site"},
			{"Origin", "https://evil.example.com"},
			{"Origin", "null"},
		} {
			form := url.Values{"name": {"Evil"}, "redirect_url": {"https://evil.example.com/"}, "version": {"1"}, "keep": {"0"}, "permissions": {"read"}, "email": {"owner@example.com"}}
			want(t, p.send(p.owner, "POST", to, form, header...), 403, "another site")
		}
	})
	p.untouched(before)
	path := appsPath + "/1"
	want(t, p.send(p.owner, "GET", path, nil), 200, "Ledger", "Active")
	w := p.send(p.owner, "POST", path+"/disable", url.Values{}, "Sec-Fetch-Site", "same-origin")
	leads(t, w, path+"?done=disabled")
	w = p.send(p.owner, "POST", path+"/enable", url.Values{}, "Origin", "http://example.com") // the recorder's host
	leads(t, w, path+"?done=enabled")
}

func TestLargeAndBrokenForms(t *testing.T) {
	p := open(t, site)
	want(t, p.send(p.owner, "POST", appsPath, url.Values{"name": {strings.Repeat("x", 70<<10)}}), 413, "The form is larger than 64 kilobytes", `href="`+appsPath+`/new?done=too-large"`)
	r := p.send(p.owner, "POST", keysPath, nil, "Content-Type", "application/x-www-form-urlencoded")
	want(t, r, 422, "Name must be 1 to 100 characters long")
}

// A query that cannot be decoded is rejected, instead of being treated as if it had fewer
// parameters.
func TestBrokenQueries(t *testing.T) {
	p := open(t, site)
	p.every(func(method, path string) {
		for _, query := range []string{"from=%zz", "%=1", "state=a%f", "user_id=1;from=2026-01-01"} {
			want(t, p.send(p.owner, method, path+"?"+query, url.Values{}), 422, "a percent sign must be followed by two hexadecimal digits")
		}
	})
}

func TestStoreThatIsGone(t *testing.T) {
	p := open(t, site)
	if err := p.store.Close(); err != nil {
		t.Fatal(err)
	}
	w := p.send(p.owner, "GET", "/admin", nil)
	if w.Code != 500 && w.Code != 503 {
		t.Errorf("status %d", w.Code)
	}
	if strings.Contains(w.Body.String(), "sql") {
		t.Errorf("the page tells what is inside: %s", plain(w.Body.String()))
	}
}

// What is shown once is not in any later response, URL, file or log.
func TestNoSecretIsKept(t *testing.T) {
	p := open(t, site)
	var secrets []string
	_, id, appSecret := p.register("Ledger", "https://app.example.com/cb", "1")
	w := p.send(p.owner, "POST", appsPath+"/1/rotate", p.form(appsPath+"/1", "keep", "1h"))
	secrets = append(secrets, appSecret, secret.FindString(w.Body.String()))
	w = p.send(p.owner, "POST", keysPath, p.form(keysPath+"/new", "name", "Report", "permissions", "read"))
	secrets = append(secrets, key.FindString(w.Body.String()))
	hook, signing := p.hook()
	w = p.send(p.owner, "POST", hook+"/rotate", p.form(hook+"/rotate"))
	secrets = append(secrets, signing, signs.FindString(w.Body.String()))
	form := p.form(people, "email", "learner@example.com")
	w = p.send(p.owner, "POST", people, form)
	secrets = append(secrets, link.FindString(w.Body.String()), p.owner)
	leads(t, p.send(p.owner, "POST", people, form), people+"?done=linked")

	var after bytes.Buffer
	for path, methods := range console.Routes() {
		if slices.Contains(methods, "GET") {
			w := p.send(p.owner, "GET", addresses.Replace(path), nil)
			after.Write(w.Body.Bytes())
			fmt.Fprintln(&after, w.Header())
		}
	}
	if err := p.store.Close(); err != nil { // and with it the write-ahead log
		t.Fatal(err)
	}
	p.send(p.owner, "POST", keysPath, url.Values{"name": {"x"}}) // so that something is logged
	if p.log.Len() == 0 {
		t.Error("nothing is in the log")
	}
	var kept []byte
	files, err := os.ReadDir(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(p.dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, text...)
	}
	if !bytes.Contains(kept, []byte(id)) {
		t.Fatal("the files do not even have the client id")
	}
	for _, s := range secrets {
		for place, text := range map[string][]byte{"the files of the database": kept, "a later page": after.Bytes(), "the log": p.log.Bytes()} {
			if s == "" || bytes.Contains(text, []byte(s)) {
				t.Errorf("%s has the secret %q", place, s)
			}
		}
	}
}

func TestTheJournalNamesTheOwner(t *testing.T) {
	p := open(t, site)
	p.register("Ledger", "https://app.example.com/cb", "1")
	p.send(p.owner, "POST", keysPath, p.form(keysPath+"/new", "name", "Report", "permissions", "read"))
	if actors := p.actors(); actors["user:1"] < 2 {
		t.Errorf("the journal has %v, want entries of user:1", actors)
	}
}

// Days in filters, and times on pages, are in the school's time zone.
func TestDaysOfTheSchool(t *testing.T) {
	p := open(t, site)
	p.market()
	p.write(func(tx lyceum.Tx) error {
		return tx.ChangeSchool(func(s *lyceum.School) { s.TimeZone = "America/Sao_Paulo" })
	})
	for _, at := range []string{"2018-11-04T02:59:59Z", "2018-11-04T03:00:00Z", "2018-11-05T01:59:59Z", "2018-11-05T02:00:00Z"} {
		now, _ := time.Parse(time.RFC3339, at)
		p.clock.Set(now)
		p.sell(1, 11)
	}
	p.session()
	for _, tc := range []struct{ query, sales string }{ // clocks there jumped from midnight to one
		{"from=2018-11-04&until=2018-11-04", "3 2"}, {"until=2018-11-03", "1"}, {"from=2018-11-05", "4"},
	} {
		if got := salesOn(p.send(p.owner, "GET", transactions+"?"+tc.query, nil)); got != tc.sales {
			t.Errorf("%s has the sales %s, want %s", tc.query, got, tc.sales)
		}
	}
	want(t, p.send(p.owner, "GET", transactions, nil), http.StatusOK, "Times are in America/Sao_Paulo.",
		`<time datetime="2018-11-04T02:59:59Z">`, "3 Nov 2018 23:59", "4 Nov 2018 01:00")
	want(t, p.send(p.owner, "GET", "/admin/sales/2", nil), http.StatusOK, "4 Nov 2018, 01:00 UTC-02")
	want(t, p.send(p.owner, "GET", "/admin", nil), http.StatusOK, "Time zone", "America/Sao_Paulo")
}

func TestTimesAreUTC(t *testing.T) {
	p := open(t, site)
	p.clock.Set(time.Date(2026, 3, 14, 23, 30, 0, 0, time.FixedZone("x", -3*3600)))
	session, _, err := p.admitted(t.Context(), 1, "owner@example.com")
	if err != nil {
		t.Fatal(err)
	}
	p.owner = session
	path, _, _ := p.register("Ledger", "https://app.example.com/cb", "1")
	want(t, p.send(p.owner, "GET", path, nil), http.StatusOK, `<time datetime="2026-03-15T02:30:00Z">`, "15 Mar 2026, 02:30 UTC")
}
