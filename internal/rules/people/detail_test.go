package people_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestLatestEnrollments checks that a user's details have the most relevant enrollment of each
// course, the newest first.
func TestLatestEnrollments(t *testing.T) {
	t.Parallel()
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	school := storetest.MakeSchool(t, store)
	day := func(n int) time.Time { return storetest.Begin.AddDate(0, 0, n) }
	on := func(n int) lyceum.Opt[time.Time] { return lyceum.Some(day(n)) }
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		_, failed := tx.Users.Save(tx, lyceum.User{ID: 1, Email: "ann@example.com", Role: lyceum.Student, CreatedAt: day(0)})
		for id := range lyceum.CourseID(4) {
			_, err := tx.Courses.Save(tx, lyceum.Course{ID: id + 1, Name: fmt.Sprint("Course ", id+1), CreatedAt: day(0), UpdatedAt: day(0)})
			failed = errors.Join(failed, err)
		}
		_, err := tx.Enrollments.Save(tx,
			// Enrollment 3 was opened again after 2 had ended, and began before it.
			lyceum.Enrollment{ID: 1, User: 1, Course: 1, EnrolledAt: day(1), EndedAt: on(3)},
			lyceum.Enrollment{ID: 2, User: 1, Course: 1, EnrolledAt: day(2), EndedAt: on(4)},
			lyceum.Enrollment{ID: 3, User: 1, Course: 1, EnrolledAt: day(1)},
			// An expired enrollment ranks the same as one that was ended.
			lyceum.Enrollment{ID: 4, User: 1, Course: 2, EnrolledAt: day(3), EndedAt: on(4)},
			lyceum.Enrollment{ID: 5, User: 1, Course: 2, EnrolledAt: day(2), ExpiresAt: on(5)},
			lyceum.Enrollment{ID: 6, User: 1, Course: 3, EnrolledAt: day(5), EndedAt: on(6)},
			lyceum.Enrollment{ID: 7, User: 1, Course: 3, EnrolledAt: day(4), EndedAt: on(7)},
			// Of two that began at the same time, the one with the higher id counts.
			lyceum.Enrollment{ID: 8, User: 1, Course: 4, EnrolledAt: day(0), EndedAt: on(1)},
			lyceum.Enrollment{ID: 9, User: 1, Course: 4, EnrolledAt: day(0), EndedAt: on(2)},
		)
		return errors.Join(failed, err)
	})
	service := people.New(store, func() time.Time { return day(10) })
	d, err := service.Show(t.Context(), lyceum.By{School: school}, 1)
	if err != nil {
		t.Fatal(err)
	}
	var got []lyceum.EnrollmentID
	for i := range d.Enrollments {
		got = append(got, d.Enrollments[i].ID)
	}
	if want := []lyceum.EnrollmentID{6, 4, 3, 9}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestAnUpdateWithoutANameSaysNull checks that webhooks are told null, as in the user's name, and
// not an empty text.
func TestAnUpdateWithoutANameSaysNull(t *testing.T) {
	t.Parallel()
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	school := storetest.MakeSchool(t, store)
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, lyceum.User{ID: 1, Email: "ann@example.com", Role: lyceum.Student, CreatedAt: storetest.Begin})
		return err
	})
	service := people.New(store, func() time.Time { return storetest.Begin })
	for _, name := range []lyceum.Opt[string]{lyceum.Some("Ann"), lyceum.None[string]()} {
		if _, err := service.Update(t.Context(), lyceum.By{School: school}, people.Change{User: 1, Name: lyceum.Some(name)}, people.Doors{Forget: func() {}}); err != nil {
			t.Fatal(err)
		}
	}
	told, err := store.In(t.Context(), school).FindChanges(lyceum.ChangeFilter{Limit: 10, Events: true})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range told.Changes {
		got = append(got, told.Changes[i].Detail.Value)
	}
	same := `"old_email":"ann@example.com","new_email":"ann@example.com"}`
	if want := []string{`{"old_name":null,"new_name":"Ann",` + same, `{"old_name":"Ann","new_name":null,` + same}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
