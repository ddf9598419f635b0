package sqlstore

import (
	"fmt"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestQueriesOfProvisionalCounters checks that a query that a change runs with provisional counters
// and with those of the database, but not with the last known ones, is not left to its guess.
func TestQueriesOfProvisionalCounters(t *testing.T) {
	t.Parallel()
	const before, more = 10, 1 + fewRows
	stores := openProcesses(t, true, func(string) {})
	school := schoolOfDeeds(t, stores[2])
	makePlans(t, stores[2], school)
	users := func(n int) {
		storetest.Write(t, stores[1], school, func(tx lyceum.Tx) error {
			for range n {
				id, err := tx.Users.NextID(tx)
				if err != nil {
					return err
				}
				email := fmt.Sprintf("%d@example.com", id)
				if err := tx.Users.Insert(tx, lyceum.User{ID: id, Email: email, CreatedAt: storetest.Begin}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	users(before)
	var wanted []lyceum.UserID
	for n := range lyceum.UserID(more) {
		wanted = append(wanted, before+1+n)
	}
	product := int32(0)
	find := func() []*deed {
		var deeds []*deed
		for range 2 {
			product++
			of := lyceum.Product{Kind: lyceum.CourseKind, ID: product}
			deeds = append(deeds, &deed{do: func(tx lyceum.Tx, found func(string, ...any)) error {
				if _, err := tx.FindOffer(1, 1); err != nil {
					return err
				}
				all, err := tx.Users.Find(tx, wanted...)
				if found("%d users", len(all)); err != nil {
					return err
				}
				id, err := tx.Blocks.NextID(tx)
				if err != nil {
					return err
				}
				return tx.Blocks.Insert(tx, lyceum.Block{ID: id, User: 1, Product: of, CreatedAt: storetest.Begin})
			}})
		}
		together(stores[0], deeds, school)
		return deeds
	}
	for range 2 * (leastStreak + 1) { // until guesses are trusted, except those of counters
		storetest.Write(t, stores[1], school, func(tx lyceum.Tx) error { tx.Note(lyceum.UserCreated, 1); return nil })
		find()
	}
	users(more)
	for i, d := range find() {
		if want := fmt.Sprintf("%d users", more); d.failed || d.found[0] != want {
			t.Errorf("change %d found %q, want %q, %v", i, d.found, want, d.reason)
		}
	}
}
