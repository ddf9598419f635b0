package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/contract"
	"github.com/lyceum-school/lyceum/internal/inbound/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/front"
	"github.com/lyceum-school/lyceum/internal/inbound/oauth"
	"github.com/lyceum-school/lyceum/internal/inbound/reference"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/outbound/webhook"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/bulk"
	"github.com/lyceum-school/lyceum/internal/rules/clock"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/reports"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
	"github.com/lyceum-school/lyceum/internal/storage/files"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestMain fails if a goroutine of the server outlives the tests.
func TestMain(m *testing.M) {
	code := m.Run()
	var left string
	for range 100_000 { // goroutines that are ending may need a moment
		if left = leftovers(); left == "" {
			break
		}
		runtime.Gosched()
	}
	if left != "" && code == 0 {
		fmt.Fprintln(os.Stderr, "goroutines outlive the tests:\n"+left)
		code = 1
	}
	os.Exit(code)
}

func leftovers() string {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	var left []string
	for _, stack := range strings.Split(string(stacks), "\n\n") {
		if strings.Contains(stack, "lyceum/internal/") && !strings.Contains(stack, "server_test.TestMain") || strings.Contains(stack, "net/http.(*conn).serve") {
			left = append(left, stack)
		}
	}
	return strings.Join(left, "\n\n")
}

// logbook collects what a server logs.
type logbook struct{ storetest.Log }

// lines returns the lines with a message.
func (l *logbook) lines(t *testing.T, message string) (found []map[string]any) {
	t.Helper()
	for text := range strings.Lines(l.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%v in the log line %q", err, text)
		}
		if line["msg"] == message {
			found = append(found, line)
		}
	}
	return found
}

// site is a server of two schools with everything it depends on. Ours has 30 sales, theirs 3.
type site struct {
	http.Handler
	options server.Options
	dir     string
	store   lyceum.Store
	clock   *storetest.Clock
	log     *logbook
	ours    lyceum.SchoolID
	theirs  lyceum.SchoolID
	key     string // a key of ours with read permission
}

const (
	ourSales   = 30
	theirSales = 3
)

// rulesOver returns the rules that the v1 face calls.
func rulesOver(store lyceum.Store, now func() time.Time) apiv1.Rules {
	return apiv1.Rules{
		Sales: sales.New(store, now, learning.New(store, now), people.New(store, now)), Learning: learning.New(store, now).SignLinks(lyceum.NewKeyring(lyceum.SecretKey{}), "https://school.example.com").KeepFiles(files.NewFolder(filepath.Join(os.TempDir(), "no-files"))), People: people.New(store, now), Events: events.New(store, now, webhookOptions()),
	}
}

// templatesOver returns the email templates of schools on a server that sends with the given
// function.
func templatesOver(store lyceum.Store, now func() time.Time, send templates.Send) *templates.Service {
	return templates.New(store, now, templates.Options{
		Ring: lyceum.NewKeyring(lyceum.SecretKey{}), Log: slog.New(slog.DiscardHandler), Send: send,
	})
}

// doorsOver returns the doors of version 2; nobody is notified of anything.
func doorsOver(store lyceum.Store, now func() time.Time, tokens *access.OAuth) people.Doors {
	accounts := access.NewAccounts(store, now, tokens, nil)
	return people.Doors{
		Hash: accounts.HashForProgram, Left: accounts.EndedAccess, Close: learning.New(store, now).Close,
		NotifyChange: func(lyceum.Tx, lyceum.UserID, string, people.Changed) error { return nil }, Forget: accounts.Forget, Offer: accounts.OfferEmail,
		PermitPartners: access.PermitPartners,
	}
}

// webhookOptions allow webhooks on the local machine.
func webhookOptions() events.Options {
	return events.Options{
		Ring: lyceum.NewKeyring(lyceum.SecretKey{}), CheckURL: webhook.New(webhook.Options{Loopback: true}).CheckURL,
		BaseURL: "https://school.example.com",
	}
}

