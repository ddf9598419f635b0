package sqlstore

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestRowsOfATableGoTogether checks that the rows that the changes of a group insert into one
// table are one statement, after that of the rows to which they refer, and that an email
// address is free for a new user once the update that gave it up is written.
func TestRowsOfATableGoTogether(t *testing.T) {
	t.Parallel()
	var ran ranTexts
	still := func() time.Time { return storetest.Begin } // no group's time is ever over
	bothEngines(t, Options{Trace: ran.note, Clock: still}, func(t *testing.T, s *Store) {
		school := schoolOfDeeds(t, s)
		add := func(tx lyceum.Tx, email string) (lyceum.UserID, error) {
			id, err := tx.Users.NextID(tx)
			if err != nil {
				return 0, err
			}
			return id, tx.Users.Insert(tx, lyceum.User{ID: id, Email: email, CreatedAt: storetest.Begin})
		}
		storetest.Write(t, s, school, func(tx lyceum.Tx) error { _, err := add(tx, "old@example.com"); return err })
		var deeds []*deed
		for i := range 5 {
			deeds = append(deeds, &deed{do: func(tx lyceum.Tx, _ func(string, ...any)) error {
				id, err := add(tx, fmt.Sprintf("user%d@example.com", i))
				if err != nil {
					return err
				}
				e := lyceum.Enrollment{User: id, Course: 1, EnrolledAt: storetest.Begin}
				if e.ID, err = tx.Enrollments.NextID(tx); err != nil {
					return err
				}
				return storetest.Enroll(tx, e)
			}})
		}
		deeds = append(deeds, &deed{do: func(tx lyceum.Tx, _ func(string, ...any)) error {
			u, err := tx.Users.Get(tx, 1)
			if err != nil {
				return err
			}
			u.Email = "new@example.com"
			if err := tx.Users.Update(tx, u); err != nil {
				return err
			}
			_, err = add(tx, "old@example.com")
			return err
		}})
		ran.take()
		together(s, deeds, school)
		var got []string
		for _, text := range ran.take() {
			for _, begin := range []string{"INSERT INTO users", "INSERT INTO enrollments", "UPDATE users", "SAVEPOINT"} {
				if strings.HasPrefix(text, begin) {
					got = append(got, begin)
				}
			}
		}
		want := []string{"INSERT INTO users", "INSERT INTO enrollments", "UPDATE users", "INSERT INTO users"}
		if !slices.Equal(got, want) {
			t.Errorf("statements %q, want %q", got, want)
		}
		for i, d := range deeds {
			if d.failed {
				t.Errorf("change %d: %v", i, d.reason)
			}
		}
	})
}
