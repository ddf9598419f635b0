package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// failures stores pending failed requests, and returns those of a school.
func (s *site) failures(t *testing.T, school lyceum.SchoolID, id string) []lyceum.FailedRequest {
	t.Helper()
	if err := s.options.Failures.Keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	filter := lyceum.FailedRequestFilter{RequestID: lyceum.Opt[string]{Value: id, Present: id != ""}}
	found, err := s.options.Failures.List(t.Context(), lyceum.By{School: school}, filter, lyceum.Page{Number: 1, Size: 100})
	if err != nil {
		t.Fatal(err)
	}
	return found.Rows
}

func keepsFailures(s *site, o *server.Options) { o.Failures = access.NewFailures(s.store, s.clock.Now) }

// A failed request is found by its id, with what was wrong and nothing that was sent: no
// secret, address or query value.
func TestR60FailedRequests(t *testing.T) {
	s := newSite(t, keepsFailures)
	write := s.issue(t, s.ours, lyceum.Read|lyceum.Write)
	secrets := canaries{
		"the key": s.key, "the key to write": write, "a value of the query": "canary-of-the-query", "an address": "canary@example.com",
		"a password": "canary-of-a-password", "a part of the path": "canary-of-the-path", "a name": "Canary Jones",
	}
	body := `{"email":"canary@example.com","name":"Canary Jones","password":"canary-of-a-password","role":"canary-of-the-query"`
	for i, tc := range []struct {
		method, target, body, key string
		path, message             string
		status                    int32
	}{
		{"GET", "/v1/transactions?page=canary-of-the-query&q=canary@example.com", "", s.key, "/v1/transactions", "page must be", 400},
		{"GET", "/v1/users/canary-of-the-path", "", s.key, "/v1/users/{user_id}", "", 400},
		{"GET", "/v1/users/999999", "", s.key, "/v1/users/999999", "", 404},
		{"POST", "/v1/users", body + `}`, s.key, "/v1/users", "does not have", 403},
		{"POST", "/v1/users", body, write, "/v1/users", "", 400},
		{"POST", "/v2/users", body + `}`, write, "/v2/users", "", 400},
		{"PUT", "/v1/users/7?x=canary@example.com", "", write, "/v1/users/7", "", 405},
	} {
		id := fmt.Sprintf("asked-%d", i)
		w := s.do(request(tc.method, tc.target, strings.NewReader(tc.body), "apiKey: "+tc.key, "X-Request-Id: "+id, "Content-Type: application/json"))
		found := s.failures(t, s.ours, id)
		if tc.status == 405 { // it has no school: the key is not checked
			if len(found) != 0 {
				t.Errorf("%s %s is kept: %+v", tc.method, tc.target, found)
			}
			continue
		}
		if len(found) != 1 || w.Code != int(tc.status) {
			t.Errorf("%s %s: %d, kept %+v", tc.method, tc.target, w.Code, found)
			continue
		}
		if f := found[0]; f.Path != tc.path || f.Status != tc.status || f.Method != tc.method || !strings.Contains(f.Message, tc.message) ||
			!strings.HasPrefix(f.Actor, "api_key:") || !f.At.Equal(s.clock.Now()) {
			t.Errorf("%s %s is kept as %+v", tc.method, tc.target, f)
		}
	}
	s.list(t, s.key)
	s.do(request(http.MethodGet, "/v1/transactions", nil, "apiKey: canary-of-a-password"))
	all := s.failures(t, s.ours, "")
	if len(all) != 6 || len(s.failures(t, s.theirs, "")) != 0 {
		t.Errorf("%d are kept, want the 6 that failed with a key", len(all))
	}
	secrets.wantAbsent(t, "what is kept", fmt.Sprintf("%+v", all))
}

// A client that closes its connection is not a server error: there is no warning, and it is
// counted as what it is. A request that the server ends is an error.
func TestClientsThatLeave(t *testing.T) {
	ended := errors.New("ended by the server")
	for name, tc := range map[string]struct {
		cause         error
		counted, says string
		warned        bool
	}{
		"the client left":  {nil, "499", "the client closed the connection before the response: ", false},
		"the server ended": {ended, "503", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, keepsFailures)
			write := s.issue(t, s.ours, lyceum.Read|lyceum.Write)
			s.list(t, write) // so that the key is cached
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(tc.cause)
			w := s.do(request(http.MethodPost, "/v1/users", strings.NewReader(`{"email":"left@example.com"}`), "apiKey: "+write,
				"Content-Type: application/json", "X-Request-Id: left").WithContext(ctx))
			if w.Code != http.StatusServiceUnavailable {
				t.Errorf("whoever still reads gets %d", w.Code)
			}
			found := s.failures(t, s.ours, "left")
			if len(found) != 1 || strconv.Itoa(int(found[0].Status)) != tc.counted || !strings.HasPrefix(found[0].Message, tc.says+"the answer took too long") {
				t.Errorf("kept: %+v", found)
			}
			metrics := httptest.NewRecorder()
			s.options.Metrics.Handler().ServeHTTP(metrics, request(http.MethodGet, "/metrics", nil))
			if !strings.Contains(metrics.Body.String(), `operation="CreateUser",status="`+tc.counted+`"} 1`) {
				t.Errorf("not counted as %s", tc.counted)
			}
			if got := strings.Contains(s.log.String(), `"WARN"`); got != tc.warned {
				t.Errorf("warned %v, want %v: %s", got, tc.warned, s.log)
			}
		})
	}
}
