package server_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// slowReader does not read a response until it is told to continue.
type slowReader struct {
	*httptest.ResponseRecorder
	begun chan<- struct{}
	goOn  <-chan struct{}
}

func (s *slowReader) Write(b []byte) (int, error) {
	s.begun <- struct{}{}
	<-s.goOn
	return s.ResponseRecorder.Write(b)
}

// loaded gives a site little memory for responses, and little time to wait for it.
func loaded(load **access.Load, limits access.LoadLimits) func(*site, *server.Options) {
	return func(_ *site, o *server.Options) {
		*load = access.NewLoad(limits)
		o.Load = *load
	}
}

const impatient = time.Nanosecond

// large is a body of the given size in bytes.
func large(bytes int) wire.Endpoint {
	return func(context.Context, wire.Principal, *http.Request) (wire.Body, error) {
		return wire.Text(`"` + strings.Repeat("x", bytes-2) + `"`), nil
	}
}

// What slow clients have not yet read is limited per school and per process. Beyond that,
// requests get a 503 that says when to retry; other schools and small responses are not
// affected, and when the clients are gone, the memory is free again.
func TestR25_SlowReadersAreBounded(t *testing.T) {
	t.Parallel()
	var load *access.Load
	s := newSite(t, loaded(&load, access.LoadLimits{Process: 8 << 20, School: 4 << 20, Wait: impatient}),
		with("large", http.MethodGet, large(1<<20)), with("small", http.MethodGet, large(1<<10)))
	theirs := s.issue(t, s.theirs, lyceum.Read)
	get := func(name, key string) *http.Request {
		return request(http.MethodGet, "/test/"+name, nil, "apiKey: "+key)
	}
	begun, goOn := make(chan struct{}), make(chan struct{})
	var slow sync.WaitGroup
	for range 3 {
		slow.Go(func() { s.ServeHTTP(&slowReader{httptest.NewRecorder(), begun, goOn}, get("large", s.key)) })
		<-begun
	}
	if got := load.Bytes(); got != 3<<20 {
		t.Errorf("%d bytes are under way, want %d", got, 3<<20)
	}
	w := s.do(get("large", s.key))
	if wantStatus(t, w, http.StatusServiceUnavailable); w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "too many large answers are in progress") {
		t.Errorf("beyond the room: %v %s", w.Header(), w.Body)
	}
	if w.Header().Get("ETag") != "" {
		t.Error("a 503 bears a tag")
	}
	wantStatus(t, s.do(get("small", s.key)), http.StatusOK)
	wantStatus(t, s.list(t, s.key), http.StatusOK)
	wantStatus(t, s.do(get("large", theirs)), http.StatusOK)
	close(goOn)
	slow.Wait()
	wantStatus(t, s.do(get("large", s.key)), http.StatusOK)
	if load.Bytes() != 0 || load.Refused() != 1 {
		t.Errorf("%d bytes are under way at the end, %d answers were refused", load.Bytes(), load.Refused())
	}
}

// While a response is compressed it reserves memory for both texts, and then for the compressed
// one.
func TestR25_CompressedResponsesAreCounted(t *testing.T) {
	t.Parallel()
	var load *access.Load
	s := newSite(t, loaded(&load, access.LoadLimits{Process: 8 << 20, School: 8 << 20, Wait: impatient}), with("large", http.MethodGet, large(1<<20)))
	begun, goOn := make(chan struct{}), make(chan struct{})
	var slow sync.WaitGroup
	slow.Go(func() {
		s.ServeHTTP(&slowReader{httptest.NewRecorder(), begun, goOn}, request(http.MethodGet, "/test/large", nil, "apiKey: "+s.key, "Accept-Encoding: gzip"))
	})
	<-begun
	if got := load.Bytes(); got == 0 || got > 512<<10 {
		t.Errorf("%d bytes are under way of a text that compresses well", got)
	}
	close(goOn)
	slow.Wait()
	full := load.Begin(s.ours)
	full.Set(7 << 20)
	wantStatus(t, s.do(request(http.MethodGet, "/test/large", nil, "apiKey: "+s.key, "Accept-Encoding: gzip")), http.StatusServiceUnavailable)
}

// A read whose rows find no room is rejected before all of them are in memory; a change is not
// rejected because of its response.
func TestR25_RowsAreCountedAsTheyAreRead(t *testing.T) {
	t.Parallel()
	var load *access.Load
	s := newSite(t, loaded(&load, access.LoadLimits{Process: 16 << 20, School: 16 << 20, Wait: impatient}))
	heavySchool(t, s)
	writer := s.issue(t, s.ours, lyceum.Read|lyceum.Write)
	full := load.Begin(s.ours)
	full.Set(16<<20 - 100<<10)
	for _, path := range []string{"/lyceum/v1/changes", "/lyceum/v1/events", "/lyceum/v1/lectures/90/comments", "/lyceum/v1/deliveries/90"} {
		wantStatus(t, s.do(request(http.MethodGet, path+"?after=0", nil, "apiKey: "+s.key)), http.StatusServiceUnavailable)
	}
	wantStatus(t, s.list(t, s.key), http.StatusOK)
	body := manyTags(100)
	wantStatus(t, s.do(request(http.MethodPut, "/lyceum/v1/users/1/tags", strings.NewReader(body), "apiKey: "+writer, "Content-Type: application/json")), http.StatusOK)
	full.End()
	wantStatus(t, s.do(request(http.MethodGet, "/lyceum/v1/changes", nil, "apiKey: "+s.key)), http.StatusOK)
	if load.Bytes() != 0 {
		t.Errorf("%d bytes are under way at the end", load.Bytes())
	}
}

