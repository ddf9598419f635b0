package sqlstore

import (
	"slices"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// TestQueriesAheadThatPanic checks that a change whose queries ahead panic fails alone: the next
// one of its group finds what there is.
func TestQueriesAheadThatPanic(t *testing.T) {
	t.Parallel()
	bothEngines(t, Options{}, func(t *testing.T, s *Store) {
		school := schoolOfDeeds(t, s)
		if err := addUser(s, school, 1); err != nil {
			t.Fatal(err)
		}
		look := func(tx lyceum.Tx, found func(string, ...any)) error {
			_, err := tx.Users.Get(tx, 1)
			found("user %t", err == nil)
			return err
		}
		deeds := []*deed{{do: look}, {do: func(tx lyceum.Tx, _ func(string, ...any)) error {
			return tx.Ahead(lyceum.Wanted{Query: func(lyceum.Source) { panic("of a rule") }})
		}}, {do: func(tx lyceum.Tx, found func(string, ...any)) error {
			_, err := tx.Courses.Get(tx, 2)
			found("course %t", err == nil)
			return err
		}}}
		together(s, deeds, school)
		if !deeds[1].failed {
			t.Error("a change that panicked did not fail")
		}
		for at, want := range map[int]string{0: "user true", 2: "course true"} {
			if d := deeds[at]; d.failed || !slices.Equal(d.found, []string{want}) {
				t.Errorf("change %d found %q, want %q, %v", at, d.found, want, d.reason)
			}
		}
	})
}
