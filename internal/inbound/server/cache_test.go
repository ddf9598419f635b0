package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

func cachedClass(t *testing.T, bytes int64) *class {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	k := newClass(t, campusOver(t, store))
	k.options.Cache = server.NewCache(store, bytes, k.clock.Now)
	k.Handler = server.Handler(k.options)
	return k
}

// TestCache checks that the second of two requests is served from the cache if the response
// would be the same, and by the rules otherwise.
func TestCache(t *testing.T) {
	k := cachedClass(t, 1<<20)
	_, another, err := k.options.Keys.Create(t.Context(), lyceum.By{School: k.ours.id, Actor: "test"}, "another", lyceum.Read, access.NewEntropy())
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := "apiKey: "+k.ours.key, "apiKey: "+k.theirs.key
	learner := "Authorization: Bearer " + k.tokens[bearer{k.ours, mira, lyceum.V1}]
	rename := func(name string) {
		w := k.do(request(http.MethodPatch, "/v2/users/2", strings.NewReader(`{"name":"`+name+`"}`), ours, "Content-Type: application/json"))
		wantStatus(t, w, http.StatusOK)
	}
	get := func(path string, headers ...string) func() *http.Request {
		return func() *http.Request { return request(http.MethodGet, path, nil, headers...) }
	}
	for _, row := range []struct {
		name    string
		first   func() *http.Request
		between func()
		second  func() *http.Request // nil: the same as first
		hit     bool
		status  int
		differs bool
	}{
		{name: "again", first: get("/v2/users", ours), hit: true, status: http.StatusOK},
		{name: "version 1", first: get("/v1/courses/1", ours), hit: true, status: http.StatusOK},
		{name: "the key in the other header", first: get("/v2/users", ours), second: get("/v2/users", "Authorization: Bearer "+k.ours.key), hit: true, status: http.StatusOK},
		{name: "head", first: get("/v2/users", ours), second: func() *http.Request { return request(http.MethodHead, "/v2/users", nil, ours) }, hit: true, status: http.StatusOK},
		{name: "another query", first: get("/v2/users", ours), second: get("/v2/users?page=2", ours), status: http.StatusOK, differs: true},
		{name: "a slash within an id", first: get("/v2/products/courses/1/lectures", ours), second: get("/v2/products/courses/1%2Flectures", ours), status: http.StatusBadRequest, differs: true},
		{name: "another school", first: get("/v2/users/2", ours), second: get("/v2/users/2", theirs), status: http.StatusOK, differs: true},
		{name: "another key", first: get("/v2/users", ours), second: get("/v2/users", "apiKey: "+another), status: http.StatusOK},
		{name: "sales, whose index is as fast", first: get("/v1/transactions", ours), status: http.StatusOK},
		{name: "a learner", first: get("/v1/current_user/me", learner), status: http.StatusOK},
		{name: "the school's own interface", first: get("/lyceum/v1/school", ours), status: http.StatusOK},
		{name: "an error", first: get("/v2/users/999", ours), status: http.StatusNotFound},
		{name: "with a body", first: func() *http.Request { return request(http.MethodGet, "/v2/users", strings.NewReader("{}"), ours) }, status: http.StatusOK},
		{name: "after a change", first: get("/v2/users/2", ours), between: func() { rename("Renamed") }, status: http.StatusOK, differs: true},
		{name: "in another second", first: get("/v2/users", ours), between: func() { k.clock.Pass(time.Second) }, status: http.StatusOK},
	} {
		second := row.second
		if second == nil {
			second = row.first
		}
		first := k.do(row.first())
		if row.between != nil {
			row.between()
		}
		before := k.options.Cache.Stats()
		w := k.do(second())
		wantStatus(t, w, row.status)
		if hits := k.options.Cache.Stats().Hits - before.Hits; hits > 0 != row.hit {
			t.Errorf("%s: %d hits", row.name, hits)
		}
		if same := w.Body.String() == first.Body.String(); same == row.differs {
			t.Errorf("%s: %s\nfirst: %s", row.name, w.Body, first.Body)
		}
		if row.hit && w.Header().Get("ETag") != first.Header().Get("ETag") {
			t.Errorf("%s: the tag is %s, first %s", row.name, w.Header().Get("ETag"), first.Header().Get("ETag"))
		}
	}
	w := k.do(get("/v2/users", ours)())
	w = k.do(get("/v2/users", ours, "If-None-Match: "+w.Header().Get("ETag"))())
	wantStatus(t, w, http.StatusNotModified)
	w = k.do(get("/v2/users", ours, "Accept-Encoding: gzip")())
	if w.Header().Get("Content-Encoding") == "" && w.Body.Len() > 1400 {
		t.Error("what is cached is not compressed")
	}
	w = k.do(get("/v2/users", "apiKey: wrong")())
	wantStatus(t, w, http.StatusUnauthorized)
}

// TestCacheIsBounded checks that the cache evicts instead of growing.
func TestCacheIsBounded(t *testing.T) {
	const most = 20_000
	k := cachedClass(t, most)
	for page := range 100 {
		wantStatus(t, k.do(request(http.MethodGet, fmt.Sprintf("/v2/users?page=%d", page+1), nil, "apiKey: "+k.ours.key)), http.StatusOK)
		if bytes := k.options.Cache.Stats().Bytes; bytes == 0 || bytes > most {
			t.Fatalf("after %d pages it has %d bytes", page+1, bytes)
		}
	}
}

// TestCacheIsNeverBehind checks that a read after a change was acknowledged sees it, and that
// nobody reads an older state than they have read before.
func TestCacheIsNeverBehind(t *testing.T) {
	k := cachedClass(t, 1<<20)
	const changes, readers = 200, 4
	var acknowledged atomic.Int64
	var ended atomic.Bool
	var group sync.WaitGroup
	for range readers {
		group.Go(func() {
			seen := int64(0)
			for !ended.Load() {
				least := max(acknowledged.Load(), seen)
				w := k.do(request(http.MethodGet, "/v2/users/2", nil, "apiKey: "+k.ours.key))
				_, text, _ := strings.Cut(w.Body.String(), `"name":"n`)
				if _, err := fmt.Sscanf(text, `%d"`, &seen); err != nil && least > 0 || seen < least {
					t.Errorf("after change %d: %s", least, w.Body)
					return
				}
			}
		})
	}
	for n := range int64(changes) {
		storetest.Write(t, k.store, k.ours.id, func(tx lyceum.Tx) error {
			user, err := tx.Users.Get(tx, 2)
			if err != nil {
				return err
			}
			user.Name = lyceum.Some(fmt.Sprintf("n%d", n+1))
			return tx.Users.Update(tx, user)
		})
		acknowledged.Store(n + 1)
		w := k.do(request(http.MethodGet, "/v2/users/2", nil, "apiKey: "+k.ours.key))
		if !strings.Contains(w.Body.String(), fmt.Sprintf(`"name":"n%d"`, n+1)) {
			t.Errorf("change %d: %s", n+1, w.Body)
		}
	}
	ended.Store(true)
	group.Wait()
	if stats := k.options.Cache.Stats(); stats.Hits == 0 {
		t.Error("nothing came from the cache")
	}
}
