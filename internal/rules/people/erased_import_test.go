package people_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestImportOfErasedPeople checks that the row of an erased person is imported as such, and that
// importing it erases nobody.
func TestImportOfErasedPeople(t *testing.T) {
	d := newDesk(t)
	gone := lyceum.User{ID: 7, Email: lyceum.ErasedEmail(7), Role: lyceum.Author, Name: lyceum.Some("Quentin")}
	for range 2 {
		if _, problems := d.save(t, gone); len(problems) > 0 {
			t.Fatal(problems)
		}
	}
	v := d.store.In(t.Context(), d.school)
	if _, err := v.Users.Get(v, 7); lyceum.KindOf(err) != lyceum.NotFound {
		t.Errorf("shown: %v", err)
	}
	kept, err := lyceum.All(v.Users, v, lyceum.UserFilter{Erased: true})
	if err != nil || len(kept) != 1 || !kept[0].Erased() || kept[0].Name.Present || kept[0].Role != lyceum.Author {
		t.Errorf("%+v: %v", kept, err)
	}
	there := lyceum.User{ID: 8, Email: "ann@example.com"}
	d.save(t, there)
	there.Email = lyceum.ErasedEmail(8)
	for _, row := range []lyceum.User{there, {ID: 7, Email: "bert@example.com"}, {ID: 9, Email: lyceum.ErasedEmail(8)}} {
		if _, problems := d.save(t, row); len(problems) != 1 {
			t.Errorf("%+v: %v", row, problems)
		}
	}
	if problems, err := d.store.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check: %v, %v", problems, err)
	}
}

// TestExportOfErasedPeople checks that the row of an erased person has nothing that importing it
// would not bring back.
func TestExportOfErasedPeople(t *testing.T) {
	d := newDesk(t)
	d.save(t, lyceum.User{
		ID: 7, Email: "ann@example.com", Role: lyceum.Author, Name: lyceum.Some("Ann"), Src: lyceum.Some("web"),
		CreatedAt: storetest.Begin, LastSignInAt: lyceum.Some(storetest.Begin), LastSignInIP: lyceum.Some("192.0.2.7"),
		PhoneNumber: lyceum.Some("1"), Marketing: lyceum.Some(true), Notes: lyceum.Some("x"),
	})
	_, err := d.service.Erase(t.Context(), lyceum.By{School: d.school, Actor: "user:9"}, 7, people.Doors{
		Left: func(lyceum.SchoolID, string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	copied := newDesk(t)
	copied.save(t, d.kept(t)...)
	if diff := cmp.Diff(d.kept(t), copied.kept(t)); diff != "" {
		t.Errorf("the copy differs (-kept +copied):\n%s", diff)
	}
}
