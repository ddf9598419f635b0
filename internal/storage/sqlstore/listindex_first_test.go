package sqlstore

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// manyUsers creates a school of n users.
func manyUsers(t *testing.T, s *Store, n lyceum.UserID) lyceum.SchoolID {
	t.Helper()
	school := storetest.MakeSchool(t, s)
	storetest.Write(t, s, school, func(tx lyceum.Tx) error {
		for id := range n {
			u := lyceum.User{ID: id + 1, Email: fmt.Sprintf("u%d@example.com", id), Role: lyceum.Student, CreatedAt: storetest.Begin}
			if err := tx.Users.Insert(tx, u); err != nil {
				return err
			}
		}
		return nil
	})
	return school
}

// TestOneReadsAListThatHasNoIndex checks that if many callers request a list without an index
// at the same time, one reads it and the others wait for the index that is then built, on both
// engines. If there is no memory for one, they read the list, too.
func TestOneReadsAListThatHasNoIndex(t *testing.T) {
	t.Parallel()
	bothEngines(t, Options{}, func(t *testing.T, s *Store) {
		const callers, users = 40, 30
		school := manyUsers(t, s, users)
		for _, tc := range []struct {
			name         string
			memory       int64
			least        int64
			hits, misses int64 // at least and at most
		}{
			{"a long list", 1 << 20, 10, callers - 1, 1},
			{"a list without room", 8, 10, 0, callers},
			{"a short list", 1 << 20, 1000, 0, 0},
		} {
			t.Run(tc.name, func(t *testing.T) {
				s.IndexLists(tc.memory)
				s.lists.after, s.lists.least, s.lists.soon = 5, tc.least, time.Hour
				order := lyceum.UserOrder{By: lyceum.UserByEmail, Descending: tc.least > 10}
				before := s.ListStats()
				var all sync.WaitGroup
				for n := range callers {
					all.Go(func() {
						page := lyceum.Page{Number: 2 + int32(n%4), Size: 8}
						v := s.In(t.Context(), school)
						got, err := v.Users.List(v, lyceum.UserFilter{Order: order}, page)
						if want := min(8, max(0, users-int(page.Offset()))); err != nil || got.Total != users || len(got.Rows) != want {
							t.Errorf("page %d has %d of %d users, %v; want %d of %d", page.Number, len(got.Rows), got.Total, err, want, users)
						}
					})
				}
				all.Wait()
				s.lists.work.Wait()
				now := s.ListStats()
				hits, misses := now.Hits-before.Hits, now.Misses-before.Misses
				if hits < tc.hits || misses > tc.misses || now.Building != 0 {
					t.Errorf("an index gave %d pages and missed %d, want at least %d and at most %d", hits, misses, tc.hits, tc.misses)
				}
				if n := len(s.lists.readings); n != 0 {
					t.Errorf("%d readings have not ended", n)
				}
			})
		}
	})
}

// TestAnIndexBuiltMeanwhileIsFound checks that a caller does not read a list whose index was built
// after it had looked for it.
func TestAnIndexBuiltMeanwhileIsFound(t *testing.T) {
	t.Parallel()
	s := openTest(t)
	s.IndexLists(1 << 20)
	s.lists.after, s.lists.least = 5, 10
	school := manyUsers(t, s, 30)
	s.lists.want(school, users.ranking(nil, lyceum.UserFilter{}), 0)
	s.lists.work.Wait()
	late := users.ranking(nil, lyceum.UserFilter{})
	if s.lists.await(t.Context(), school, late) == nil {
		t.Error("the list is read again")
	}
	s.lists.leave(late)
	if n := len(s.lists.readings); n != 0 {
		t.Errorf("%d readings have not ended", n)
	}
}

// TestNobodyWaitsForAListForever checks that a request that waits for a list gives up when it
// is canceled, and that after the first reading was given up, the next request becomes the
// first.
func TestNobodyWaitsForAListForever(t *testing.T) {
	t.Parallel()
	s := openTest(t)
	s.IndexLists(1 << 20)
	s.lists.after, s.lists.least = 5, 10
	school := manyUsers(t, s, 30)
	r := users.ranking(nil, lyceum.UserFilter{})
	if l := s.lists.await(t.Context(), school, r); l != nil || r.reading == nil {
		t.Fatal("the first reading did not begin")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	other := users.ranking(nil, lyceum.UserFilter{})
	if l := s.lists.await(gone, school, other); l != nil || other.reading != nil {
		t.Error("a second reading is a first one")
	}
	waits := make(chan *indexedList)
	go func() {
		late := users.ranking(nil, lyceum.UserFilter{})
		l := s.lists.await(context.Background(), school, late)
		s.lists.leave(late) // it may have come so late that it is the first
		waits <- l
	}()
	s.lists.leave(r)
	if l := <-waits; l != nil {
		t.Error("there is an index that nobody made")
	}
	again := users.ranking(nil, lyceum.UserFilter{})
	if s.lists.await(t.Context(), school, again); again.reading == nil {
		t.Error("no first reading begins after one that was given up")
	}
	s.lists.leave(again)
}
