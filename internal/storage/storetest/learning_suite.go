package storetest

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
)

// learning checks that a classroom is read back as it was saved, and that saving it again changes
// nothing.
func learning(t *testing.T, store lyceum.Store) {
	school, want := MakeClassroom(t, store, "ours")
	MakeClassroom(t, store, "theirs")
	got := readClassroom(t, store, school)
	sorted := *want
	sorted.WebhookEvents = slices.SortedFunc(slices.Values(want.WebhookEvents),
		func(a, b lyceum.WebhookEvent) int { return cmp.Compare(a.ID, b.ID) })
	for user, tags := range want.Tags {
		slices.Sort(tags)
		sorted.Tags[user] = tags
	}
	if diff := gocmp.Diff(&sorted, got, SetByStore); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	before, err := FindEntries(t.Context(), store, school, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	Write(t, store, school, want.Save)
	if after, err := FindEntries(t.Context(), store, school, 0, 1000); err != nil || len(after) != len(before) {
		t.Errorf("saving it again: %d entries after %d, %v", len(after), len(before), err)
	}
}

// readClassroom reads a classroom back.
func readClassroom(t *testing.T, store lyceum.Store, school lyceum.SchoolID) *Classroom {
	t.Helper()
	v, c := store.In(t.Context(), school), &Classroom{Tags: map[lyceum.UserID][]string{}}
	var err error
	for _, read := range []func() error{
		func() error { return v.Users.Each(v, lyceum.UserFilter{}, collect(&c.Users)) },
		func() error { return v.Authors.Each(v, lyceum.PartnerFilter{}, collect(&c.Authors)) },
		func() error { return v.Courses.Each(v, lyceum.CourseFilter{}, collect(&c.Courses)) },
		func() error { return v.LectureSections.Each(v, lyceum.LectureSectionFilter{}, collect(&c.Sections)) },
		func() error { return v.Lectures.Each(v, lyceum.LectureFilter{}, collect(&c.Lectures)) },
		func() error { return v.Attachments.Each(v, lyceum.AttachmentFilter{}, collect(&c.Attachments)) },
		func() error { return v.PricingPlans.Each(v, lyceum.PricingPlanFilter{}, collect(&c.PricingPlans)) },
		func() error { return v.Enrollments.Each(v, lyceum.EnrollmentFilter{}, collect(&c.Enrollments)) },
		func() error { return v.Progress.Each(v, lyceum.ProgressFilter{}, collect(&c.Progress)) },
		func() error {
			return v.LectureProgress.Each(v, lyceum.LectureProgressFilter{}, collect(&c.LectureProgress))
		},
		func() error { return v.QuizResponses.Each(v, lyceum.QuizResponseFilter{}, collect(&c.QuizResponses)) },
		func() error {
			return v.EachTag(lyceum.None[lyceum.UserID](), func(user lyceum.UserID, tag string) error {
				c.Tags[user] = append(c.Tags[user], tag)
				return nil
			})
		},
		func() error {
			c.Webhooks, err = lyceum.All(v.Webhooks, v, lyceum.WebhookFilter{Kept: true})
			return err
		},
		func() error {
			for _, w := range c.Webhooks {
				listing, err := v.Deliveries.List(v, lyceum.WebhookEventFilter{Webhook: w.ID, Newest: true},
					lyceum.Page{Number: 1, Size: 100})
				if err != nil {
					return err
				}
				c.WebhookEvents = append(c.WebhookEvents, listing.Rows...)
			}
			slices.SortFunc(c.WebhookEvents, func(a, b lyceum.WebhookEvent) int { return cmp.Compare(a.ID, b.ID) })
			return nil
		},
	} {
		if err := read(); err != nil {
			t.Fatal(err)
		}
	}
	for user := range c.Tags {
		slices.Sort(c.Tags[user]) // PostgreSQL sorts by its own collation
	}
	return c
}

func collect[T any](into *[]T) func(*T) error {
	return func(row *T) error { *into = append(*into, *row); return nil }
}

// courseLists checks every filter and every order of the list of courses.
func courseLists(t *testing.T, store lyceum.Store) {
	school, _ := MakeClassroom(t, store, "ours")
	MakeClassroom(t, store, "theirs")
	yes, no := lyceum.Some(true), lyceum.Some(false)
	learner := func(id lyceum.UserID, at time.Time) lyceum.CourseFilter {
		return lyceum.CourseFilter{EnrolledUser: lyceum.Some(id), EnrolledAt: at}
	}
	byID := lyceum.CourseOrder{}
	for name, tc := range map[string]struct {
		filter lyceum.CourseFilter
		order  lyceum.CourseOrder
		want   []lyceum.CourseID
	}{
		"all": {lyceum.CourseFilter{}, byID, []lyceum.CourseID{1, 2, 3, 4}},
		"all, falling": {
			lyceum.CourseFilter{},
			lyceum.CourseOrder{Descending: true},
			[]lyceum.CourseID{4, 3, 2, 1},
		},
		"by name, in any case": {
			lyceum.CourseFilter{},
			lyceum.CourseOrder{By: lyceum.CourseByName},
			[]lyceum.CourseID{4, 3, 1, 2},
		},
		"by name, falling": {
			lyceum.CourseFilter{},
			lyceum.CourseOrder{By: lyceum.CourseByName, Descending: true},
			[]lyceum.CourseID{2, 1, 3, 4},
		},
		"newest": {
			lyceum.CourseFilter{},
			lyceum.CourseOrder{By: lyceum.CourseByCreated, Descending: true},
			[]lyceum.CourseID{4, 3, 2, 1},
		},
		"changed last": {
			lyceum.CourseFilter{},
			lyceum.CourseOrder{By: lyceum.CourseByUpdated, Descending: true},
			[]lyceum.CourseID{4, 1, 3, 2},
		},
		"a part of the name":         {lyceum.CourseFilter{Name: lyceum.Some("TTER")}, byID, []lyceum.CourseID{1}},
		"a percent sign is a letter": {lyceum.CourseFilter{Name: lyceum.Some("100%")}, byID, []lyceum.CourseID{3}},
		"an underline is a letter":   {lyceum.CourseFilter{Name: lyceum.Some("P_ttery")}, byID, nil},
		"a part of the description":  {lyceum.CourseFilter{Search: lyceum.Some("from the")}, byID, []lyceum.CourseID{1}},
		"search in the name":         {lyceum.CourseFilter{Search: lyceum.Some("weld")}, byID, []lyceum.CourseID{2}},
		"published":                  {lyceum.CourseFilter{IsPublished: yes}, byID, []lyceum.CourseID{1, 3, 4}},
		"not published":              {lyceum.CourseFilter{IsPublished: no}, byID, []lyceum.CourseID{2}},
		"not listed":                 {lyceum.CourseFilter{IsListed: no}, byID, []lyceum.CourseID{3}},
		"of an author": {
			lyceum.CourseFilter{AuthorID: lyceum.Some(lyceum.AuthorID(1))},
			byID,
			[]lyceum.CourseID{1},
		},
		"created after, excluded": {
			lyceum.CourseFilter{Created: lyceum.Period{After: Day(3)}},
			byID,
			[]lyceum.CourseID{4},
		},
		"created until, included": {
			lyceum.CourseFilter{Created: lyceum.Period{Until: Day(3)}},
			byID,
			[]lyceum.CourseID{1, 2, 3},
		},
		"of a learner":                {learner(2, Day(10)), byID, []lyceum.CourseID{1, 2, 3}},
		"of one who expired":          {learner(3, Day(10)), byID, []lyceum.CourseID{3}},
		"of the same, in time":        {learner(3, Day(7)), byID, []lyceum.CourseID{1, 3}},
		"at the moment it expires":    {learner(3, Day(8)), byID, []lyceum.CourseID{3}},
		"of one who was never in any": {learner(1, Day(10)), byID, nil},
	} {
		var got []lyceum.CourseID
		for page := int32(1); page <= 4; page++ { // one row per page, to check the total on each
			v, f := store.In(t.Context(), school), tc.filter
			f.Order = tc.order
			listing, err := v.Courses.List(v, f, lyceum.Page{Number: page, Size: 1})
			if err != nil || listing.Total != int64(len(tc.want)) {
				t.Errorf("%s: total %d, want %d, %v", name, listing.Total, len(tc.want), err)
			}
			for _, c := range listing.Rows {
				got = append(got, c.ID)
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// courseNames checks that a part of a name is found in any case, in every alphabet, and so is the
// full name as it is.
func courseNames(t *testing.T, store lyceum.Store) {
	school := MakeSchool(t, store)
	names := []string{"Über Éclairs und Öl", "Живопись для всех", "ΧΡΩΜΑ", "İstanbul", "ǅungla", "日本画 100%"}
	Write(t, store, school, func(tx lyceum.Tx) error {
		for i, name := range names {
			_, err := tx.Courses.Save(tx, lyceum.Course{
				ID: lyceum.CourseID(i + 1), Name: name, Heading: lyceum.Some("-"), CreatedAt: Begin, UpdatedAt: Begin,
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	var alphabet strings.Builder // more letters than any name has
	for r := rune(0x100); r < 0x600; r++ {
		alphabet.WriteRune(r)
	}
	for text, want := range map[string][]lyceum.CourseID{
		"über éclairs": {1}, "ÜBER ÉCLAIRS": {1}, "uber": nil, "öl": {1}, "ÖL": {1}, "живопись": {2}, "ЖИВОПИСЬ ДЛЯ": {2},
		"χρωμα": {3}, "ǆUNGLA": {5}, "本画": {6}, "%": {6}, "?": nil, alphabet.String(): nil,
	} {
		checkNamed(t, store, school, text, want)
	}
	for i, name := range names {
		checkNamed(t, store, school, name, []lyceum.CourseID{lyceum.CourseID(i + 1)})
	}
}

// checkNamed checks which courses have a text in their names.
func checkNamed(t *testing.T, store lyceum.Store, school lyceum.SchoolID, text string, want []lyceum.CourseID) {
	t.Helper()
	v := store.In(t.Context(), school)
	f := lyceum.CourseFilter{Name: lyceum.Some(text)}
	listing, err := v.Courses.List(v, f, lyceum.Page{Number: 1, Size: 10})
	var got []lyceum.CourseID
	for _, c := range listing.Rows {
		got = append(got, c.ID)
	}
	if err != nil || !slices.Equal(got, want) || listing.Total != int64(len(want)) {
		t.Errorf("%q: %v of %d, %v, want %v", text, got, listing.Total, err, want)
	}
}

// enrollmentLists checks who is listed, in which order, and that the counter behind the total is
// updated by every change.
func enrollmentLists(t *testing.T, store lyceum.Store) {
	school, c := MakeClassroom(t, store, "ours")
	v := store.In(t.Context(), school)
	list := func(f lyceum.EnrolledFilter, o lyceum.Order) []lyceum.UserID {
		t.Helper()
		f.Order = o
		listing, err := v.FindEnrolled(f, lyceum.Page{Number: 1, Size: 100})
		if err != nil || listing.Total != int64(len(listing.Rows)) {
			t.Errorf("total %d of %d rows, %v", listing.Total, len(listing.Rows), err)
		}
		beyond, err := v.FindEnrolled(f, lyceum.Page{Number: 9, Size: 100})
		if err != nil || beyond.Total != listing.Total || len(beyond.Rows) != 0 {
			t.Errorf("beyond the last page: total %d, want %d, %v", beyond.Total, listing.Total, err)
		}
		var users []lyceum.UserID
		for _, e := range listing.Rows {
			users = append(users, e.User)
		}
		return users
	}
	at := func(n int) lyceum.EnrolledFilter { return lyceum.EnrolledFilter{Course: 1, ActiveAt: Day(n)} }
	within := func(after, until int) lyceum.EnrolledFilter {
		f := at(10)
		f.Enrolled = lyceum.Period{After: Day(after), Until: Day(until)}
		return f
	}
	for name, tc := range map[string]struct {
		got, want []lyceum.UserID
	}{
		"newest first":           {list(at(10), lyceum.NewestFirst), []lyceum.UserID{4, 5, 2}},
		"oldest first":           {list(at(10), lyceum.OldestFirst), []lyceum.UserID{2, 5, 4}},
		"before one expired":     {list(at(7), lyceum.OldestFirst), []lyceum.UserID{2, 3, 5, 4}},
		"when all that can have": {list(at(500), lyceum.OldestFirst), []lyceum.UserID{2, 5}},
		"after is excluded":      {list(within(5, 100), lyceum.OldestFirst), []lyceum.UserID{4}},
		"until is included":      {list(within(1, 5), lyceum.OldestFirst), []lyceum.UserID{2, 5}},
		"of no course":           {list(lyceum.EnrolledFilter{Course: 999, ActiveAt: Day(10)}, lyceum.NewestFirst), nil},
	} {
		if !slices.Equal(tc.got, tc.want) {
			t.Errorf("%s: %v, want %v", name, tc.got, tc.want)
		}
	}
	changes := slices.Clone(c.Enrollments)
	changes[1].EndedAt = lyceum.Some(Day(9))        // 2 leaves
	changes[5].ExpiresAt = lyceum.Some(Day(20))     // 5 will expire
	changes[3].ExpiresAt = lyceum.None[time.Time]() // 4 never expires
	for range 2 {
		Write(t, store, school, func(tx lyceum.Tx) error { return Enroll(tx, changes...) })
		if got := list(at(10), lyceum.OldestFirst); !slices.Equal(got, []lyceum.UserID{5, 4}) {
			t.Errorf("after the changes: %v", got)
		}
	}
	twice := lyceum.Enrollment{ID: 50, User: 4, Course: 1, EnrolledAt: Day(9)}
	err := store.Write(t.Context(), stamp(school), func(tx lyceum.Tx) error {
		_,
			err := tx.Enrollments.Save(tx, twice)
		return err
	})
	if lyceum.KindOf(err) != lyceum.Conflict {
		t.Errorf("a second open enrollment: %v, want a conflict", err)
	}
	findings, err := store.Check(t.Context())
	if err != nil || len(findings) > 0 {
		t.Errorf("check: %v, %v", findings, err)
	}
}

// userLists checks pages, lists that continue after an id, and searches by address.
func userLists(t *testing.T, store lyceum.Store) {
	school, _ := MakeClassroom(t, store, "ours")
	MakeClassroom(t, store, "theirs")
	Crowd(t, store, school, 4, 1000, 30)
	ids := func(l lyceum.Listing[lyceum.User]) (ids []lyceum.UserID) {
		for _, u := range l.Rows {
			ids = append(ids, u.ID)
		}
		return ids
	}
	v := store.In(t.Context(), school)
	after := func(id lyceum.UserID) lyceum.UserFilter { return lyceum.UserFilter{After: lyceum.Some(id)} }
	for name, tc := range map[string]struct {
		filter lyceum.UserFilter
		page   lyceum.Page
		ids    []lyceum.UserID
		total  int64
		more   bool
	}{
		"first page": {lyceum.UserFilter{}, lyceum.Page{Number: 1, Size: 3}, []lyceum.UserID{1, 2, 3}, 35, true},
		"second page": {
			lyceum.UserFilter{},
			lyceum.Page{Number: 2, Size: 3},
			[]lyceum.UserID{4, 5, 1000},
			35,
			true,
		},
		"beyond":                {lyceum.UserFilter{}, lyceum.Page{Number: 40, Size: 3}, nil, 35, false},
		"after none":            {after(0), lyceum.Page{Number: 1, Size: 2}, []lyceum.UserID{1, 2}, 35, true},
		"after one not there":   {after(700), lyceum.Page{Number: 1, Size: 2}, []lyceum.UserID{1000, 1001}, 35, true},
		"the last but one page": {after(1026), lyceum.Page{Number: 1, Size: 2}, []lyceum.UserID{1027, 1028}, 35, true},
		"just the last ones":    {after(1027), lyceum.Page{Number: 1, Size: 2}, []lyceum.UserID{1028, 1029}, 35, false},
		"after the last":        {after(1029), lyceum.Page{Number: 1, Size: 2}, nil, 35, false},
		"address in any case": {
			lyceum.UserFilter{Email: lyceum.Some("NONAME@example.COM")},
			lyceum.Page{Number: 1, Size: 2},
			[]lyceum.UserID{3},
			1, false,
		},
		"the beginning of an address": {
			lyceum.UserFilter{Begins: lyceum.Some("NoName@")},
			lyceum.Page{Number: 1, Size: 2},
			[]lyceum.UserID{3},
			1, false,
		},
		"the beginning of nothing": {
			lyceum.UserFilter{Begins: lyceum.Some("example.com")},
			lyceum.Page{Number: 1, Size: 2},
			nil, 0, false,
		},
		"the beginning of an address, or an id, newest first": {
			lyceum.UserFilter{Begins: lyceum.Some("1001"), Order: lyceum.UserOrder{By: lyceum.UserByCreated, Descending: true}},
			lyceum.Page{Number: 1, Size: 2},
			[]lyceum.UserID{1001},
			1, false,
		},
		"never began": {
			lyceum.UserFilter{NeverBegan: true, AccessAt: Begin},
			lyceum.Page{Number: 1, Size: 2},
			nil, 0, false,
		},
		"address unknown": {
			lyceum.UserFilter{Email: lyceum.Some("nobody@example.com")},
			lyceum.Page{Number: 1, Size: 2},
			nil, 0, false,
		},
		"a part of an address": {
			lyceum.UserFilter{Email: lyceum.Some("mira")},
			lyceum.Page{Number: 1, Size: 2},
			nil, 0,
			false,
		},
	} {
		got, err := v.Users.List(v, tc.filter, tc.page)
		if err != nil || !slices.Equal(ids(got), tc.ids) || got.Total != tc.total || got.More != tc.more {
			t.Errorf("%s: %v of %d, more %v, %v", name, ids(got), got.Total, got.More, err)
		}
		want := lyceum.Listing[lyceum.UserSummary]{Page: got.Page, Total: got.Total, More: got.More}
		for _, u := range got.Rows {
			want.Rows = append(want.Rows, lyceum.UserSummary{ID: u.ID, Email: u.Email, Name: u.Name})
		}
		if got, err := v.UserSummaries.List(v, tc.filter, tc.page); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: summaries %+v, %v; want %+v", name, got, err, want)
		}
	}
}