// facesOver returns all faces: v1, v2 and the Lyceum face.
func facesOver(store lyceum.Store, now func() time.Time, tokens *access.OAuth) []wire.Face {
	rules := rulesOver(store, now)
	rules.Doors = doorsOver(store, now, tokens)
	return []wire.Face{
		apiv1.New(rules, oauth.Endpoints(tokens, lyceum.V1)),
		apiv2.New(apiv2.Rules{Learning: rules.Learning, Sales: rules.Sales, People: rules.People, Accounts: access.NewAccounts(store, now, tokens, nil), Doors: rules.Doors, BaseURL: "https://school.example.com"}, oauth.Endpoints(tokens, lyceum.V2)),
		apilyceum.New(apilyceum.Rules{
			Sales: rules.Sales, People: rules.People, Learning: rules.Learning, Events: rules.Events, Accounts: access.NewAccounts(store, now, tokens, nil), Feed: events.NewFeed(store, rules.Events, nil), School: storetest.School(store),
			Bulk: bulk.New(store, now, rules.Learning, rules.People, access.StillStartsBulk), Clock: movableClock(store), Templates: templatesOver(store, now, nil),
			Reports: &reports.Service{Store: store, Clock: now}, Failures: access.NewFailures(store, now),
		}),
	}
}

// movableClock returns a separate clock, on which nothing happens.
func movableClock(store lyceum.Store) *clock.Service {
	nothing := func(context.Context, lyceum.SchoolID) error { return nil }
	return clock.New(clock.Standing(time.Now, storetest.Begin), clock.Options{
		Store: store, Settle: nothing, Rest: func() func() { return func() {} }, Log: slog.New(slog.DiscardHandler), States: &namedStates{},
		Deliver: func(context.Context, lyceum.SchoolID) (clock.Delivered, error) { return clock.Delivered{}, nil },
		Provider: &clock.Provider{
			Store: store,
			Renew: func(context.Context, lyceum.By, *lyceum.Sale, string) (bool, error) { return true, nil },
			Fail:  func(context.Context, lyceum.By, clock.Failure) error { return nil },
		},
	})
}

// referencePages are rendered only once, because there are many.
var referencePages = sync.OnceValues(func() (http.Handler, error) {
	return reference.Handler(reference.Options{Documents: contract.All()})
})

