package server_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

func TestRoutes(t *testing.T) {
	s := newSite(t, limited(1000))
	for _, tc := range []struct {
		target string
		status int
	}{
		{"/v1/transactions", 200},
		{"//v1/transactions", 200},
		{"/v1//transactions", 200},
		{"///v1////transactions", 200},
		{"/v1//transactions?per=5", 200},
		{"/%761/transactions", 200}, // an escaped letter means the letter

		{"/v1", 404},
		{"/v1/", 404},
		{"/v1//", 404},
		{"/v1/transactions/", 404},
		{"/v1/transactions//", 404},
		{"/v1/transactions/7", 404},
		{"/v1/transactionsx", 404},
		{"/v1/transaction", 404},
		{"/v1/Transactions", 404},
		{"/V1/transactions", 404},
		{"/v1/transactions%00", 404},
		{"/v1/transactions;per=5", 404},
		{"/v1%2Ftransactions", 404},
		{"/v1/transactions%2F", 404},
		{"/v1/./transactions", 404},
		{"/./v1/transactions", 404},
		{"/v1/transactions/.", 404},
		{"/v1/transactions/..", 404},
		{"/v1/../v1/transactions", 404},
		{"/../v1/transactions", 404},
		{"/v1/%2e%2e/v1/transactions", 404},
		{"/v1/%2E/transactions", 404},
		{"/v1//../v1/transactions", 404},
		{"/transactions", 404},
		{"/metrics", 404}, // there is no token
		{"/docs/..%2f..%2fetc/passwd", 404},
		{"/favicon.ico", 200},
		{"/favicon.ico/", 404},
	} {
		t.Run(tc.target, func(t *testing.T) {
			w := s.do(request(http.MethodGet, tc.target, nil, "apiKey: "+s.key))
			wantStatus(t, w, tc.status)
			if location := w.Header().Get("Location"); location != "" {
				t.Errorf("goes to %s", location)
			}
			if tc.status == http.StatusNotFound && !strings.HasPrefix(tc.target, "/docs") {
				wantMessage(t, w, 404, noRoute)
			}
		})
	}
}

func TestWrongMethods(t *testing.T) {
	s := newSite(t, limited(1000))
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "LIST"} {
		w := s.call(t, method, "/v1/transactions", "apiKey: "+s.key)
		wantMessage(t, w, http.StatusMethodNotAllowed, "this path accepts GET, HEAD")
		if allow := w.Header().Get("Allow"); allow != "GET, HEAD" {
			t.Errorf("%s: Allow is %q", method, allow)
		}
		// For an unknown path, the method does not matter.
		wantMessage(t, s.call(t, method, "/v1/unknown", "apiKey: "+s.key), http.StatusNotFound, noRoute)
	}
}

// TestHeadersOfEveryResponse checks the headers that programs use, and those that browsers need.
func TestHeadersOfEveryResponse(t *testing.T) {
	s := newSite(t, limited(6))
	writeOnly := s.issue(t, s.ours, lyceum.Write)
	const script = "Origin: https://app.example.com"
	for _, tc := range []struct {
		status int
		w      *httptest.ResponseRecorder
	}{
		{200, s.call(t, http.MethodGet, "/v1/transactions", script, "apiKey: "+s.key)},
		{400, s.call(t, http.MethodGet, "/v1/transactions?per=x", script, "apiKey: "+s.key)},
		{401, s.call(t, http.MethodGet, "/v1/transactions", script)},
		{403, s.call(t, http.MethodGet, "/v1/transactions", script, "apiKey: "+writeOnly)},
		{404, s.call(t, http.MethodGet, "/v1/unknown", script, "apiKey: "+s.key)},
		{405, s.call(t, http.MethodPost, "/v1/transactions", script, "apiKey: "+s.key)},
		{304, s.call(t, http.MethodGet, "/v1/transactions", script, "apiKey: "+s.key, "If-None-Match: *")},
		{200, s.call(t, http.MethodGet, "/v1/transactions", script, "apiKey: "+s.key)},
		{200, s.call(t, http.MethodGet, "/v1/transactions", script, "apiKey: "+s.key)},
		{429, s.call(t, http.MethodGet, "/v1/transactions", script, "apiKey: "+s.key)},
	} {
		wantStatus(t, tc.w, tc.status)
		want := map[string]string{
			"Content-Type":                "application/json; charset=utf-8",
			"Cache-Control":               "no-store",
			"Vary":                        "Accept, Accept-Encoding",
			"Access-Control-Allow-Origin": "*",
			"X-Content-Type-Options":      "nosniff",
			"Referrer-Policy":             "strict-origin-when-cross-origin",
			"Strict-Transport-Security":   "",
			"Set-Cookie":                  "",
			"Server":                      "",
		}
		switch tc.status {
		case 200:
			want["Cache-Control"] = "max-age=0, private, must-revalidate"
		case 304:
			want["Cache-Control"], want["Content-Type"] = "max-age=0, private, must-revalidate", ""
		}
		for name, value := range want {
			if got := tc.w.Header().Get(name); got != value {
				t.Errorf("%d: %s is %q, want %q", tc.status, name, got, value)
			}
		}
		if runtime := tc.w.Header().Get("X-Runtime"); !regexp.MustCompile(`^\d+\.\d+$`).MatchString(runtime) {
			t.Errorf("%d: X-Runtime is %q", tc.status, runtime)
		}
		exposed := strings.Split(tc.w.Header().Get("Access-Control-Expose-Headers"), ", ")
		for name := range tc.w.Header() {
			if contractual := regexp.MustCompile(`^(Etag|Journal-Entry|Ratelimit-.*|X-Ratelimit-.*|X-Request-Id|Retry-After)$`); contractual.MatchString(name) &&
				!slices.ContainsFunc(exposed, func(e string) bool { return strings.EqualFold(e, name) }) {
				t.Errorf("%d: %s is not shown to scripts", tc.status, name)
			}
		}
	}
}

