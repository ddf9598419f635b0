package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/contract"
	"github.com/lyceum-school/lyceum/internal/inbound/console"
	"github.com/lyceum-school/lyceum/internal/inbound/oauth"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/bulk"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// campus is a complete server of two schools, including its pages. Each school has an owner, a
// learner and an app of each version.
type campus struct {
	ran              *atomic.Int64 // statements so far
	driver, database string        // to open the database a second time
	http.Handler
	options  server.Options
	store    lyceum.Store
	clock    *storetest.Clock
	log      *logbook
	oauth    *access.OAuth
	accounts *access.Accounts
	apps     *access.Apps
	ours     *campusSchool
	theirs   *campusSchool
}

// campusSchool is one school of a campus.
type campusSchool struct {
	id      lyceum.SchoolID
	key     string
	learner *browser
	clients map[lyceum.InterfaceVersion]credentials
}

type credentials struct {
	app        lyceum.OAuthApp
	id, secret string
}

const (
	learnerID    lyceum.UserID = 1007 // larger than those of the ledger
	ownerID      lyceum.UserID = 1001
	learnerEmail               = "mira@example.com"
	ownerEmail                 = "owner@example.com"
	goodPassword               = "four words that differ"
	callbackURL                = "https://app.example.com/callback?from=school"
	baseURL                    = "https://school.example.com"
	authURL                    = "https://people.example.com"
)

