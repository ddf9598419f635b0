package learning_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestR49_ManyExpireAtOnce checks that each of many enrollments that expire at the same moment
// is announced once, and that other writes get in between.
func TestR49_ManyExpireAtOnce(t *testing.T) {
	t.Parallel()
	for engine, open := range map[string]func(t *testing.T) (lyceum.Store, error){
		"sqlite": func(t *testing.T) (lyceum.Store, error) {
			return sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
		},
		"postgres": func(t *testing.T) (lyceum.Store, error) {
			return sqlstore.OpenPostgres(t.Context(), storetest.Postgres(t), sqlstore.Options{})
		},
	} {
		t.Run(engine, func(t *testing.T) {
			store, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			manyExpire(t, store)
		})
	}
}

func manyExpire(t *testing.T, store lyceum.Store) {
	const many = 1200
	school := storetest.MakeSchool(t, store)
	end := storetest.Begin.Add(time.Hour)
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		if _, err := tx.Courses.Save(tx, lyceum.Course{ID: 1, Name: "Pottery", CreatedAt: storetest.Begin, UpdatedAt: storetest.Begin}); err != nil {
			return err
		}
		var users []lyceum.User
		var all []lyceum.Enrollment
		for id := range lyceum.UserID(many) {
			users = append(users, lyceum.User{ID: id + 1, Email: fmt.Sprintf("user%d@example.com", id), CreatedAt: storetest.Begin})
			at := end
			if id%3 == 0 {
				at = end.Add(-time.Duration(id) * time.Second)
			}
			all = append(all, lyceum.Enrollment{
				ID: lyceum.EnrollmentID(id + 1), User: id + 1, Course: 1, EnrolledAt: storetest.Begin.Add(-time.Hour), ExpiresAt: lyceum.Some(at),
			})
		}
		if _, err := tx.Users.Save(tx, users...); err != nil {
			return err
		}
		return storetest.Enroll(tx, all...)
	})
	now := storetest.Begin.Add(-time.Hour)
	service := learning.New(store, func() time.Time { return now })
	for range 3 { // it begins to track expiry, announces what has expired since, and then nothing more
		if err := service.Expire(t.Context(), school); err != nil {
			t.Fatal(err)
		}
		now = now.Add(3 * time.Hour)
	}
	entries, err := storetest.FindEntries(t.Context(), store, school, 0, 10*many)
	if err != nil {
		t.Fatal(err)
	}
	told := map[int32]int{}
	for _, e := range entries {
		if e.Event.Value == lyceum.EnrollmentDisabledEvent {
			told[e.ObjectID]++
		}
	}
	for id := range int32(many) {
		if told[id+1] != 1 {
			t.Fatalf("enrollment %d is told of %d times", id+1, told[id+1])
		}
	}
}

// TestExpiryAfterAClockThatWasAhead checks that an enrollment ends although the server's clock was
// years ahead before it was made.
func TestExpiryAfterAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	school := storetest.MakeSchool(t, store)
	now := storetest.Begin.AddDate(9, 0, 0)
	service := learning.New(store, func() time.Time { return now })
	run := func() {
		t.Helper()
		overdue, err := store.FindOverdue(t.Context(), now)
		if err == nil && slices.Contains(overdue, school) {
			err = service.Expire(t.Context(), school)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run()
	now = storetest.Begin
	run()
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		if _, err := tx.Courses.Save(tx, lyceum.Course{ID: 1, Name: "Pottery", CreatedAt: now, UpdatedAt: now}); err != nil {
			return err
		}
		if _, err := tx.Users.Save(tx, lyceum.User{ID: 1, Email: "mira@example.com", CreatedAt: now}); err != nil {
			return err
		}
		return storetest.Enroll(tx, lyceum.Enrollment{
			ID: 1, User: 1, Course: 1, EnrolledAt: now, ExpiresAt: lyceum.Some(now.AddDate(0, 1, 0)),
		})
	})
	now = now.AddDate(0, 2, 0)
	run()
	v := store.In(t.Context(), school)
	e, err := v.Enrollments.Get(v, 1)
	if want := storetest.Begin.AddDate(0, 1, 0); err != nil || !e.EndedAt.Value.Equal(want) {
		t.Errorf("it ended at %v, not %v: %v", e.EndedAt, want, err)
	}
}
