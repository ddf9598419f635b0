package people_test

import (
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestUndoneWhileOthersAreErased checks that somebody whose erasure is undone is kept, even if it
// is due and others are being erased at that moment.
func TestUndoneWhileOthersAreErased(t *testing.T) {
	d := newDesk(t)
	d.add(t, "ann@example.com", "bert@example.com")
	s, by := d.service, lyceum.By{School: d.school, Actor: "user:9"}
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
	d.now = d.now.Add(people.UndoTime)
	if err := s.EraseDue(t.Context(), d.school, doors); err != nil {
		t.Fatal(err)
	}
	if other := storetest.User(t, d.store, d.school, 2); other.Erased() || len(erased) != 1 {
		t.Errorf("erased are %v, and user 2 is %+v", erased, other)
	}
}