// A request that waits for room holds no database connection, and is served when there is room.
func TestR25_WaitingHoldsNothing(t *testing.T) {
	t.Parallel()
	var load *access.Load
	s := newSite(t, loaded(&load, access.LoadLimits{Process: 64 << 20, School: 32 << 20, Wait: time.Hour}))
	heavySchool(t, s)
	full := load.Begin(s.ours)
	full.Set(32 << 20)
	const crowd = 12 // more than there are connections
	statuses := make(chan int, crowd)
	for range crowd {
		go func() {
			statuses <- s.do(request(http.MethodGet, "/lyceum/v1/changes", nil, "apiKey: "+s.key)).Code
		}()
	}
	for range 100 {
		if _, err := s.store.In(t.Context(), s.theirs).GetSchool(); err != nil {
			t.Fatal(err)
		}
	}
	full.End()
	for range crowd {
		if code := <-statuses; code != http.StatusOK {
			t.Fatal(fmt.Sprint("who waited is answered with ", code))
		}
	}
	if load.Bytes() != 0 {
		t.Errorf("%d bytes are under way at the end", load.Bytes())
	}
}

// Expensive responses are made one after the other: a request that gets no turn in time is told
// so, while other schools and other responses are not affected. A slow reader, or a request
// that waits for something to happen, has no turn.
func TestR25_ExpensiveResponsesTakeTurns(t *testing.T) {
	t.Parallel()
	var load *access.Load
	s := newSite(t, loaded(&load, access.LoadLimits{Process: 64 << 20, School: 32 << 20, Turns: 2, Wait: impatient}))
	heavySchool(t, s)
	theirs := s.issue(t, s.theirs, lyceum.Read)
	making := load.Begin(s.ours)
	making.TryTurn()
	get := func(path, key string) *http.Request { return request(http.MethodGet, path, nil, "apiKey: "+key) }
	for _, path := range []string{"/lyceum/v1/changes", "/lyceum/v1/events", "/lyceum/v1/lectures/90/comments", "/lyceum/v1/deliveries/90"} {
		w := s.do(get(path, s.key))
		if wantStatus(t, w, http.StatusServiceUnavailable); w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %v", path, w.Header())
		}
	}
	wantStatus(t, s.list(t, s.key), http.StatusOK)
	wantStatus(t, s.do(get("/lyceum/v1/changes", theirs)), http.StatusOK)
	making.End()
	begun, goOn := make(chan struct{}), make(chan struct{})
	var slow sync.WaitGroup
	slow.Go(func() {
		s.ServeHTTP(&slowReader{httptest.NewRecorder(), begun, goOn}, get("/lyceum/v1/events", s.key))
	})
	<-begun
	waits, stop := context.WithCancel(t.Context())
	slow.Go(func() { s.do(get("/lyceum/v1/changes?after=1000000&wait=60", s.key).WithContext(waits)) })
	// The second one has a turn until it has seen that there is nothing yet.
	if !storetest.Await(func() bool { return s.do(get("/lyceum/v1/deliveries/90", s.key)).Code == http.StatusOK }) {
		t.Error("who reads slowly, or waits, has a turn")
	}
	close(goOn)
	stop()
	slow.Wait()
	if load.Making() != 0 || load.Bytes() != 0 {
		t.Errorf("%d are being made at the end, of %d bytes", load.Making(), load.Bytes())
	}
}

// If a response finds no room, the log says how much it needed and which setting provides more;
// the client gets the usual message.
func TestR25_TheLogNamesTheSettingThatGivesMoreRoom(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		limits  access.LoadLimits
		setting string
		bound   float64 // three quarters of the limit, for a response that begins
	}{
		"of the school": {access.LoadLimits{Process: 8 << 20, School: 1 << 20, Wait: impatient}, "--answer-memory-school", 768 << 10},
		"of the server": {access.LoadLimits{Process: 1 << 20, School: 2 << 20, Wait: impatient}, "--answer-memory", 768 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var load *access.Load
			s := newSite(t, loaded(&load, tc.limits), with("large", http.MethodGet, large(1<<20)))
			w := s.do(request(http.MethodGet, "/test/large", nil, "apiKey: "+s.key))
			wantStatus(t, w, http.StatusServiceUnavailable)
			if body := w.Body.String(); !strings.Contains(body, "too many large answers are in progress") || strings.Contains(body, "--answer-memory") {
				t.Errorf("the caller is told %s", body)
			}
			lines := s.log.lines(t, "request refused")
			if len(lines) != 1 {
				t.Fatalf("%d lines in the log: %v", len(lines), lines)
			}
			got := lines[0]
			if got["school"] != float64(s.ours) || got["wanted_bytes"] != float64(1<<20) || got["bound_bytes"] != tc.bound || got["setting"] != tc.setting {
				t.Errorf("the log says %v", got)
			}
		})
	}
}

// The same applies to what is read before there is a response.
func TestR25_TheLogNamesTheSettingForRowsToo(t *testing.T) {
	t.Parallel()
	var load *access.Load
	s := newSite(t, loaded(&load, access.LoadLimits{Process: 64 << 20, School: 4 << 20, Wait: impatient}))
	heavySchool(t, s)
	wantStatus(t, s.do(request(http.MethodGet, "/lyceum/v1/changes", nil, "apiKey: "+s.key)), http.StatusServiceUnavailable)
	lines := s.log.lines(t, "request refused")
	if len(lines) != 1 || lines[0]["setting"] != "--answer-memory-school" || lines[0]["wanted_bytes"] != float64(8<<20) {
		t.Errorf("the log says %v", lines)
	}
}