func TestHTTPSIsRemembered(t *testing.T) {
	s := newSite(t, func(_ *site, o *server.Options) { o.HTTPS = true })
	for _, target := range []string{"/v1/transactions", "/v1/unknown", "/livez", "/nowhere", "/docs"} {
		if got := s.do(request(http.MethodGet, target, nil)).Header().Get("Strict-Transport-Security"); got != "max-age=31536000" {
			t.Errorf("%s: %q", target, got)
		}
	}
}

func TestPreflight(t *testing.T) {
	s := newSite(t, limited(2))
	headers := []string{"Origin: https://app.example.com", "Access-Control-Request-Method: GET", "Access-Control-Request-Headers: apikey"}
	for range 5 { // it does not count against the limit
		w := s.do(request(http.MethodOptions, "/v1/transactions", nil, headers...))
		wantStatus(t, w, http.StatusNoContent)
		header := w.Header()
		if header.Get("Access-Control-Allow-Origin") != "*" || header.Get("Access-Control-Allow-Methods") != "GET, HEAD" ||
			header.Get("Access-Control-Max-Age") == "" || header.Get("Access-Control-Allow-Credentials") != "" || w.Body.Len() > 0 {
			t.Errorf("headers %v, body %q", header, w.Body)
		}
		allowed := strings.Split(strings.ToLower(header.Get("Access-Control-Allow-Headers")), ", ")
		for _, name := range []string{"apikey", "if-none-match", "x-request-id", "content-type", "authorization", "journal-entry"} {
			if !slices.Contains(allowed, name) {
				t.Errorf("%s is not allowed", name)
			}
		}
	}
	if left := s.list(t, s.key).Header().Get("RateLimit-Remaining"); left != "1" {
		t.Errorf("left is %s", left)
	}
	wantStatus(t, s.do(request(http.MethodOptions, "/v1/unknown", nil, headers...)), http.StatusNotFound)
	w := s.do(request(http.MethodOptions, "/livez", nil, headers...))
	if w.Code == http.StatusNoContent || w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("/livez is open to scripts: %d %v", w.Code, w.Header())
	}
}

func TestRequestID(t *testing.T) {
	s := newSite(t, logged)
	seen := map[string]bool{}
	for _, tc := range []struct {
		given string
		kept  bool
	}{
		{"", false},
		{"7", true},
		{"01jh8x2v6r4q9m3k7t5w0c1e2d", true},
		{"9f3c2d6e-8a1b-4c5d-9e7f-001122334455", true},
		{"A.b_C-9", true},
		{strings.Repeat("x", 64), true},
		{strings.Repeat("x", 65), false},
		{"a b", false},
		{"a,b", false},
		{"a/b", false},
		{`a"b`, false},
		{"a\tb", false},
		{"<script>", false},
		{"é", false},
		{"a=b", false},
		{"%0a", false},
	} {
		r := request(http.MethodGet, "/v1/transactions", nil, "apiKey: "+s.key)
		if tc.given != "" {
			r.Header.Set("X-Request-Id", tc.given)
		}
		got := s.do(r).Header().Get("X-Request-Id")
		if (got == tc.given) != tc.kept || !regexp.MustCompile(`^[0-9A-Za-z._-]{1,64}$`).MatchString(got) || seen[got] {
			t.Errorf("%q becomes %q", tc.given, got)
		}
		seen[got] = true
		lines := s.log.lines(t, "request")
		if last := lines[len(lines)-1]; last["request_id"] != got {
			t.Errorf("%q is logged as %v", got, last["request_id"])
		}
	}
	for _, target := range []string{"/", "/livez", "/docs", "/nowhere", "/v1/../x"} {
		if id := s.do(request(http.MethodGet, target, nil)).Header().Get("X-Request-Id"); id == "" || seen[id] {
			t.Errorf("%s has the id %q", target, id)
		}
	}
}

