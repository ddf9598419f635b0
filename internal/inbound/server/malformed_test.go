package server_test

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

// malformed makes requests from fragments that parsers stumble over.
type malformed struct {
	chance *rand.Rand
	words  []string
}

func (m *malformed) pick(from []string) string { return from[m.chance.IntN(len(from))] }

func (m *malformed) text() string {
	var s strings.Builder
	for range m.chance.IntN(12) {
		s.WriteString(m.pick(m.words))
	}
	return s.String()
}

// path fills in a pattern with existing, unknown and invalid ids.
func (m *malformed) path(pattern string) string {
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i] = m.pick([]string{"1", "2", "3", "11", "103", "107", "0", "-1", "x", "99999999999", "%20", "%00", "%ff", "1%2f2", "{}"})
		}
	}
	return strings.Join(parts, "/")
}

// body returns JSON that is almost valid, or anything.
func (m *malformed) body() string {
	if m.chance.IntN(2) == 0 {
		return m.text()
	}
	values := []string{"1", "2", `"3"`, "0", "-1", "1e9", "null", "true", `"x"`, `"a@example.com"`, "[]", "{}", `"\u0000"`, `"\ud800"`, "1.5", strings.Repeat("[", 500)}
	var s strings.Builder
	for _, name := range []string{"user_id", "course_id", "email", "name", "password", "src", "pricing_plan_id", "amount", "charge", "currency", "reference", "outcome", "tags", "on_refund"} {
		if m.chance.IntN(3) > 0 {
			s.WriteString(`,"` + name + `":` + m.pick(values))
		}
	}
	return "{" + strings.TrimPrefix(s.String(), ",") + "}"
}

// TestR7_MalformedRequests checks that nothing breaks, whatever is sent to whatever address,
// and that every response of an operation conforms to the contract.
func TestR7_MalformedRequests(t *testing.T) {
	k := newClass(t, newCampus(t))
	b := k.browse()
	b.signIn(t, k.ours, "mira@example.com")
	m := &malformed{rand.New(rand.NewPCG(7, 7)), []string{
		"client_id", "client_secret", "code", "grant_type", "authorization_code", "refresh_token", "scope", "state", "request", "answer", "authorize", "response_type",
		"page", "per", "per_page", "user_id", "search_after", "created_at", "sort_direction", "is_published", "name", "email",
		"=", "&", "%", "%zz", "%00", "+", ";", "{", "}", "[", "]", "\"", ":", ",", "\\", "\xff", "\x00", "☃", "null", "true", "1e9", "-1", "9223372036854775808", "2024-01-01", "'", "<",
		k.ours.clients[lyceum.V1].id,
	}}
	known := map[string]map[string]bool{} // pattern -> methods
	var routes []string
	for _, face := range k.options.Faces {
		for _, op := range face.Operations() {
			if known[op.Path] == nil {
				known[op.Path] = map[string]bool{}
				routes = append(routes, op.Path)
			}
			known[op.Path][op.Method] = true
		}
	}
	routes = append(routes, k.ours.path("oauth_provider/authorize"), k.ours.path("sign_out"), k.ours.path("forgot_password"), k.ours.path("set_password/x"),
		"/account/apps", "/account/apps/1/revoke", "/secure/sign_in", "/secure/identity/oauth_provider/authorize", "/admin/settings/oauth-apps", "/.well-known/oauth-authorization-server/v1")
	credentials := []string{"apiKey: " + k.ours.key, "Authorization: bearer " + k.tokens[bearer{k.ours, mira, lyceum.V1}], "Authorization: Bearer " + k.tokens[bearer{k.ours, mira, lyceum.V2}]}
	reached := 0
	for n := range 10_000 {
		pattern := m.pick(routes)
		r := m.request(pattern, credentials)
		if r.Method == http.MethodDelete && r.URL.Path == "/v2/users/2" { // an erased user cannot sign in again
			continue
		}
		w := b.send(r)
		if w.Code >= 500 {
			t.Fatalf("request %d, %s %s?%s: %d %s", n, r.Method, r.URL.Path, r.URL.RawQuery, w.Code, w.Body)
		}
		if known[pattern][r.Method] && routed(w) {
			reached++
			wantOf(t, r.Method, pattern, w)
		}
		kind := w.Header().Get("Content-Type")
		if w.Code >= 400 && r.Method != http.MethodHead && !strings.HasPrefix(kind, "application/json") && !strings.HasPrefix(kind, "text/html") {
			t.Fatalf("request %d, %s %s: %d is %q", n, r.Method, r.URL.Path, w.Code, kind)
		}
		if t.Failed() {
			t.Fatalf("request %d, %s %s?%s", n, r.Method, r.URL.Path, r.URL.RawQuery)
		}
		if b.cookies["__Host-lyceum"] == "" { // it has signed itself out
			k.clock.Pass(time.Minute)
			b.signIn(t, k.ours, "mira@example.com")
		}
	}
	if reached < 1000 {
		t.Errorf("only %d requests reached an operation", reached)
	}
}

// routed reports whether a response is from an operation: a slash in an id leads to another
// address, or to none.
func routed(w *httptest.ResponseRecorder) bool {
	return !strings.Contains(w.Body.String(), "no Route matched") && w.Code != http.StatusMethodNotAllowed
}

func (m *malformed) request(pattern string, credentials []string) *http.Request {
	methods := []string{"GET", "GET", "GET", "POST", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"}
	kinds := []string{"", "application/json", "application/json", "application/json", "application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x", m.text()}
	r := request(m.pick(methods), m.path(pattern), strings.NewReader(m.body()))
	r.URL.RawQuery = m.text()
	for _, name := range []string{"Cookie", "Referer", "Origin", "Accept-Encoding", "If-None-Match"} {
		if m.chance.IntN(4) == 0 {
			r.Header.Set(name, m.text())
		}
	}
	r.Header.Del("Accept-Encoding") // responses are compared with the contract uncompressed
	for _, credential := range credentials {
		name, value, _ := strings.Cut(credential, ": ")
		switch m.chance.IntN(6) {
		case 0:
			r.Header.Set(name, m.text())
		case 1:
		default:
			r.Header.Set(name, value)
		}
	}
	r.Header.Set("Content-Type", m.pick(kinds))
	return r
}
