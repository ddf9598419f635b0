package server_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// entryOf returns the Journal-Entry of the response to a change, or 0 if it has none.
func entryOf(t *testing.T, w *httptest.ResponseRecorder) int64 {
	t.Helper()
	text := w.Header().Get("Journal-Entry")
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		t.Errorf("the answer has Journal-Entry %q", text)
	}
	return n
}

func (s *site) lastEntry(t *testing.T) int64 {
	t.Helper()
	ends, err := s.store.LastEntries(t.Context(), []lyceum.SchoolID{s.ours})
	if err != nil {
		t.Fatal(err)
	}
	return ends.Last[s.ours].Number
}

// TestJournalEntry checks that responses to changes have the number of the last entry, even if
// nothing had to change, and that requests may send it.
func TestJournalEntry(t *testing.T) {
	s := newSite(t)
	key := "apiKey: " + s.issue(t, s.ours, lyceum.Read|lyceum.Write)
	send := func(method, target, body string, headers ...string) *httptest.ResponseRecorder {
		return s.do(request(method, target, strings.NewReader(body), append(headers, key, "Content-Type: application/json")...))
	}
	course := send(http.MethodPost, "/lyceum/v1/courses", `{"name":"Pottery"}`)
	wantStatus(t, course, http.StatusCreated)
	for _, row := range []struct{ method, target, body string }{
		{http.MethodPatch, "/v2/users/1", `{"name":"Mira"}`},
		{http.MethodPost, "/lyceum/v1/courses", `{"name":"Pottery 2"}`},
		{http.MethodPost, "/v1/enroll", `{"user_id":1,"course_id":1}`},
		{http.MethodPost, "/v1/enroll", `{"user_id":1,"course_id":1}`}, // changes nothing
	} {
		w := send(row.method, row.target, row.body)
		if w.Code >= 300 {
			t.Errorf("%s: status %d: %s", row.target, w.Code, w.Body)
		}
		if got, want := entryOf(t, w), s.lastEntry(t); got != want {
			t.Errorf("%s: Journal-Entry is %d, want %d", row.target, got, want)
		}
	}
	last := strconv.FormatInt(s.lastEntry(t), 10)
	for _, target := range []string{"/v1/transactions", "/v2/products", "/lyceum/v1/school"} {
		w := send(http.MethodGet, target, "", "Journal-Entry: "+last)
		wantStatus(t, w, http.StatusOK)
		if got := entryOf(t, w); got != 0 {
			t.Errorf("%s: a read has Journal-Entry %d", target, got)
		}
		if w := send(http.MethodGet, target, "", "Journal-Entry: 1", "Journal-Entry: 2"); w.Code != http.StatusBadRequest ||
			!strings.Contains(w.Body.String(), "the header Journal-Entry must be sent once") {
			t.Errorf("%s: sent twice: %d %s", target, w.Code, w.Body)
		}
		for _, bad := range []string{"", "x", "0", "-1", "+5", "1.5", "1e3", "0x10", "9223372036854775808", "1, 2"} {
			w := send(http.MethodGet, target, "", "Journal-Entry: "+bad)
			const says = "the header Journal-Entry must be a whole number from 1 to 9223372036854775807, as sent in a response"
			if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), says) {
				t.Errorf("%s: %q is %d %s", target, bad, w.Code, w.Body)
			}
		}
	}
	future := send(http.MethodGet, "/v1/transactions", "", "Journal-Entry: 9223372036854775807")
	wantMessage(t, future, http.StatusServiceUnavailable,
		"this server does not have change 9223372036854775807 of the school yet; try again")
	if future.Header().Get("Retry-After") == "" {
		t.Error("nobody is told when to try again")
	}
	wantStatus(t, s.do(request(http.MethodGet, "/v1/transactions", nil, "apiKey: wrong", "Journal-Entry: x")), http.StatusUnauthorized)
}

