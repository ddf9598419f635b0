package people_test

import (
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestUndoneWhileOthersAreErased checks that somebody whose erasure is undone is kept, even if it
// is due and others are being erased at that moment.
func TestUndoneWhileOthersAreErased(t *testing.T) {
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	school := storetest.MakeSchool(t, store)
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx,
			lyceum.User{ID: 1, Email: "ann@example.com", Role: lyceum.Student, CreatedAt: storetest.Begin},
			lyceum.User{ID: 2, Email: "bert@example.com", Role: lyceum.Student, CreatedAt: storetest.Begin})
		return err
	})
	clock := storetest.NewClock(storetest.Begin)
	s, by := people.New(store, clock.Now), lyceum.By{School: school, Actor: "user:9"}
	for _, id := range []lyceum.UserID{1, 2} {
		if _, err := s.PlanErasure(t.Context(), by, id); err != nil {
			t.Fatal(err)
		}
	}
	var erased []string
	doors := people.Doors{
		Left: func(_ lyceum.SchoolID, email string) {
			if erased = append(erased, email); len(erased) == 1 {
				if err := s.UndoErasure(t.Context(), by, 2); err != nil {
					t.Error(err)
				}
			}
		},
	}
	clock.Pass(people.UndoTime)
	if err := s.EraseDue(t.Context(), school, doors); err != nil {
		t.Fatal(err)
	}
	v := store.In(t.Context(), school)
	left, err := lyceum.All(v.Users, v, lyceum.UserFilter{})
	if err != nil || len(left) != 1 || left[0].ID != 2 || len(erased) != 1 {
		t.Errorf("erased are %v, left are %+v, %v", erased, left, err)
	}
}