func TestAccessLog(t *testing.T) {
	s := newSite(t, logged)
	s.do(request(http.MethodGet, "/v1//transactions?user_id=7", nil, "apiKey: "+s.key))
	s.do(request(http.MethodGet, "/v1/transactions", nil))
	s.do(request(http.MethodPost, "/v1/transactions", nil))
	s.do(request(http.MethodGet, "/v1/grades-of-ada", nil))
	s.do(request(http.MethodGet, "/grades-of-ada", nil))
	s.do(request(http.MethodGet, "/livez", nil))
	want := []struct {
		method, path string
		status       float64
		school, key  float64
	}{
		{"GET", "/v1/transactions", 200, float64(s.ours), 1},
		{"GET", "/v1/transactions", 401, 0, 0},
		{"POST", "/v1/transactions", 405, 0, 0},
		{"GET", "(none)", 404, 0, 0},
		{"GET", "(none)", 404, 0, 0},
		{"GET", "/livez", 200, 0, 0},
	}
	lines := s.log.lines(t, "request")
	if len(lines) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), len(want), s.log)
	}
	for i, line := range lines {
		w := want[i]
		if line["method"] != w.method || line["path"] != w.path || line["status"] != w.status || line["school"] != w.school || line["api_key_id"] != w.key {
			t.Errorf("line %d is %v, want %v", i+1, line, w)
		}
		if bytes, ok := line["bytes"].(float64); !ok || bytes <= 0 {
			t.Errorf("line %d: %v bytes", i+1, line["bytes"])
		}
	}
	for _, secret := range []string{"grades-of-ada", "user_id"} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("the log repeats %q of an address", secret)
		}
	}
	quiet := newSite(t)
	quiet.list(t, quiet.key)
	if text := quiet.log.String(); text != "" {
		t.Errorf("without an access log there is %s", text)
	}
}

const internal = "internal error; look for the X-Request-Id in the server's log"

func TestPanicGetsAResponse(t *testing.T) {
	s := newSite(t, logged, with("panic", http.MethodGet, func(context.Context, wire.Principal, *http.Request) (wire.Body, error) {
		panic("the roof of hall 7 fell in")
	}))
	w := s.do(request(http.MethodGet, "/test/panic", nil, "apiKey: "+s.key, "X-Request-Id: seven"))
	wantMessage(t, w, http.StatusInternalServerError, internal)
	s.wantContractual(t, w)
	lines := s.log.lines(t, "request panicked")
	if len(lines) != 1 || lines[0]["level"] != "ERROR" || lines[0]["request_id"] != "seven" || lines[0]["path"] != "/test/panic" ||
		lines[0]["panic"] != "the roof of hall 7 fell in" || !strings.Contains(lines[0]["stack"].(string), "TestPanicGetsAResponse") {
		t.Errorf("log:\n%s", s.log)
	}
	if request := s.log.lines(t, "request"); len(request) != 1 || request[0]["status"] != 500.0 {
		t.Errorf("access log: %v", request)
	}
	wantStatus(t, s.list(t, s.key), http.StatusOK)
}

// TestAbortIsLeftToTheServer checks http.ErrAbortHandler, with which a handler closes a
// connection.
func TestAbortIsLeftToTheServer(t *testing.T) {
	s := newSite(t, with("abort", http.MethodGet, func(context.Context, wire.Principal, *http.Request) (wire.Body, error) {
		panic(http.ErrAbortHandler)
	}))
	defer func() {
		if reason := recover(); reason != any(http.ErrAbortHandler) {
			t.Errorf("panic with %v", reason)
		}
	}()
	s.do(request(http.MethodGet, "/test/abort", nil, "apiKey: "+s.key))
	t.Error("was answered")
}

