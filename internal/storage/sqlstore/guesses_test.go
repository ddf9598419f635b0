package sqlstore

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestGuessesAreChecked checks that a group that was guessed right runs once, and that what
// another process has changed since is noticed, however certain the guess was.
func TestGuessesAreChecked(t *testing.T) {
	t.Parallel()
	var stores [2]*Store
	address := storetest.Postgres(t)
	for i := range stores {
		s, err := OpenPostgres(t.Context(), address, Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		stores[i] = s
	}
	school := storetest.MakeSchool(t, stores[0])
	plan := lyceum.PricingPlan{
		ID: 1, Name: "Plan", Price: 100, Currency: "USD", Frequency: lyceum.OneTimePayment, CreatedAt: storetest.Begin,
		UpdatedAt: storetest.Begin,
	}
	keep := func(s *Store, price lyceum.Minor) {
		plan.Price = price
		storetest.Write(t, s, school, func(tx lyceum.Tx) error {
			_, err := tx.PricingPlans.Save(tx, plan)
			return err
		})
	}
	keep(stores[0], 100)
	for n := range lyceum.UserID(2) {
		if err := addUser(stores[0], school, n+1); err != nil {
			t.Fatal(err)
		}
	}
	group := func(s *Store, want ...string) {
		t.Helper()
		deeds := make([]*deed, len(want))
		for i := range deeds {
			deeds[i] = &deed{do: func(tx lyceum.Tx, found func(string, ...any)) error {
				id, err := tx.Users.NextID(tx)
				if err != nil {
					return err
				}
				offer, err := tx.FindOffer(1, lyceum.UserID(1+2*i)) // the first one exists, the others do not
				found("user %d: %d, %t", id, offer.Plan.Value.Price, offer.UserKnown)
				return err
			}}
		}
		together(s, deeds, school)
		for i, d := range deeds {
			if d.failed || !slices.Equal(d.found, want[i:i+1]) {
				t.Errorf("change %d of a group found %q, %v; want %q", i, d.found, d.reason, want[i])
			}
		}
	}
	found := func(first int, price lyceum.Minor) []string {
		return []string{fmt.Sprintf("user %d: %d, true", first, price), fmt.Sprintf("user %d: %d, false", first+1, price)}
	}
	group(stores[0], found(3, 100)...)
	group(stores[0], found(5, 100)...)
	keep(stores[1], 200)
	group(stores[1], found(7, 200)...)
	group(stores[0], found(9, 200)...)

	deeds := make([]*deed, 2)
	for round := range 2 {
		runs := 0
		for i := range deeds {
			deeds[i] = &deed{do: func(tx lyceum.Tx, _ func(string, ...any)) error {
				runs++
				_, err := tx.FindOffer(1, 1)
				if err == nil {
					_, err = tx.Users.NextID(tx)
				}
				return err
			}}
		}
		together(stores[0], deeds, school)
		if round > 0 && runs != len(deeds) {
			t.Errorf("a group of %d that was guessed right ran %d changes", len(deeds), runs)
		}
	}
}

// TestGuessesFollowWhatWasWritten checks that the next guess includes what a group changed of
// what it found, and that long results are not kept.
func TestGuessesFollowWhatWasWritten(t *testing.T) {
	t.Parallel()
	s := openTestPostgres(t)
	school := storetest.MakeSchool(t, s)
	course := lyceum.Course{ID: 1, Name: "Bread", CreatedAt: storetest.Begin, UpdatedAt: storetest.Begin}
	args := []any{int64(school), int64(course.ID)}
	for _, test := range []struct {
		name, guessed string
		change        func(lyceum.Tx) error
	}{
		{"that is new", "Bread", func(tx lyceum.Tx) error {
			_, err := tx.Courses.Save(tx, course)
			return err
		}},
		{"that is read", "Bread", func(tx lyceum.Tx) error { return nil }},
		{"that is renamed", "Rolls", func(tx lyceum.Tx) error {
			course.Name = "Rolls"
			_, err := tx.Courses.Save(tx, course)
			return err
		}},
		{"that is renamed unseen", "Cakes", func(tx lyceum.Tx) error {
			course.Name = "Cakes"
			return tx.Courses.Update(tx, course)
		}},
		{"with a long name", "", func(tx lyceum.Tx) error {
			course.Name = strings.Repeat("x", maxGuessedBytes+1)
			_, err := tx.Courses.Save(tx, course)
			return err
		}},
	} {
		storetest.Write(t, s, school, func(tx lyceum.Tx) error {
			if _, err := tx.Courses.Find(tx, course.ID); err != nil {
				return err
			}
			return test.change(tx)
		})
		name := ""
		rows, _ := s.guesses.find(statementOf(courses.byKey), courses.likely(args))
		for _, row := range rows {
			name = row[slices.Index(courses.columns, "name")].(string)
		}
		if name != test.guessed {
			t.Errorf("a course %s is guessed to be %.20q, want %q", test.name, name, test.guessed)
		}
	}
}

// TestBlindGuessesAreNotTrusted checks that a blind guess is not trusted, however many other
// guesses of the same query were right.
func TestBlindGuessesAreNotTrusted(t *testing.T) {
	t.Parallel()
	const text = "SELECT name FROM courses WHERE school_id = $1 AND course_id = $2"
	var k guesses
	seen := &lookup{text: text, args: []any{int64(7), int64(1)}, known: true}
	for range leastStreakAhead {
		k.judge([]*change{{school: 7}}, &rehearsal{missing: []*lookup{seen}})
	}
	blind := &lookup{text: text, args: []any{int64(7), int64(2)}, blind: true}
	for _, test := range []struct {
		missing []*lookup
		want    trust
	}{
		{[]*lookup{seen}, entirely},
		{[]*lookup{seen, blind}, queryFirst},
	} {
		if got := k.trusts(&rehearsal{missing: test.missing}, leastStreakAhead); got != test.want {
			t.Errorf("%d questions are trusted %d, want %d", len(test.missing), got, test.want)
		}
	}
}
