package sqlstore

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestFewOfManyNamesAreSearchedFor checks that somebody who changed their name very often is
// searched for by their newest names only, all of their addresses included, and that their
// earlier names are erased from what webhooks were told.
func TestFewOfManyNamesAreSearchedFor(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, store *Store) {
		school := storetest.MakeSchool(t, store)
		const n = 10 * mostCalled
		storetest.Write(t, store, school, func(tx lyceum.Tx) error {
			tx.Announce(lyceum.UserUpdated, 2, lyceum.UserUpdatedEvent, `{"old_name":"Bert 1","new_email":"bert@example.com"}`)
			for i := range n {
				old := "ann@example.com"
				if i == 0 {
					old = "first@example.com"
				}
				tx.Announce(lyceum.UserUpdated, 1, lyceum.UserUpdatedEvent, fmt.Sprintf(
					`{"old_name":"Ann %d","new_name":"Ann %d","old_email":"%s","new_email":"ann@example.com"}`, i, i+1, old))
			}
			return nil
		})
		var called lyceum.Called
		storetest.Write(t, store, school, func(tx lyceum.Tx) (err error) {
			if called, err = tx.FindCalled(1); err != nil {
				return err
			}
			return tx.EraseTraces(1)
		})
		if len(called.Names) != mostCalled || !slices.Contains(called.Names, fmt.Sprintf("Ann %d", n)) {
			t.Errorf("%d names: %q", len(called.Names), called.Names)
		}
		slices.Sort(called.Emails)
		if want := []string{"ann@example.com", "first@example.com"}; !slices.Equal(called.Emails, want) {
			t.Errorf("the addresses are %q", called.Emails)
		}
		var kept int
		for _, line := range lines(t, store, "SELECT detail FROM journal WHERE detail IS NOT NULL", 1) {
			if strings.Contains(line[0], "Ann ") || strings.Contains(line[0], "ann@") || strings.Contains(line[0], "first@") {
				t.Fatal(line[0])
			}
			kept += strings.Count(line[0], "Bert 1")
		}
		if kept != 1 {
			t.Error("somebody else was erased")
		}
	})
}

// TestNamesOfTheirObjectsAreErased checks that names in an object about a person are erased
// even if it is unknown that they had them.
func TestNamesOfTheirObjectsAreErased(t *testing.T) {
	t.Parallel()
	e := eraser{user: 1, called: lyceum.Called{Emails: []string{"ann@example.com"}}}
	got := e.json(`{"email":"ann@example.com","new_name":"Ann 2","old_name":null}`)
	if want := `{"email":"erased-1@invalid","new_name":"","old_name":null}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	const other = `{"email":"bert@example.com","new_name":"Ann 2","old_name":null}`
	if got := e.json(other); got != other {
		t.Errorf("got %s", got)
	}
}