func TestInternalErrorsLeakNothing(t *testing.T) {
	const secret = "postgres://lyceum:hunter2@10.0.0.7/lyceum: no route to host"
	s := newSite(t, limited(100), with("fail", http.MethodGet, failing(errors.New(secret))))
	w := s.do(request(http.MethodGet, "/test/fail", nil, "apiKey: "+s.key, "X-Request-Id: seven"))
	wantMessage(t, w, http.StatusInternalServerError, internal)
	s.wantContractual(t, w)
	lines := s.log.lines(t, "request failed")
	if len(lines) != 1 || lines[0]["level"] != "ERROR" || lines[0]["request_id"] != "seven" || lines[0]["err"] != secret {
		t.Errorf("log:\n%s", s.log)
	}

	// Not even if the error itself says that it is internal.
	s = newSite(t, with("fail", http.MethodGet, failing(&lyceum.Error{Kind: lyceum.Internal, Detail: secret, Fields: []lyceum.FieldError{{Field: "dsn", Message: secret}}})))
	wantMessage(t, s.do(request(http.MethodGet, "/test/fail", nil, "apiKey: "+s.key)), http.StatusInternalServerError, internal)
}

func TestAmountBeyondInt32IsNotCut(t *testing.T) {
	s := newSite(t)
	storetest.Write(t, s.store, s.ours, func(tx lyceum.Tx) error {
		_, err := tx.Transactions.Save(tx, lyceum.Transaction{
			ID: 1, UserID: 1, PricingPlanID: 1, SaleID: 1, CreatedAt: storetest.Begin, PurchasedAt: storetest.Begin, Currency: "USD", FinalPrice: 1 << 31,
		})
		return err
	})
	w := s.call(t, http.MethodGet, "/v1/transactions?per=100", "apiKey: "+s.key)
	wantMessage(t, w, http.StatusInternalServerError, internal)
	if tag := w.Header().Get("ETag"); tag != "" {
		t.Errorf("ETag %s on an error", tag)
	}
	if lines := s.log.lines(t, "request failed"); len(lines) != 1 || !strings.Contains(lines[0]["err"].(string), "2147483648") {
		t.Errorf("log:\n%s", s.log)
	}
}

func TestClosedStoreIsUnavailable(t *testing.T) {
	s := newSite(t, limited(100))
	wantStatus(t, s.list(t, s.key), http.StatusOK)
	unseen := s.issue(t, s.ours, lyceum.Read)
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]string{"a key that is known": s.key, "a key that must be looked up": unseen} {
		w := s.list(t, key)
		wantStatus(t, w, http.StatusServiceUnavailable)
		if w.Header().Get("Retry-After") != "2" || strings.Contains(w.Body.String(), "sql") {
			t.Errorf("%s: %v %s", name, w.Header(), w.Body)
		}
	}
	if lines := s.log.lines(t, "request refused"); len(lines) != 2 || lines[0]["level"] != "WARN" {
		t.Errorf("log:\n%s", s.log)
	}
	w := s.do(request(http.MethodGet, "/readyz", nil))
	if w.Code != http.StatusServiceUnavailable || !strings.HasPrefix(w.Body.String(), "not ready: ") || w.Header().Get("Retry-After") != "2" {
		t.Errorf("/readyz: %d %v %s", w.Code, w.Header(), w.Body)
	}
	if w := s.do(request(http.MethodGet, "/livez", nil)); w.Code != http.StatusOK {
		t.Errorf("/livez: %d", w.Code)
	}
}

func TestHealth(t *testing.T) {
	s := newSite(t)
	for target, want := range map[string]string{"/livez": "live\n", "/readyz": "ready\n"} {
		w := s.do(request(http.MethodGet, target, nil))
		if w.Code != http.StatusOK || w.Body.String() != want || w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s: %d %v %q", target, w.Code, w.Header(), w.Body)
		}
	}
	s = newSite(t, func(_ *site, o *server.Options) {
		o.Ready = func(context.Context) error { return errors.New("pq: password of lyceum") }
	})
	w := s.do(request(http.MethodGet, "/readyz", nil))
	if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "password") {
		t.Errorf("/readyz: %d %q", w.Code, w.Body)
	}
	if !strings.Contains(s.log.String(), "pq: password of lyceum") {
		t.Errorf("log: %s", s.log)
	}
}

