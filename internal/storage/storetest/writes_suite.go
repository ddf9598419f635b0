package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/lyceum-school/lyceum"
)

func ids(t *testing.T, store lyceum.Store) {
	school := MakeSchool(t, store)
	next := func() (id lyceum.UserID) {
		t.Helper()
		Write(t, store, school, func(tx lyceum.Tx) (err error) {
			id, err = tx.Users.NextID(tx)
			return err
		})
		return id
	}
	if got := next(); got != 1 {
		t.Errorf("first id %d, want 1", got)
	}
	Write(t, store, school, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, user(500), user(20))
		return err
	})
	if got := next(); got != 501 {
		t.Errorf("after an imported 500: %d, want 501", got)
	}
	_ = store.Write(t.Context(), stamp(school), func(tx lyceum.Tx) error {
		_, err := tx.Users.NextID(tx)
		return errors.Join(err, errors.New("changed my mind"))
	})
	if got := next(); got != 502 {
		t.Errorf("after a change that failed: %d, want 502", got)
	}
	known, err := store.In(t.Context(), school).Known(lyceum.UserSequence, []int32{1, 20, 500, 501, 20})
	slices.Sort(known)
	if err != nil || !slices.Equal(slices.Compact(known), []int32{20, 500}) {
		t.Errorf("known %v, %v; want 20 and 500", known, err)
	}
	err = store.Write(t.Context(), stamp(school), func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, user(0))
		return err
	})
	if lyceum.KindOf(err) != lyceum.Invalid {
		t.Errorf("id 0: %v, want a refusal", err)
	}
}

func lastID(t *testing.T, store lyceum.Store) {
	school := MakeSchool(t, store)
	Write(t, store, school, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, user(lyceum.MaxID))
		return err
	})
	err := store.Write(t.Context(), stamp(school), func(tx lyceum.Tx) error {
		_, err := tx.Users.NextID(tx)
		return err
	})
	if lyceum.KindOf(err) != lyceum.Conflict {
		t.Errorf("id after the last: %v, want a conflict", err)
	}
}

// writers is how many goroutines write concurrently in the tests that use crowd.
const writers = 16

func crowd(t *testing.T, each int, write func(worker, i int) error) {
	t.Helper()
	var group sync.WaitGroup
	for worker := range writers {
		group.Go(func() {
			for i := range each {
				if err := write(worker, i); err != nil {
					t.Errorf("worker %d, write %d: %v", worker, i, err)
					return
				}
			}
		})
	}
	group.Wait()
}

func journal(t *testing.T, store lyceum.Store) {
	schools := []lyceum.SchoolID{MakeSchool(t, store), MakeSchool(t, store)}
	const each = 12
	crowd(t, each, func(worker, i int) error {
		return store.Write(t.Context(), stamp(schools[worker%2]), func(tx lyceum.Tx) error {
			first, err := tx.Users.NextID(tx)
			if err != nil {
				return err
			}
			second, err := tx.Users.NextID(tx)
			if err != nil {
				return err
			}
			_, err = tx.Users.Save(tx, user(first), user(second))
			return err
		})
	})
	for _, school := range schools {
		entries, err := FindEntries(t.Context(), store, school, 1, 10_000)
		if err != nil || len(entries) != writers/2*each*2 {
			t.Fatalf("%d entries, %v; want %d", len(entries), err, writers/2*each*2)
		}
		seen := map[int32]bool{}
		for i, e := range entries {
			if e.Number != int64(i+2) {
				t.Fatalf("entry %d has number %d", i+2, e.Number)
			}
			if seen[e.ObjectID] {
				t.Fatalf("user %d was created twice", e.ObjectID)
			}
			seen[e.ObjectID] = true
			if i%2 == 1 && e.ObjectID != entries[i-1].ObjectID+1 {
				t.Fatalf("entries %d and %d of one change are torn apart", e.Number-1, e.Number)
			}
		}
		rest, err := FindEntries(t.Context(), store, school, entries[9].Number, 5)
		if err != nil || len(rest) != 5 || rest[0].Number != entries[10].Number {
			t.Errorf("page after entry %d: %v, %v", entries[9].Number, rest, err)
		}
	}
}

func neighbours(t *testing.T, store lyceum.Store) {
	school := MakeSchool(t, store)
	failure := lyceum.Invalidf("not this one")
	crowd(t, 10, func(worker, i int) error {
		id := lyceum.UserID(worker*100 + i + 1)
		err := store.Write(t.Context(), stamp(school), func(tx lyceum.Tx) error {
			if _, err := tx.Users.Save(tx, user(id)); err != nil {
				return err
			}
			if worker%2 == 1 {
				return failure
			}
			return nil
		})
		if worker%2 == 1 {
			if !errors.Is(err, failure) {
				return fmt.Errorf("failing change returned %w", err)
			}
			return nil
		}
		return err
	})
	kept := 0
	v := store.In(t.Context(), school)
	err := v.Users.Each(v, lyceum.UserFilter{}, func(u *lyceum.User) error {
		kept++
		if int(u.ID)/100%2 == 1 {
			t.Errorf("user %d of a failed change was kept", u.ID)
		}
		return nil
	})
	if err != nil || kept != writers/2*10 {
		t.Errorf("%d users kept, %v; want %d", kept, err, writers/2*10)
	}
	if findings, err := store.Check(t.Context()); err != nil || len(findings) > 0 {
		t.Errorf("check: %v, %v", findings, err)
	}
}

func panics(t *testing.T, store lyceum.Store) {
	school := MakeSchool(t, store)
	err := store.Write(t.Context(), stamp(school), func(lyceum.Tx) error { panic("oh") })
	if lyceum.KindOf(err) != lyceum.Internal {
		t.Errorf("a panic gives %v, want an internal error", err)
	}
	Write(t, store, school, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, user(1))
		return err
	})
}

func cancelled(t *testing.T, store lyceum.Store) {
	school := MakeSchool(t, store)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := store.Write(ctx, stamp(school), func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, user(1))
		return err
	})
	if lyceum.KindOf(err) != lyceum.Unavailable {
		t.Errorf("a cancelled write gives %v", err)
	}
	if known, err := store.In(t.Context(), school).Known(lyceum.UserSequence, []int32{1}); err != nil || len(known) > 0 {
		t.Errorf("known %v, %v; want none", known, err)
	}
}

// cancelledReads guards against a pitfall of SQLite drivers: a connection whose statement was
// interrupted must not return "interrupted" forever.
func cancelledReads(t *testing.T, store lyceum.Store) {
	school := MakeSchool(t, store)
	Ledger(t, store, school, 3, 500)
	filter := lyceum.TransactionFilter{Chargeback: lyceum.Some(false)}
	for i := range 60 {
		ctx, cancel := context.WithCancel(t.Context())
		visited := 0
		v := store.In(ctx, school)
		err := v.Transactions.Each(v, lyceum.TransactionQuery{TransactionFilter: filter}, func(*lyceum.Transaction) error {
			if visited++; visited == i {
				cancel()
			}
			return nil
		})
		cancel()
		if i > 0 && lyceum.KindOf(err) != lyceum.Unavailable {
			t.Fatalf("a cancelled read gives %v", err)
		}
	}
	if _, err := store.FindTransactions(t.Context(), school, filter, lyceum.NewestFirst,
		lyceum.Page{Number: 1, Size: 20}); err != nil {
		t.Errorf("after cancelled reads: %v", err)
	}
}
