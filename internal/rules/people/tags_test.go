package people_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

func someTags(n int) (tags []string) {
	for i := range n {
		tags = append(tags, fmt.Sprintf("tag %03d", i))
	}
	return tags
}

// TestR24_TagsOfAUserAreBounded checks that a user has at most 100 tags, in whatever way they
// are set.
func TestR24_TagsOfAUserAreBounded(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.save(t, lyceum.User{ID: 1, Email: "a@example.com", Role: lyceum.Student}, lyceum.User{ID: 2, Email: "b@example.com", Role: lyceum.Student})
	by := lyceum.By{School: d.school, Actor: "test"}
	const sentence = "must be at most 100 different tags; there are 101"

	_, err := d.service.SetTags(t.Context(), by, lyceum.UserTags{User: 1, Tags: someTags(101)})
	if e := lyceum.Public(err); e.Kind != lyceum.Invalid || len(e.Fields) != 1 || e.Fields[0].Message != sentence {
		t.Errorf("SetTags of 101: %v", err)
	}
	detail, err := d.service.SetTags(t.Context(), by, lyceum.UserTags{User: 1, Tags: append(someTags(100), "tag 007")})
	if err != nil || len(detail.Tags) != 100 {
		t.Errorf("SetTags of 100: %v, %d tags", err, len(detail.Tags))
	}

	rows := []lyceum.UserTags{{User: 1, Tags: someTags(101)}, {User: 2, Tags: someTags(100)}}
	tags := d.service.ImportTags(lyceum.By{School: d.school, Actor: "import"})
	checked, err := tags.Check(t.Context(), rows)
	if err != nil || len(checked) != 1 || checked[0].Index != 0 || checked[0].Field != "tags" || checked[0].Message != sentence {
		t.Errorf("Check: %v, %v", checked, err)
	}
	saved, problems, err := tags.Save(t.Context(), rows)
	if err != nil || len(problems) != 1 || problems[0].Message != sentence || saved.Updated != 1 {
		t.Errorf("Save: %+v, %v, %v", saved, problems, err)
	}
}

// TestR24_MoreTagsFromBefore checks that if an older database has more than 100 tags of a user,
// all are shown, and their number can be reduced.
func TestR24_MoreTagsFromBefore(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.save(t, lyceum.User{ID: 1, Email: "a@example.com", Role: lyceum.Student})
	err := d.store.Write(t.Context(), lyceum.Stamp{School: d.school, At: storetest.Begin, Actor: "test"}, func(tx lyceum.Tx) error {
		_, err := tx.SetTags(1, someTags(150))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if detail, err := d.service.Show(t.Context(), lyceum.By{School: d.school, Actor: "test"}, 1); err != nil || len(detail.Tags) != 150 {
		t.Errorf("Show: %v, %d tags", err, len(detail.Tags))
	}
	detail, err := d.service.SetTags(t.Context(), lyceum.By{School: d.school, Actor: "test"}, lyceum.UserTags{User: 1, Tags: someTags(100)})
	if err != nil || len(detail.Tags) != 100 {
		t.Errorf("SetTags of the first 100: %v, %d tags", err, len(detail.Tags))
	}
}

// TestUserIsShownAtOneMoment checks that a user is shown from one snapshot: a change between the
// queries is seen completely or not at all.
func TestUserIsShownAtOneMoment(t *testing.T) {
	t.Parallel()
	between := func() {}
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{Trace: func(text string) {
		if strings.HasPrefix(text, "SELECT user_id, name FROM user_tags") {
			between()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	school := storetest.MakeSchool(t, store)
	set := func(text string) {
		storetest.Write(t, store, school, func(tx lyceum.Tx) error {
			user := lyceum.User{ID: 1, Email: "ada@example.com", Name: lyceum.Some(text), Role: lyceum.Student, CreatedAt: storetest.Begin}
			if _, err := tx.Users.Save(tx, user); err != nil {
				return err
			}
			_, err := tx.SetTags(1, []string{text})
			return err
		})
	}
	set("before")
	service := people.New(store, time.Now)
	between = func() {
		between = func() {}
		set("after")
	}
	shown, err := service.Show(t.Context(), lyceum.By{School: school, Actor: "test"}, 1)
	if err != nil || !slices.Equal(shown.Tags, []string{shown.Name.Value}) {
		t.Errorf("%s has the tags %q, %v", shown.Name.Value, shown.Tags, err)
	}
}
