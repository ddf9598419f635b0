package server_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// flood sends n requests concurrently, alternating between the keys, and returns the remaining
// counts of the accepted ones, in ascending order.
func (s *site) flood(t *testing.T, n int, keys ...string) (left []int) {
	t.Helper()
	responses := make([]*httptest.ResponseRecorder, n)
	var group sync.WaitGroup
	for i := range responses {
		group.Go(func() { responses[i] = s.list(t, keys[i%len(keys)]) })
	}
	group.Wait()
	for _, w := range responses {
		remaining, err := strconv.Atoi(w.Header().Get("RateLimit-Remaining"))
		if err != nil {
			t.Fatal(err)
		}
		switch w.Code {
		case http.StatusOK:
			left = append(left, remaining)
		case http.StatusTooManyRequests:
			wantMessage(t, w, http.StatusTooManyRequests, "API rate limit exceeded")
			if remaining != 0 {
				t.Errorf("refused with %d left", remaining)
			}
		default:
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
	}
	slices.Sort(left)
	return left
}

func countdown(t *testing.T, left []int, want int) {
	t.Helper()
	if len(left) != want {
		t.Errorf("%d requests accepted, want %d", len(left), want)
	}
	for i, remaining := range left {
		if remaining != i {
			t.Fatalf("the accepted ones say that left is %v", left)
		}
	}
}

func TestR21OneHundredOfTwoHundred(t *testing.T) {
	s := newSite(t, limited(100))
	second, their := s.issue(t, s.ours, lyceum.Read|lyceum.Write), s.issue(t, s.theirs, lyceum.Read)
	// All keys of a school share its limit.
	countdown(t, s.flood(t, 200, s.key, second), 100)
	countdown(t, s.flood(t, 20, s.key), 0)
	if left := s.flood(t, 1, their); !slices.Equal(left, []int{99}) {
		t.Errorf("another school is left %v", left)
	}
	s.clock.Pass(time.Minute)
	countdown(t, s.flood(t, 200, s.key), 100)
	s.clock.Pass(-time.Minute) // setting the clock back does not start the minute again
	countdown(t, s.flood(t, 20, s.key), 0)
}

// restarted is a second process on the same store: counts that were not saved are lost with the
// first.
func (s *site) restarted(t *testing.T, perMinute int64) *site {
	t.Helper()
	again := *s
	again.options.Keys = access.NewKeys(s.store, s.clock.Now)
	again.options.Limiter = access.NewLimiter(perMinute, s.clock.Now)
	again.options.Metrics = server.NewMetrics("v1.2.3")
	if err := again.books().Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	again.Handler = server.Handler(again.options)
	return &again
}

func (s *site) books() *access.Bookkeeper {
	return &access.Bookkeeper{Store: s.store, Keys: s.options.Keys, OAuth: s.options.OAuth, Limiter: s.options.Limiter, Log: slog.New(slog.DiscardHandler)}
}

// stop saves the usage data a last time, as a process does when it ends.
func (s *site) stop(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.books().Run(ctx)
}

func TestR21AcrossARestart(t *testing.T) {
	first := newSite(t, limited(100))
	their := first.issue(t, first.theirs, lyceum.Read)
	first.clock.Pass(10 * time.Second)
	if left := first.flood(t, 60, first.key); len(left) != 60 {
		t.Fatalf("%d accepted before the restart", len(left))
	}
	first.flood(t, 5, their)
	first.stop(t)

	second := first.restarted(t, 100)
	second.clock.Pass(30 * time.Second)
	countdown(t, second.flood(t, 140, second.key), 40)
	if left := second.flood(t, 1, their); !slices.Equal(left, []int{94}) {
		t.Errorf("another school is left %v", left)
	}
	second.stop(t)

	third := second.restarted(t, 100)
	countdown(t, third.flood(t, 20, third.key), 0)
	third.stop(t)
	third.clock.Pass(20 * time.Second) // into the next minute
	fourth := third.restarted(t, 100)
	countdown(t, fourth.flood(t, 200, fourth.key), 100)
}

func TestR21HeadersCountDown(t *testing.T) {
	s := newSite(t, limited(4))
	s.clock.Pass(43 * time.Second)
	for i, want := range []struct {
		status, remaining int
	}{{200, 3}, {200, 2}, {200, 1}, {200, 0}, {429, 0}, {429, 0}} {
		w := s.list(t, s.key)
		remaining := strconv.Itoa(want.remaining)
		wantStatus(t, w, want.status)
		for name, value := range map[string]string{
			"RateLimit-Limit": "4", "RateLimit-Remaining": remaining, "RateLimit-Reset": "17",
			"X-RateLimit-Limit-Minute": "4", "X-RateLimit-Remaining-Minute": remaining,
			"Retry-After": map[int]string{429: "17"}[want.status],
		} {
			if got := w.Header().Get(name); got != value {
				t.Errorf("request %d: %s is %q, want %q", i+1, name, got, value)
			}
		}
	}
}

// TestR21EveryResponseCounts checks that requests also count if they are rejected for another
// reason.
func TestR21EveryResponseCounts(t *testing.T) {
	s := newSite(t, limited(100))
	writeOnly := s.issue(t, s.ours, lyceum.Write)
	tag := s.list(t, s.key).Header().Get("ETag")
	for i, tc := range []struct {
		status int
		r      *http.Request
	}{
		{200, request(http.MethodGet, "/v1/transactions", nil, "apiKey: "+s.key)},
		{304, request(http.MethodGet, "/v1/transactions", nil, "apiKey: "+s.key, "If-None-Match: "+tag)},
		{400, request(http.MethodGet, "/v1/transactions?page=0", nil, "apiKey: "+s.key)},
		{403, request(http.MethodGet, "/v1/transactions", nil, "apiKey: "+writeOnly)},
	} {
		w := s.do(tc.r)
		wantStatus(t, w, tc.status)
		s.wantContractual(t, w)
		if got, want := w.Header().Get("RateLimit-Remaining"), strconv.Itoa(98-i); got != want {
			t.Errorf("%d: left is %s, want %s", tc.status, got, want)
		}
	}
}

func TestR21WhoeverHasNoKeyIsCountedByAddress(t *testing.T) {
	s := newSite(t, limited(5))
	from := func(address string, r *http.Request) *http.Request {
		r.RemoteAddr = address
		return r
	}
	unknown := access.KeyText(s.ours, access.NewEntropy())
	for i, tc := range []struct {
		status int
		r      *http.Request
	}{
		{401, request(http.MethodGet, "/v1/transactions", nil)},
		{401, request(http.MethodGet, "/v1/transactions", nil, "apiKey: "+unknown)},
		{400, request(http.MethodGet, "/v1/transactions", nil, "apiKey: a", "apiKey: b")},
		{404, request(http.MethodGet, "/v1/unknown", nil)},
		{405, request(http.MethodDelete, "/v1/transactions", nil)},
		{429, request(http.MethodGet, "/v1/transactions", nil)},
		{429, request(http.MethodGet, "/v1/unknown", nil)},
		{429, request(http.MethodDelete, "/v1/transactions", nil)},
	} {
		w := s.do(from("192.0.2.7:"+strconv.Itoa(4000+i), tc.r))
		wantStatus(t, w, tc.status)
		s.wantContractual(t, w)
		if got, want := w.Header().Get("RateLimit-Remaining"), strconv.Itoa(max(4-i, 0)); got != want {
			t.Errorf("%d: left is %s, want %s", tc.status, got, want)
		}
	}
	for name, tc := range map[string]struct {
		status int
		r      *http.Request
	}{
		"another address":                {401, from("192.0.2.8:4000", request(http.MethodGet, "/v1/transactions", nil))},
		"a school behind the same one":   {200, from("192.0.2.7:4000", request(http.MethodGet, "/v1/transactions", nil, "apiKey: "+s.key))},
		"health from the same one":       {200, from("192.0.2.7:4000", request(http.MethodGet, "/livez", nil))},
		"the reference for the same one": {200, from("192.0.2.7:4000", request(http.MethodGet, "/openapi/v1.yaml", nil))},
		"a request without any address":  {401, from("", request(http.MethodGet, "/v1/transactions", nil))},
	} {
		if w := s.do(tc.r); w.Code != tc.status {
			t.Errorf("%s: %d, want %d", name, w.Code, tc.status)
		}
	}
}

func TestNoLimitNoHeaders(t *testing.T) {
	s := newSite(t, limited(0))
	for range 50 {
		s.list(t, s.key) // wantContractual rejects the headers
	}
	for target, status := range map[string]int{"/v1/transactions": 401, "/v1/unknown": 404} {
		wantStatus(t, s.call(t, http.MethodGet, target), status)
	}
	wantStatus(t, s.call(t, http.MethodPut, "/v1/transactions"), 405)
}

// TestR21TooManyForALearner checks that an app beyond its school's limit gets the documented
// message, besides an error in the form of OAuth.
func TestR21TooManyForALearner(t *testing.T) {
	c := newCampus(t)
	for _, version := range []lyceum.InterfaceVersion{lyceum.V1, lyceum.V2} {
		tokens := c.tokens(t, c.ours, version)
		c.options.Limiter = access.NewLimiter(1, c.clock.Now)
		c.Handler = server.Handler(c.options)
		wantStatus(t, c.me(t, version, "Authorization: bearer "+tokens.AccessToken), http.StatusOK)
		w := c.me(t, version, "Authorization: bearer "+tokens.AccessToken)
		wantError(t, w, http.StatusTooManyRequests, "rate_limit_exceeded")
		var body struct{ Message string }
		if decode(t, w.Body.Bytes(), &body); body.Message != "API rate limit exceeded" {
			t.Errorf("version %d: %s", version, w.Body)
		}
		c.options.Limiter = access.NewLimiter(0, c.clock.Now)
		c.Handler = server.Handler(c.options)
	}
}