// processOn returns one of the processes that serve a PostgreSQL database.
func processOn(t *testing.T, place string) *site {
	t.Helper()
	kept, err := sqlstore.OpenPostgres(t.Context(), place, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	store := salesindex.Over(kept, salesindex.Options{Memory: 64 << 20})
	t.Cleanup(func() { _ = store.Close() })
	s := &site{store: store, clock: storetest.NewClock(storetest.Begin), log: &logbook{}}
	tokens := access.NewOAuth(store, s.clock.Now)
	s.options = server.Options{
		Faces: facesOver(store, s.clock.Now, tokens), Keys: access.NewKeys(store, s.clock.Now), OAuth: tokens,
		Limiter: access.NewLimiter(0, s.clock.Now), Reference: http.NotFoundHandler(), Ready: store.Ping, Journal: store,
		Metrics: server.NewMetrics("v1"), Log: slog.New(slog.NewJSONHandler(s.log, nil)),
	}
	s.Handler = server.Handler(s.options)
	return s
}

// TestReadYourWritesAtAnotherProcess checks that a client that sends the number of a change to
// another process sees the change, and that a key which it revoked is no longer valid.
func TestReadYourWritesAtAnotherProcess(t *testing.T) {
	t.Parallel()
	place := storetest.Postgres(t)
	first := processOn(t, place)
	second := processOn(t, place)
	school := storetest.MakeSchool(t, first.store)
	first.ours, second.ours = school, school
	storetest.Ledger(t, first.store, school, 1, ourSales)
	v := first.store.In(t.Context(), school)
	user, _, err := v.Users.First(v, lyceum.UserFilter{})
	if err != nil {
		t.Fatal(err)
	}
	plan, _, err := v.PricingPlans.First(v, lyceum.PricingPlanFilter{})
	if err != nil {
		t.Fatal(err)
	}
	made, text, err := first.options.Keys.Create(t.Context(), lyceum.By{School: school, Actor: "test"}, "test",
		lyceum.Read|lyceum.Write, access.NewEntropy())
	if err != nil {
		t.Fatal(err)
	}
	key := "apiKey: " + text
	total := func(s *site, headers ...string) int {
		return totalOf(t, s.do(request(http.MethodGet, "/v1/transactions", nil, append(headers, key)...)))
	}
	for _, s := range []*site{first, second} {
		total(s)
		if !storetest.Await(func() bool { return s.store.(*salesindex.Store).Stats().Schools == 1 }) {
			t.Fatal("there is no index")
		}
	}
	sites, stale := []*site{first, second}, 0
	for i := range 20 {
		here, there := sites[i%2], sites[1-i%2]
		w := here.do(request(http.MethodPost, "/lyceum/v1/sales", strings.NewReader(fmt.Sprintf(
			`{"user_id":%d,"pricing_plan_id":%d,"charge":500,"reference":"sale_%d"}`, user.ID, plan.ID, i)), key, "Content-Type: application/json"))
		wantStatus(t, w, http.StatusCreated)
		if total(there) != ourSales+i+1 {
			stale++
		}
		if got := total(there, "Journal-Entry: "+w.Header().Get("Journal-Entry")); got != ourSales+i+1 {
			t.Errorf("sale %d: the other process lists %d sales, want %d", i, got, ourSales+i+1)
		}
	}
	t.Logf("without the header %d of 20 lists were older", stale)
	if err := first.options.Keys.Revoke(t.Context(), lyceum.By{School: school, Actor: "test"}, made.ID); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, second.do(request(http.MethodGet, "/v1/courses", nil, key)), http.StatusOK) // still cached, for five seconds
	entry := "Journal-Entry: " + strconv.FormatInt(first.lastEntry(t), 10)
	wantMessage(t, second.do(request(http.MethodGet, "/v1/courses", nil, key, entry)), http.StatusUnauthorized,
		"Invalid authentication credentials")
}
