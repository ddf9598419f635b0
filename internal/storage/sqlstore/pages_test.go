package sqlstore

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestOverwrittenPagesKeepRows checks that overwriting the unused part of a page does not undo what
// an earlier change of the same group writes to that page.
func TestOverwrittenPagesKeepRows(t *testing.T) {
	t.Parallel()
	const people, each, most = 2000, 20, 60
	store := openTest(t)
	school := storetest.MakeSchool(t, store)
	random := rand.New(rand.NewPCG(1, 2))
	order := random.Perm(people)
	next := func(tx lyceum.Tx) error {
		for _, i := range order[:each] {
			err := tx.Users.Insert(tx, lyceum.User{
				ID: lyceum.UserID(i + 1), Email: fmt.Sprintf("%d.%d@example.com", random.Int32(), i), CreatedAt: storetest.Begin,
				Notes: lyceum.Some(strings.Repeat("note ", random.IntN(200))),
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	for len(order) > each*most {
		storetest.Write(t, store, school, next)
		order = order[each:]
	}
	var layout pageLayout
	var dirty []int64
	err := store.reading(t.Context(), func(q reading) error {
		return eachPage(q, 1, 1<<16, func(number int64, page []byte) error {
			if number == 1 {
				layout = layoutOf(page)
			}
			if !blank(layout.unused(number, page)) {
				dirty = append(dirty, number)
			}
			return nil
		})
	})
	if err != nil || len(dirty) == 0 {
		t.Fatal(dirty, err)
	}
	b := &busyWriters{store: store}
	for n := range most {
		begun, end := make(chan struct{}), make(chan struct{})
		var group sync.WaitGroup
		run := func(do func() error) {
			group.Go(func() {
				if err := do(); err != nil {
					t.Error(err)
				}
			})
		}
		run(func() error {
			return store.write(t.Context(), 0, func(*session) error { close(begun); <-end; return nil })
		})
		<-begun
		run(func() error {
			return store.Write(t.Context(), lyceum.Stamp{School: school, At: storetest.Begin, Actor: "test"}, next)
		})
		eventually(t, "a change waits", func() bool { return b.waiting() == 1 })
		run(func() error { return store.blankPages(t.Context(), layout, dirty[n%len(dirty):][:1]) })
		eventually(t, "the pages wait", func() bool { return b.waiting() == 2 })
		close(end)
		group.Wait()
		order = order[each:]
	}
	if found, err := store.Check(t.Context()); len(found) > 0 || err != nil {
		t.Error(found, err)
	}
	if n := countUsers(t, store, school); n != people {
		t.Errorf("%d users, want %d", n, people)
	}
}

// TestFreePagesAreCountedAgain checks that a change sees how many pages are left after it has moved
// one.
func TestFreePagesAreCountedAgain(t *testing.T) {
	t.Parallel()
	store := openTest(t)
	school := storetest.MakeSchool(t, store)
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		for n := range int64(10) {
			event := lyceum.EventPayload{Number: n + 1, At: storetest.Begin, Object: noise(n, 50_000)}
			if err := tx.Payloads.Insert(tx, event); err != nil {
				return err
			}
		}
		return nil
	})
	storetest.Write(t, store, school, func(tx lyceum.Tx) error { return txOf(tx).q.exec("DELETE FROM event_payloads") })
	var before, after int64
	err := store.write(t.Context(), 0, func(q *session) error {
		for _, free := range []*int64{&before, &after} {
			if _, err := q.one(store.dialect.fileSpace, nil, discard, scanInt(free), discard); err != nil {
				return err
			}
			if err := q.exec(store.dialect.movePage); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || before == 0 || after >= before {
		t.Errorf("%d bytes were free, then %d: %v", before, after, err)
	}
}