// onBothEngines runs a test on SQLite and, if available, on PostgreSQL.
func onBothEngines(t *testing.T, test func(*testing.T, *campus)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, newCampus(t)) })
	t.Run("postgres", func(t *testing.T) {
		var ran atomic.Int64
		address := storetest.Postgres(t)
		store, err := sqlstore.OpenPostgres(t.Context(), address, sqlstore.Options{Trace: func(string) { ran.Add(1) }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		c := campusOver(t, store)
		c.ran, c.driver, c.database = &ran, "pgx", address
		test(t, c)
	})
}

func newCampus(t *testing.T) *campus {
	t.Helper()
	var ran atomic.Int64
	dir := t.TempDir()
	store, err := sqlstore.Open(t.Context(), dir, sqlstore.Options{Trace: func(string) { ran.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	c := campusOver(t, store)
	c.ran, c.driver, c.database = &ran, "sqlite", "file:"+filepath.Join(dir, sqlstore.FileName)
	return c
}

func campusOver(t *testing.T, store lyceum.Store) *campus {
	t.Helper()
	c := &campus{store: store, clock: storetest.NewClock(storetest.Begin), log: &logbook{}}
	log := slog.New(slog.NewJSONHandler(c.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c.oauth = access.NewOAuth(store, c.clock.Now)
	c.accounts = access.NewAccounts(store, c.clock.Now, c.oauth, nil)
	c.apps = access.NewApps(store, c.clock.Now, c.oauth, false)
	keys := access.NewKeys(store, c.clock.Now)
	at := web.Site{BaseURL: baseURL, AuthURL: authURL}
	rules := rulesOver(store, c.clock.Now)
	rooms, err := oauth.Pages(oauth.Options{
		Sales: rules.Sales, People: rules.People, Doors: people.Doors{Forget: c.accounts.Forget},
		Site: at, School: storetest.School(store), OnlySchool: func(context.Context) (lyceum.SchoolID, bool) { return 0, false },
		OAuth: c.oauth, Accounts: c.accounts, Apps: c.apps, Emails: templatesOver(store, c.clock.Now, nil), Log: log, Clock: c.clock.Now, Learning: learning.New(store, c.clock.Now),
	})
	if err != nil {
		t.Fatal(err)
	}
	owner, err := console.New(console.Options{
		Site: at, School: storetest.School(store), Accounts: c.accounts, Apps: c.apps, Keys: keys,
		Sales: rules.Sales, Names: store, Log: log, Clock: c.clock.Now, Learning: rules.Learning,
		Bulk: bulk.New(store, c.clock.Now, rules.Learning, rules.People, access.StillStartsBulk),
	})
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(rooms, map[string]http.Handler{"/assets/": web.Assets(), "/admin": owner, "/admin/": owner})
	c.options = server.Options{
		Faces: facesOver(store, c.clock.Now, c.oauth),
		Keys:  keys, OAuth: c.oauth, Pages: rooms, Limiter: access.NewLimiter(0, c.clock.Now), Reference: http.NotFoundHandler(), Ready: store.Ping,
		Metrics: server.NewMetrics("v1.2.3"), MetricsToken: "metrics", Log: log, AccessLog: true, HTTPS: true,
		Cache: server.NewCache(store, 32<<20, c.clock.Now),
	}
	c.Handler = server.Handler(c.options)
	c.ours, c.theirs = c.found(t, 1), c.found(t, 2)
	return c
}

// goodHash is computed once, because hashing is deliberately expensive.
var goodHash = sync.OnceValue(func() string { return access.HashPassword(goodPassword, [16]byte{1}) })

// found creates a school with its users and apps.
func (c *campus) found(t *testing.T, seed uint64) *campusSchool {
	t.Helper()
	p := &campusSchool{id: storetest.MakeSchool(t, c.store), clients: map[lyceum.InterfaceVersion]credentials{}}
	storetest.Ledger(t, c.store, p.id, seed, 5)
	hash := lyceum.Some(goodHash())
	err := c.store.Write(t.Context(), lyceum.Stamp{School: p.id, At: c.clock.Now(), Actor: "test"}, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, []lyceum.User{
			{ID: ownerID, Email: ownerEmail, Role: lyceum.Owner, PasswordHash: hash, CreatedAt: c.clock.Now()},
			{ID: learnerID, Email: learnerEmail, Name: lyceum.Some("Mira Okafor"), Role: lyceum.Student, PasswordHash: hash, CreatedAt: c.clock.Now()},
		}...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []lyceum.InterfaceVersion{lyceum.V1, lyceum.V2} {
		p.clients[version] = c.register(t, p.id, access.AppForm{Name: "Ledger", RedirectURL: callbackURL, Version: version})
	}
	if _, p.key, err = c.options.Keys.Create(t.Context(), lyceum.By{School: p.id, Actor: "test"}, "test", lyceum.Read|lyceum.Write, access.NewEntropy()); err != nil {
		t.Fatal(err)
	}
	return p
}

func (c *campus) register(t *testing.T, school lyceum.SchoolID, form access.AppForm) credentials {
	t.Helper()
	app, secret, err := c.apps.Register(t.Context(), lyceum.By{School: school, Actor: "test"}, form)
	if err != nil {
		t.Fatal(err)
	}
	return credentials{app, app.ClientID, secret}
}

func (c *campus) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	return w
}

// browser is a user's browser: it keeps cookies and sends a referer.
type browser struct {
	c       *campus
	cookies map[string]string
	referer string
}

func (c *campus) browse() *browser { return &browser{c: c, cookies: map[string]string{}} }

func (b *browser) send(r *http.Request) *httptest.ResponseRecorder {
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	if b.referer != "" {
		r.Header.Set("Referer", b.referer)
	}
	w := b.c.do(r)
	for _, cookie := range w.Result().Cookies() {
		if b.cookies[cookie.Name] = cookie.Value; cookie.MaxAge < 0 {
			delete(b.cookies, cookie.Name)
		}
	}
	return w
}

func (b *browser) get(path string, headers ...string) *httptest.ResponseRecorder {
	return b.send(request(http.MethodGet, path, nil, headers...))
}

func (b *browser) post(path string, form url.Values, headers ...string) *httptest.ResponseRecorder {
	return b.send(request(http.MethodPost, path, strings.NewReader(form.Encode()), append(headers, "Content-Type: application/x-www-form-urlencoded")...))
}

// signIn signs a user in to a school.
func (b *browser) signIn(t *testing.T, p *campusSchool, email string) {
	t.Helper()
	w := b.post(p.path("sign_in"), url.Values{"email": {email}, "password": {goodPassword}})
	if w.Code != http.StatusSeeOther {
		t.Fatalf("sign-in is a %d: %s", w.Code, w.Body)
	}
}

func (p *campusSchool) path(page string) string {
	return fmt.Sprintf("/secure/%d/identity/%s", p.id, page)
}

// authorize returns the path of the authorization page for an app, with a query that change may
// modify.
func (p *campusSchool) authorize(version lyceum.InterfaceVersion, change ...func(url.Values)) string {
	scopes := map[lyceum.InterfaceVersion]string{lyceum.V1: "name:read", lyceum.V2: "profile:read"}
	query := url.Values{
		"client_id": {p.clients[version].id}, "response_type": {"code"}, "required_scopes": {scopes[version]}, "optional_scopes": {"courses:read"}, "state": {"xyz"},
	}
	for _, c := range change {
		c(query)
	}
	return p.path("oauth_provider/authorize") + "?" + query.Encode()
}

func set(name, value string) func(url.Values)  { return func(q url.Values) { q.Set(name, value) } }
func also(name, value string) func(url.Values) { return func(q url.Values) { q.Add(name, value) } }
func without(name string) func(url.Values)     { return func(q url.Values) { q.Del(name) } }

var sealedRequest = regexp.MustCompile(`name="request" value="([^"]*)"`)

// consent returns the form that the consent page at a path would submit with Authorize.
func (b *browser) consent(t *testing.T, path string) url.Values {
	t.Helper()
	w := b.get(path)
	found := sealedRequest.FindStringSubmatch(w.Body.String())
	if w.Code != http.StatusOK || found == nil {
		t.Fatalf("there is no consent page: %d to %s: %s", w.Code, w.Header().Get("Location"), w.Body)
	}
	return url.Values{"request": {html.UnescapeString(found[1])}, "answer": {"authorize"}}
}

// code takes a signed-in learner through consent and returns the code.
func (b *browser) code(t *testing.T, p *campusSchool, version lyceum.InterfaceVersion, change ...func(url.Values)) string {
	t.Helper()
	form := b.consent(t, p.authorize(version, change...))
	form.Add("scope", "courses:read")
	w := b.post(p.path("oauth_provider/authorize"), form)
	return arrivedAt(t, w).Get("code")
}

// learnerCode returns a code for the learner, who is signed in first if necessary.
func (c *campus) learnerCode(t *testing.T, p *campusSchool, version lyceum.InterfaceVersion, change ...func(url.Values)) string {
	t.Helper()
	if p.learner == nil {
		p.learner = c.browse()
	}
	if p.learner.get("/account/apps").Code != http.StatusOK {
		p.learner.signIn(t, p, learnerEmail)
	}
	return p.learner.code(t, p, version, change...)
}

// arrivedAt returns the parameters of the redirect to the app.
func arrivedAt(t *testing.T, w *httptest.ResponseRecorder) url.Values {
	t.Helper()
	location := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || !strings.HasPrefix(location, callbackURL+"&") {
		t.Fatalf("%d leads to %q: %s", w.Code, location, w.Body)
	}
	to, err := url.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	return to.Query()
}

// encodings are the two ways to write a token request.
var encodings = map[string]func(pairs url.Values) (body, kind string){
	"form": func(v url.Values) (string, string) { return v.Encode(), "application/x-www-form-urlencoded" },
	"json": func(v url.Values) (string, string) {
		flat := map[string]string{}
		for name := range v {
			flat[name] = v.Get(name)
		}
		text, _ := json.Marshal(flat) // only strings, which cannot fail
		return string(text), "application/json"
	},
}

// token sends a request to a token endpoint, such as token or revoke, in an encoding.
func (c *campus) token(t testing.TB, version lyceum.InterfaceVersion, endpoint, encoding string, pairs url.Values, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	body, kind := encodings[encoding](pairs)
	path := fmt.Sprintf("/v%d/current_user/oauth2/%s", version, endpoint)
	w := c.do(request(http.MethodPost, path, strings.NewReader(body), append(headers, "Content-Type: "+kind)...))
	wantOf(t, http.MethodPost, path, w)
	return w
}

// exchangeOf returns a valid request for tokens.
func exchangeOf(client credentials, code string, change ...func(url.Values)) url.Values {
	pairs := url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callbackURL}, "client_id": {client.id}, "client_secret": {client.secret},
	}
	for _, c := range change {
		c(pairs)
	}
	return pairs
}

type tokenResponse struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	RefreshToken string `json:"refresh_token"`
	ExpiresIn    int    `json:"expires_in"`
	Scope        string `json:"scope"`
}

// tokens goes through the whole flow to tokens.
func (c *campus) tokens(t *testing.T, p *campusSchool, version lyceum.InterfaceVersion) tokenResponse {
	t.Helper()
	w := c.token(t, version, "token", "form", exchangeOf(p.clients[version], c.learnerCode(t, p, version)))
	wantStatus(t, w, http.StatusOK)
	var response tokenResponse
	if err := json.Unmarshal(w.Body.Bytes(), &response); err != nil {
		t.Fatal(err)
	}
	return response
}

func (c *campus) me(t testing.TB, version lyceum.InterfaceVersion, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	path := fmt.Sprintf("/v%d/current_user/me", version)
	w := c.do(request(http.MethodGet, path, nil, headers...))
	wantOf(t, http.MethodGet, path, w)
	return w
}

// wantError compares a response with a status and an OAuth error code.
func wantError(t testing.TB, w *httptest.ResponseRecorder, status int, word string) {
	t.Helper()
	var body struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != status || body.Error != word || body.Description == "" {
		t.Errorf("got %d %s, want %d %s", w.Code, w.Body, status, word)
	}
	if w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("an error may be kept: %q", w.Header().Get("Cache-Control"))
	}
}

// contracts are the documents by their names, changed so that responses may not contain
// anything that they do not define.
var contracts = func() map[string]*openapi3.T {
	all := map[string]*openapi3.T{}
	for _, d := range contract.All() {
		document, err := openapi3.NewLoader().LoadFromData(d.JSON)
		if err != nil {
			panic(err)
		}
		for _, item := range document.Paths.Map() {
			for _, op := range item.Operations() {
				for _, response := range op.Responses.Map() {
					for _, media := range response.Value.Content {
						closeSchema(media.Schema)
					}
				}
			}
		}
		all[d.Name] = document
	}
	return all
}()

func closeSchema(ref *openapi3.SchemaRef) {
	if ref == nil {
		return
	}
	s := ref.Value
	closeSchema(s.Items)
	for _, inner := range s.AllOf {
		closeSchema(inner)
	}
	for _, property := range s.Properties {
		closeSchema(property)
	}
	if len(s.Properties) > 0 {
		s.AdditionalProperties.Has = new(bool)
	}
}

// wantOf compares a response with the contract of its operation.
func wantOf(t testing.TB, method, path string, w *httptest.ResponseRecorder) {
	t.Helper()
	operation := contracts[strings.Split(path, "/")[1]].Paths.Value(path).GetOperation(method)
	response := operation.Responses.Status(w.Code)
	if response == nil {
		t.Errorf("%s %s: %d is not in the contract: %s", method, path, w.Code, w.Body)
		return
	}
	if len(response.Value.Content) == 0 {
		if w.Body.Len() > 0 {
			t.Errorf("%s %s: %d has a body: %s", method, path, w.Code, w.Body)
		}
		return
	}
	media := response.Value.Content.Get(w.Header().Get("Content-Type"))
	var value any
	if err := json.Unmarshal(w.Body.Bytes(), &value); err != nil || media == nil {
		t.Errorf("%s %s: %d is %q: %v in %s", method, path, w.Code, w.Header().Get("Content-Type"), err, w.Body)
		return
	}
	if err := media.Schema.Value.VisitJSON(value, openapi3.VisitAsResponse(), openapi3.EnableFormatValidation()); err != nil {
		t.Errorf("%s %s: %d is not the contract's: %v\n%s", method, path, w.Code, err, w.Body)
	}
}