func TestMetrics(t *testing.T) {
	const token = "metrics-token-canary"
	s := newSite(t, func(_ *site, o *server.Options) { o.MetricsToken = token })
	s.list(t, s.key)
	s.list(t, s.key)
	s.call(t, http.MethodGet, "/v1/transactions")
	s.call(t, http.MethodGet, "/v1/unknown")
	s.call(t, http.MethodPost, "/v1/transactions")
	s.do(request(http.MethodGet, "/nowhere", nil))
	for _, headers := range [][]string{
		nil,
		{"Authorization: Bearer "},
		{"Authorization: Bearer " + token + "x"},
		{"Authorization: Bearer metrics"},
		{"Authorization: " + token},
		{"Authorization: Basic " + token},
		{"apiKey: " + s.key},
		{"apiKey: " + token},
	} {
		w := s.do(request(http.MethodGet, "/metrics", nil, headers...))
		if w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") != `Bearer realm="metrics"` || strings.Contains(w.Body.String(), "lyceum_") {
			t.Errorf("%q: %d %v %s", headers, w.Code, w.Header(), w.Body)
		}
	}
	w := s.do(request(http.MethodGet, "/metrics", nil, "Authorization: Bearer "+token))
	wantStatus(t, w, http.StatusOK)
	for _, line := range []string{
		`lyceum_requests_total{face="v1",operation="ListTransactions",status="200"} 2`,
		`lyceum_requests_total{face="v1",operation="ListTransactions",status="401"} 1`,
		`lyceum_requests_total{face="v1",operation="none",status="404"} 1`,
		`lyceum_requests_total{face="v1",operation="none",status="405"} 1`,
		`lyceum_requests_total{face="none",operation="none",status="404"} 1`,
		`lyceum_request_seconds_count{face="v1",operation="ListTransactions"} 3`,
		`lyceum_build_info{version="v1.2.3"} 1`,
	} {
		if !strings.Contains(w.Body.String(), "\n"+line+"\n") {
			t.Errorf("%s is not in the metrics", line)
		}
	}
	own := httptest.NewRecorder()
	s.options.Metrics.Handler().ServeHTTP(own, request(http.MethodGet, "/metrics", nil))
	if own.Code != http.StatusOK || !strings.Contains(own.Body.String(), "lyceum_requests_total") {
		t.Errorf("on an address of their own: %d", own.Code)
	}
}

func TestReference(t *testing.T) {
	s := newSite(t)
	for target, contentType := range map[string]string{"/docs": "text/html", "/openapi/v1.yaml": "yaml", "/openapi/v1.json": "json"} {
		w := s.do(request(http.MethodGet, target, nil))
		if w.Code != http.StatusOK || !strings.Contains(w.Header().Get("Content-Type"), contentType) || w.Body.Len() == 0 {
			t.Errorf("%s: %d %s", target, w.Code, w.Header().Get("Content-Type"))
		}
	}
	wantMessage(t, s.do(request(http.MethodPost, "/", nil)), http.StatusNotFound, noRoute)
}

func reading(_ context.Context, _ wire.Principal, r *http.Request) (wire.Body, error) {
	text, err := io.ReadAll(r.Body)
	return wire.JSON{Value: len(text)}, err
}

func TestLargeBodies(t *testing.T) {
	s := newSite(t, with("read", http.MethodPost, reading))
	post := func(n int) *httptest.ResponseRecorder {
		return s.do(request(http.MethodPost, "/test/read", bytes.NewReader(make([]byte, n)), "apiKey: "+s.key))
	}
	for n, want := range map[int]string{0: "0", 1: "1", 64 << 10: "65536"} {
		if w := post(n); w.Code != http.StatusOK || w.Body.String() != want {
			t.Errorf("%d bytes: %d %s", n, w.Code, w.Body)
		}
	}
	for _, n := range []int{64<<10 + 1, 1 << 20} {
		wantMessage(t, post(n), http.StatusRequestEntityTooLarge, "the request body is larger than 65536 bytes")
	}
	// If no body is read, none is too large.
	w := s.do(request(http.MethodGet, "/v1/transactions", bytes.NewReader(make([]byte, 65<<10)), "apiKey: "+s.key))
	if total := totalOf(t, w); total != ourSales {
		t.Errorf("%d sales", total)
	}
}

func TestKindsOfErrorsKeepTheirStatus(t *testing.T) {
	var operations []func(*site, *server.Options)
	for _, kind := range lyceum.Kinds() {
		operations = append(operations, with(strconv.Itoa(int(kind)), http.MethodGet, failing(lyceum.Errorf(kind, "told"))))
	}
	s := newSite(t, operations...)
	for _, kind := range lyceum.Kinds() {
		w := s.do(request(http.MethodGet, "/test/"+strconv.Itoa(int(kind)), nil, "apiKey: "+s.key))
		status, _ := s.options.Faces[0].Failure(lyceum.Errorf(kind, "told"), "")
		message := "told"
		if kind == lyceum.Internal {
			message = internal
		}
		wantMessage(t, w, status, message)
	}
}
