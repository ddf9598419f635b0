package sqlstore

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// stopped is a clock that stands still, so that a group has all the time that it needs.
func stopped() time.Time { return storetest.Begin }

// TestGroupsKnowWhatOthersFound checks that a group knows what the one before it found, as
// that group left it, until something else changes the file.
func TestGroupsKnowWhatOthersFound(t *testing.T) {
	t.Parallel()
	var ran ranTexts
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, Options{Trace: ran.note, Clock: stopped})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	school := schoolOfDeeds(t, s)
	other, err := sql.Open("sqlite", sqliteDSN(filepath.Join(dir, FileName), Full, ""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })

	look := func(tx lyceum.Tx, found func(string, ...any)) error {
		c, err := tx.Courses.Get(tx, 1)
		if err != nil {
			return err
		}
		id, err := tx.Coupons.NextID(tx)
		found("%s, coupon %d", c.Name, id)
		return err
	}
	rename := func(tx lyceum.Tx, found func(string, ...any)) error {
		if err := look(tx, found); err != nil {
			return err
		}
		c, err := tx.Courses.Get(tx, 1)
		if err != nil {
			return err
		}
		c.Name = "Renamed"
		return tx.Courses.Update(tx, c)
	}
	refuse := func(tx lyceum.Tx, _ func(string, ...any)) error {
		if _, err := tx.Courses.Get(tx, 2); err != nil {
			return err
		}
		return errRefused
	}
	group := func(want []string, wantQuery bool, does ...func(lyceum.Tx, func(string, ...any)) error) {
		t.Helper()
		var deeds []*deed
		for _, do := range does {
			deeds = append(deeds, &deed{do: do})
		}
		ran.take()
		together(s, deeds, school)
		var got []string
		for _, d := range deeds {
			got = append(got, d.found...)
		}
		seen := ran.take()
		queried := slices.ContainsFunc(seen, func(text string) bool { return strings.HasPrefix(text, "SELECT") })
		if !slices.Equal(got, want) || queried != wantQuery {
			t.Errorf("found %q, want %q; asked %v: %q", got, want, queried, seen)
		}
	}
	group([]string{"Course, coupon 1", "Course, coupon 2"}, true, look, look)
	group([]string{"Course, coupon 3"}, false, look)
	group([]string{"Course, coupon 4"}, false, rename)
	group([]string{"Renamed, coupon 5"}, true, look)
	group([]string{"Renamed, coupon 6", "Renamed, coupon 7"}, true, look, look)
	group([]string{"Renamed, coupon 8"}, false, look)
	for _, text := range []string{
		"UPDATE courses SET name = 'From outside' WHERE course_id = 1",
		"UPDATE counters SET value = 70 WHERE name = 'coupon_id'",
	} {
		if _, err := other.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	group([]string{"From outside, coupon 71", "From outside, coupon 72"}, true, look, look)
	group(nil, true, refuse)
	group([]string{"From outside, coupon 73", "From outside, coupon 74"}, true, look, look)
	for i := range maxKnownIdle + 2 { // what nobody queries is forgotten
		storetest.Write(t, s, school, func(tx lyceum.Tx) error { tx.Note(lyceum.CouponCreated, int32(i)); return nil })
	}
	group([]string{"From outside, coupon 75"}, true, look)
}

// TestKnownIsBounded checks that what is known is bounded: answers by their number and size,
// and counters by schools.
func TestKnownIsBounded(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), t.TempDir(), Options{Clock: stopped})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	school := schoolOfDeeds(t, s)
	const courses = 2 * maxKnown
	storetest.Write(t, s, school, func(tx lyceum.Tx) error {
		for id := lyceum.CourseID(4); id <= courses; id++ {
			err := tx.Courses.Insert(tx, lyceum.Course{ID: id, Name: fmt.Sprint("Course ", id), CreatedAt: storetest.Begin})
			if err != nil {
				return err
			}
		}
		return tx.Courses.Insert(tx, lyceum.Course{
			ID: courses + 1, Name: strings.Repeat("x", maxKnownBytes+1), CreatedAt: storetest.Begin,
		})
	})
	look := func(ids ...lyceum.CourseID) *deed {
		return &deed{do: func(tx lyceum.Tx, _ func(string, ...any)) error {
			for _, id := range ids {
				if _, err := tx.Courses.Get(tx, id); err != nil {
					return err
				}
			}
			tx.Note(lyceum.CourseUpdated, 1)
			return nil
		}}
	}
	together(s, []*deed{look(courses + 1), look(courses + 1)}, school)
	if n := len(s.known.lookups); n != 0 {
		t.Errorf("%d answers are known, of which one is large", n)
	}
	var all []lyceum.CourseID
	for id := range lyceum.CourseID(courses) {
		all = append(all, id+1)
	}
	together(s, []*deed{look(all...), look(all...)}, school)
	if n := len(s.known.lookups); n != maxKnown {
		t.Errorf("%d answers are known, want %d", n, maxKnown)
	}
}
