package console_test

import (
	"bytes"
	"context"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/console"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/bulk"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	users "github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/reports"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

const (
	appsPath = "/admin/settings/oauth-apps"
	keysPath = "/admin/settings/api-keys"
	people   = "/admin/people"
	signIn   = "/secure/sign_in?next="
	password = "four words that rhyme"
)

// place is a server with one or more schools, and sessions of users.
type place struct {
	t        *testing.T
	dir      string // of the database
	store    lyceum.Store
	oauth    *access.OAuth
	accounts *access.Accounts
	apps     *access.Apps
	keys     *access.Keys
	sales    *sales.Service
	learning *learning.Service
	bulk     *bulk.Service
	events   *events.Service
	handler  http.Handler
	options  console.Options
	log      bytes.Buffer // what the console writes to the server's log
	clock    *storetest.Clock

	owner, learner string // sessions in school 1
	stale          bool   // sessions are not confirmed again when time passes
}

var site = web.Site{BaseURL: "http://api.example.com", AuthURL: "http://school.example.com"}

func open(t *testing.T, at web.Site, change ...func(*console.Options)) *place {
	t.Helper()
	dir := t.TempDir()
	store, err := sqlstore.Open(t.Context(), dir, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	p := &place{t: t, dir: dir, store: store, clock: storetest.NewClock(time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC))}
	p.oauth = access.NewOAuth(store, p.clock.Now)
	p.accounts = access.NewAccounts(store, p.clock.Now, p.oauth, nil)
	p.apps = access.NewApps(store, p.clock.Now, p.oauth, false)
	p.keys = access.NewKeys(store, p.clock.Now)
	p.accounts.Keys = p.keys
	p.learning = learning.New(store, p.clock.Now)
	p.sales = sales.New(store, p.clock.Now, p.learning, users.New(store, p.clock.Now))
	p.bulk = bulk.New(store, p.clock.Now, p.learning, users.New(store, p.clock.Now), access.StillStartsBulk)
	p.events = newEvents(p)
	p.addSchool("Northwind Academy")
	p.owner = p.signIn(1, "owner@example.com", lyceum.Owner)
	p.learner = p.signIn(1, "learner@example.com", lyceum.Student)
	options := console.Options{
		Site: at, School: storetest.School(store), Accounts: p.accounts, Apps: p.apps, Keys: p.keys,
		Sales: p.sales, Names: store, Events: p.events, Learning: p.learning, Bulk: p.bulk,
		People: users.New(store, p.clock.Now), Doors: p.doors(), Emails: p.emails(nil),
		Reports: &reports.Service{Store: store, Clock: p.clock.Now}, Failures: access.NewFailures(store, p.clock.Now),
		Staff: &access.Staff{Store: store, Clock: p.clock.Now, Accounts: p.accounts, People: users.New(store, p.clock.Now)},
		Clock: p.clock.Now, Log: slog.New(slog.NewTextHandler(&p.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	p.options = options
	p.remake(change...)
	return p
}

// remake builds the pages again with other options.
func (p *place) remake(change ...func(*console.Options)) {
	p.t.Helper()
	for _, c := range change {
		c(&p.options)
	}
	var err error
	if p.handler, err = console.New(p.options); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) doors() users.Doors {
	return users.Doors{
		Left: p.accounts.EndedAccess, Close: p.learning.Close, StillErases: access.StillErases,
		Backups: func(context.Context, lyceum.SchoolID, lyceum.UserID) ([]lyceum.Backup, error) {
			return []lyceum.Backup{{Path: "/backups/lyceum.db", LastDay: p.clock.Now(), Files: "/backups/backup-files"}}, nil
		},
	}
}

func (p *place) addSchool(name string) lyceum.SchoolID {
	p.t.Helper()
	school, err := p.store.CreateSchool(p.t.Context(), lyceum.School{Name: name, CreatedAt: p.clock.Now()}, "test")
	if err != nil {
		p.t.Fatal(err)
	}
	return school.ID
}

// passwordHash is computed once, because that takes long.
var passwordHash = sync.OnceValue(func() string { return access.HashPassword(password, [16]byte{1}) })

// signIn creates a user and returns the session of their first sign-in.
func (p *place) signIn(school lyceum.SchoolID, email string, role lyceum.Role) string {
	p.t.Helper()
	var id lyceum.UserID
	err := p.store.Write(p.t.Context(), lyceum.Stamp{School: school, At: p.clock.Now(), Actor: "test"}, func(tx lyceum.Tx) error {
		var err error
		if id, err = tx.Users.NextID(tx); err != nil {
			return err
		}
		_, err = tx.Users.Save(tx, lyceum.User{
			ID: id, Email: email, Role: role, PasswordHash: lyceum.Some(passwordHash()), CreatedAt: p.clock.Now(),
		})
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	session, _, err := p.admitted(p.t.Context(), school, email)
	if err != nil {
		p.t.Fatal(err)
	}
	return session
}

// send sends a request with a session, and checks what must be true of every response of the
// console.
func (p *place) send(session, method, path string, form url.Values, headers ...string) *httptest.ResponseRecorder {
	p.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if session != "" {
		p.confirm(session)
		r.AddCookie(&http.Cookie{Name: "lyceum", Value: session})
	}
	w := httptest.NewRecorder()
	p.handler.ServeHTTP(w, r)
	checkHeaders(p.t, method+" "+path, w)
	return w
}

// confirm keeps a session fresh.
func (p *place) confirm(session string) {
	school, ok := access.SchoolOfSession(session)
	if !ok || p.stale {
		return
	}
	if fresh, err := p.accounts.Fresh(p.t.Context(), school, session); err != nil || fresh {
		return
	}
	storetest.Write(p.t, p.store, school, func(tx lyceum.Tx) error {
		kept, err := tx.Sessions.Get(tx, access.HashSecret(session))
		if err != nil {
			return err
		}
		kept.ConfirmedAt = p.clock.Now()
		return tx.Sessions.Update(tx, kept)
	})
}

func checkHeaders(t *testing.T, what string, w *httptest.ResponseRecorder) {
	t.Helper()
	for name, want := range map[string]string{
		"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "same-origin",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %s is %q, want %q", what, name, got, want)
		}
	}
	policy := w.Header().Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "script-src 'self'", "style-src 'self'", "form-action 'self';"} {
		if !strings.Contains(policy, want) {
			t.Errorf("%s: no %s in policy %q", what, want, policy)
		}
	}
	body := w.Body.String()
	kind, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
	file := kind == "text/csv" || kind == "application/zip"
	if w.Code != http.StatusSeeOther && w.Body.Len() > 0 && !file && !strings.HasPrefix(body, "<!doctype html>") {
		t.Errorf("%s: the answer is no page: %.80s", what, body)
	}
	if file { // it is downloaded, and nosniff prevents any other interpretation
		return
	}
	for _, foreign := range []string{"<script>", "<style", "style=\"", "http-equiv"} {
		if strings.Contains(body, foreign) {
			t.Errorf("%s: the page has %s, which its policy forbids", what, foreign)
		}
	}
	for _, found := range loads.FindAllStringSubmatch(body, -1) {
		if !strings.HasPrefix(found[1], "/") && !strings.HasPrefix(found[1], "#") || strings.HasPrefix(found[1], "//") {
			t.Errorf("%s: the page has the foreign address %s", what, found[1])
		}
	}
	if handler := handles.FindString(body); handler != "" {
		t.Errorf("%s: the page has %s, which its policy forbids", what, handler)
	}
}

// want fails unless a response has the status and its page, as a person reads it, contains all
// the texts.
func want(t *testing.T, w *httptest.ResponseRecorder, status int, texts ...string) {
	t.Helper()
	if w.Code != status {
		t.Fatalf("status %d, want %d: %s %s", w.Code, status, w.Header().Get("Location"), plain(w.Body.String()))
	}
	body := w.Body.String()
	for _, text := range texts {
		if !strings.Contains(body, text) && !strings.Contains(plain(body), text) {
			t.Errorf("no %q in %s", text, plain(body))
		}
	}
}

// leads fails unless a response redirects to the given address.
func leads(t *testing.T, w *httptest.ResponseRecorder, to string) {
	t.Helper()
	if got := w.Header().Get("Location"); w.Code != http.StatusSeeOther || got != to {
		t.Fatalf("status %d to %q, want 303 to %q: %s", w.Code, got, to, plain(w.Body.String()))
	}
}

var (
	loads   = regexp.MustCompile(`<[^>]* (?:src|href|action|formaction|srcset|poster|data)="([^"]*)"`)
	handles = regexp.MustCompile(`<[^>]* on[a-z]+=`)
	tags    = regexp.MustCompile(`<[^>]*>`)
	spaces  = regexp.MustCompile(`[\s\x{A0}]+`)
	once    = regexp.MustCompile(`name="form" value="([^"]+)"`)
	secret  = regexp.MustCompile(`lyceum_secret_\w+`)
	client  = regexp.MustCompile(`lyceum_app_\w+`)
	key     = regexp.MustCompile(`lyceum_key_\w+`)
	signs   = regexp.MustCompile(`whsec_[\w+/=]+`)
	link    = regexp.MustCompile(`lyceum_link_\w+`)
)

// addresses fills in the parameters of the console's routes.
var addresses = strings.NewReplacer("{id}", "1", "{type}", "course", "{product}", "1", "{delivery}", "1", "{name}", "receipt", "{$}", "")

func plain(page string) string {
	return strings.TrimSpace(spaces.ReplaceAllString(html.UnescapeString(tags.ReplaceAllString(page, "")), " "))
}

// form returns a filled-in form, with the name it has on the page at path.
func (p *place) form(path string, pairs ...string) url.Values {
	p.t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	if found := once.FindStringSubmatch(p.send(p.owner, "GET", path, nil).Body.String()); found != nil {
		values.Set("form", found[1])
	}
	return values
}

// register registers an app through the console and returns its path, client id and secret.
func (p *place) register(name, redirect, version string) (path, clientID, clientSecret string) {
	p.t.Helper()
	w := p.send(p.owner, "POST", appsPath, p.form(appsPath+"/new", "name", name, "redirect_url", redirect, "version", version))
	want(p.t, w, http.StatusOK, "Copy the client secret now")
	body := w.Body.String()
	return appsPath + regexp.MustCompile(appsPath + `(/\d+)`).FindStringSubmatch(body)[1], client.FindString(body), secret.FindString(body)
}

// holds reports whether the token endpoint of a version accepts client credentials: an invalid
// code of a valid client is invalid_grant, of an invalid one invalid_client.
func (p *place) holds(version lyceum.InterfaceVersion, id, clientSecret string) bool {
	p.t.Helper()
	_, err := p.oauth.Exchange(p.t.Context(), access.Client{Version: version, ID: id, Secret: clientSecret, From: "192.0.2.1"}, "no code", "", "")
	switch code := lyceum.Public(err).Code; code {
	case "invalid_grant":
		return true
	case "invalid_client":
		return false
	default:
		p.t.Fatalf("exchange fails with %q: %v", code, err)
		return false
	}
}

// actors returns the number of entries of each actor in the journal of school 1.
func (p *place) actors() map[string]int {
	p.t.Helper()
	entries, err := storetest.FindEntries(p.t.Context(), p.store, 1, 0, 1000)
	if err != nil {
		p.t.Fatal(err)
	}
	actors := map[string]int{}
	for i := range entries {
		actors[entries[i].Actor]++
	}
	return actors
}

// admitted starts a session, as the sign-in page does.
func (p *place) admitted(ctx context.Context, school lyceum.SchoolID, email string) (string, lyceum.User, error) {
	in, err := p.accounts.SignIn(ctx, access.Attempt{
		School: school, Email: email, Password: password, From: netip.MustParseAddr("192.0.2.1"),
	})
	return in.Session, in.User, err
}