// newSite creates a site; change can modify its options.
func newSite(t *testing.T, change ...func(*site, *server.Options)) *site {
	t.Helper()
	s := &site{dir: t.TempDir(), clock: storetest.NewClock(storetest.Begin), log: &logbook{}}
	store, err := sqlstore.Open(t.Context(), s.dir, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	s.store = store
	s.ours, s.theirs = storetest.MakeSchool(t, store), storetest.MakeSchool(t, store)
	storetest.Ledger(t, store, s.ours, 1, ourSales)
	storetest.Ledger(t, store, s.theirs, 2, theirSales)
	pages, err := referencePages()
	if err != nil {
		t.Fatal(err)
	}
	first, nothing, err := front.Pages()
	if err != nil {
		t.Fatal(err)
	}
	tokens := access.NewOAuth(store, s.clock.Now)
	s.options = server.Options{
		Faces:     facesOver(store, s.clock.Now, tokens),
		Keys:      access.NewKeys(store, s.clock.Now),
		OAuth:     tokens,
		Limiter:   access.NewLimiter(0, s.clock.Now),
		Cache:     server.NewCache(store, 32<<20, s.clock.Now),
		Reference: pages,
		Pages:     first,
		Nothing:   nothing,
		Ready:     store.Ping,
		Journal:   store,
		Metrics:   server.NewMetrics("v1.2.3"),
		Log:       slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, c := range change {
		c(s, &s.options)
	}
	s.Handler = server.Handler(s.options)
	s.key = s.issue(t, s.ours, lyceum.Read)
	return s
}

func limited(perMinute int64) func(*site, *server.Options) {
	return func(s *site, o *server.Options) { o.Limiter = access.NewLimiter(perMinute, s.clock.Now) }
}

func logged(_ *site, o *server.Options) { o.AccessLog = true }

func (s *site) issue(t *testing.T, school lyceum.SchoolID, p lyceum.Permissions) string {
	t.Helper()
	_, text, err := s.options.Keys.Create(t.Context(), lyceum.By{School: school, Actor: "test"}, "test", p, access.NewEntropy())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// request returns a request with the given headers, as "Name: value".
func request(method, target string, body io.Reader, headers ...string) *http.Request {
	r := httptest.NewRequest(method, target, body)
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	return r
}

func (s *site) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// call sends a request to v1 and compares the response with the contract.
func (s *site) call(t testing.TB, method, target string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	w := s.do(request(method, target, nil, headers...))
	s.wantContractual(t, w)
	return w
}

// list requests the sales with a key.
func (s *site) list(t testing.TB, key string) *httptest.ResponseRecorder {
	t.Helper()
	return s.call(t, http.MethodGet, "/v1/transactions", "apiKey: "+key)
}

var listTransactions = sync.OnceValues(func() (*openapi3.Operation, error) {
	document, err := openapi3.NewLoader().LoadFromData(contract.V1().JSON)
	if err != nil {
		return nil, err
	}
	return document.Paths.Value("/v1/transactions").Get, nil
})

// wantContractual compares the status, body and headers of a response with the contract. The
// five headers of the rate limit are present if there is a limit.
func (s *site) wantContractual(t testing.TB, w *httptest.ResponseRecorder) {
	t.Helper()
	operation, err := listTransactions()
	if err != nil {
		t.Fatal(err)
	}
	response := operation.Responses.Status(w.Code)
	if response == nil {
		t.Errorf("status %d is not in the contract: %s", w.Code, w.Body)
		return
	}
	for name, header := range response.Value.Headers {
		text := w.Header().Get(name)
		if limits := strings.Contains(name, "RateLimit-"); limits && !s.options.Limiter.Enabled() {
			if text != "" {
				t.Errorf("%d bears %s %q without a limit", w.Code, name, text)
			}
			continue
		}
		if text == "" {
			t.Errorf("%d lacks the header %s", w.Code, name)
		}
		if header.Value.Schema.Value.Type.Is("integer") {
			if n, err := strconv.Atoi(text); err != nil || n < 0 {
				t.Errorf("%d has %s %q", w.Code, name, text)
			}
		}
	}
	if len(response.Value.Content) == 0 {
		if w.Body.Len() > 0 {
			t.Errorf("%d has a body: %s", w.Code, w.Body)
		}
		return
	}
	media := response.Value.Content.Get(w.Header().Get("Content-Type"))
	if media == nil {
		t.Errorf("%d has the content type %q", w.Code, w.Header().Get("Content-Type"))
		return
	}
	var value any
	if err := json.Unmarshal(w.Body.Bytes(), &value); err != nil {
		t.Errorf("%d: %v in %s", w.Code, err, w.Body)
		return
	}
	if err := media.Schema.Value.VisitJSON(value, openapi3.VisitAsResponse(), openapi3.EnableFormatValidation()); err != nil {
		t.Errorf("%d is not the contract's: %v\n%s", w.Code, err, w.Body)
	}
}

func wantStatus(t testing.TB, w *httptest.ResponseRecorder, want int) {
	t.Helper()
	if w.Code != want {
		t.Fatalf("status %d, want %d: %s", w.Code, want, w.Body)
	}
}

// wantMessage compares a response with a status and the only message in its body. For a missing
// or wrong key, the body also has the request id.
func wantMessage(t testing.TB, w *httptest.ResponseRecorder, status int, message string) {
	t.Helper()
	body := map[string]string{"message": message}
	if status == http.StatusUnauthorized {
		body["request_id"] = w.Header().Get("X-Request-Id")
	}
	want, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	if w.Code != status || w.Body.String() != string(want) {
		t.Errorf("got %d %s, want %d %s", w.Code, w.Body, status, want)
	}
}

func totalOf(t testing.TB, w *httptest.ResponseRecorder) int {
	t.Helper()
	wantStatus(t, w, http.StatusOK)
	var list struct {
		Meta struct {
			Total int `json:"total"`
		} `json:"meta"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	return list.Meta.Total
}

// files returns the contents of the store's files.
func (s *site) files(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(s.dir, "*"))
	if err != nil || len(names) == 0 {
		t.Fatal("no files", err)
	}
	contents := map[string]string{}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		contents[filepath.Base(name)] = string(content)
	}
	return contents
}

// testFace is a second face, whose operations do what those of v1 hardly ever do. Its errors
// are those of v1.
type testFace struct {
	*apiv1.Face
	operations []wire.Operation
}

func (*testFace) Name() string { return "test" }

func (f *testFace) Operations() []wire.Operation { return f.operations }

// with adds an operation at /test/NAME.
func with(name, method string, serve wire.Endpoint) func(*site, *server.Options) {
	return func(_ *site, o *server.Options) {
		op := wire.Operation{ID: name, Method: method, Path: "/test/" + name, Needs: lyceum.Read, Serve: serve}
		face, ok := o.Faces[len(o.Faces)-1].(*testFace)
		if !ok {
			face = &testFace{Face: o.Faces[0].(*apiv1.Face)}
			o.Faces = append(o.Faces, face)
		}
		face.operations = append(face.operations, op)
	}
}

func failing(err error) wire.Endpoint {
	return func(context.Context, wire.Principal, *http.Request) (wire.Body, error) { return nil, err }
}
