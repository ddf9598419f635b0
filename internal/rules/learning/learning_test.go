package learning_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// desk is a school into which courses and plans are imported.
type desk struct {
	store   lyceum.Store
	service *learning.Service
	school  lyceum.SchoolID
	now     time.Time
}

var begin = storetest.Begin

func newDesk(t *testing.T) *desk {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	d := &desk{store: store, school: storetest.MakeSchool(t, store), now: begin.Add(300 * time.Millisecond)}
	d.service = learning.New(store, func() time.Time { return d.now })
	return d
}

func (d *desk) saveCourses(t *testing.T, batch ...lyceum.Course) lyceum.Saved {
	t.Helper()
	var rows []lyceum.CourseRow
	for _, c := range batch {
		rows = append(rows, lyceum.CourseRow{Course: c})
	}
	given := slices.Clone(rows)
	courses := d.service.ImportCourses(lyceum.By{School: d.school, Actor: "import"})
	if problems, err := courses.Check(t.Context(), rows); err != nil || len(problems) > 0 {
		t.Fatalf("checked: %v, %v", problems, err)
	}
	saved, problems, err := courses.Save(t.Context(), rows)
	if err != nil || len(problems) > 0 {
		t.Fatalf("saved: %v, %v", problems, err)
	}
	if !slices.Equal(given, rows) {
		t.Error("the batch itself was changed")
	}
	return saved
}

func (d *desk) savePlans(t *testing.T, missing lyceum.Missing, batch ...lyceum.PricingPlan) (lyceum.Saved, []lyceum.RowProblem) {
	t.Helper()
	given := slices.Clone(batch)
	plans := d.service.ImportPricingPlans(lyceum.By{School: d.school, Actor: "import"}, missing)
	before := d.entries(t)
	checked, err := plans.Check(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	if after := d.entries(t); after != before {
		t.Errorf("the check left %d entries", after-before)
	}
	saved, problems, err := plans.Save(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(checked, problems); diff != "" {
		t.Errorf("problems (-checked +saved):\n%s", diff)
	}
	if !slices.Equal(given, batch) {
		t.Error("the batch itself was changed")
	}
	return saved, problems
}

func (d *desk) courses(t *testing.T) (all []lyceum.Course) {
	t.Helper()
	if err := d.service.EachCourse(t.Context(), lyceum.By{School: d.school, Actor: "test"}, func(c *lyceum.Course) error { all = append(all, *c); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

func (d *desk) plans(t *testing.T) (all []lyceum.PricingPlan) {
	t.Helper()
	if err := d.service.EachPricingPlan(t.Context(), lyceum.By{School: d.school, Actor: "test"}, func(p *lyceum.PricingPlan) error { all = append(all, *p); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

func (d *desk) entries(t *testing.T) int {
	t.Helper()
	entries, err := storetest.FindEntries(t.Context(), d.store, d.school, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func course(id lyceum.CourseID) lyceum.Opt[lyceum.CourseID] { return lyceum.Some(id) }

func plan(id lyceum.PricingPlanID, of lyceum.Opt[lyceum.CourseID]) lyceum.PricingPlan {
	return lyceum.PricingPlan{ID: id, CourseID: of, Name: "Plan", Price: 1999, Currency: "EUR", Frequency: lyceum.OneTimePayment}
}

func TestCourses(t *testing.T) {
	d := newDesk(t)
	old := lyceum.Course{
		ID: 2, Name: "Welding", Heading: lyceum.Some("Hot"), Description: lyceum.Some(""), IsPublished: true,
		ImageURL: lyceum.Some("https://example.com/w.png"), CreatedAt: begin.AddDate(-1, 0, 0),
	}
	batch := []lyceum.Course{old, {ID: 1, Name: "Pottery"}}
	if saved := d.saveCourses(t, batch...); saved != (lyceum.Saved{Created: 2}) {
		t.Errorf("saved %+v", saved)
	}
	old.UpdatedAt, old.IsListed = old.CreatedAt, true
	want := []lyceum.Course{{ID: 1, Name: "Pottery", CreatedAt: begin, UpdatedAt: begin, IsListed: true}, old}
	if diff := cmp.Diff(want, d.courses(t)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}

	entries := d.entries(t)
	d.now = d.now.Add(time.Hour)
	if saved := d.saveCourses(t, batch...); saved != (lyceum.Saved{Unchanged: 2}) || d.entries(t) != entries {
		t.Errorf("again saved %+v with %d entries", saved, d.entries(t)-entries)
	}

	if saved := d.saveCourses(t, lyceum.Course{ID: 2, Name: "Welding II"}); saved != (lyceum.Saved{Updated: 1}) {
		t.Errorf("then saved %+v", saved)
	}
	want[1].Name, want[1].IsPublished = "Welding II", false // the row left out the rest
	if diff := cmp.Diff(want, d.courses(t)); diff != "" {
		t.Errorf("then kept (-want +got):\n%s", diff)
	}
}

func TestPlansOfUnknownCoursesAreProblems(t *testing.T) {
	d := newDesk(t)
	d.saveCourses(t, lyceum.Course{ID: 1, Name: "Pottery"})
	saved, problems := d.savePlans(t, lyceum.RefuseMissing, plan(1, course(1)), plan(2, course(9)), plan(3, lyceum.None[lyceum.CourseID]()), plan(4, course(9)))
	const sentence = "9 matches no course of this school; import the courses first, or use --create-missing"
	want := []lyceum.RowProblem{
		{Index: 1, FieldError: lyceum.FieldError{Field: "course_id", Message: sentence}},
		{Index: 3, FieldError: lyceum.FieldError{Field: "course_id", Message: sentence}},
	}
	if diff := cmp.Diff(want, problems); diff != "" || saved != (lyceum.Saved{Created: 2}) {
		t.Errorf("saved %+v (-want +got):\n%s", saved, diff)
	}
	if kept := d.plans(t); len(kept) != 2 || kept[0].ID != 1 || kept[1].ID != 3 {
		t.Errorf("kept %+v", kept)
	}
	if len(d.courses(t)) != 1 {
		t.Error("a course was made up")
	}

	// F9: another school's course is unknown.
	d.school = storetest.MakeSchool(t, d.store)
	if _, problems := d.savePlans(t, lyceum.RefuseMissing, plan(1, course(1))); len(problems) != 1 {
		t.Errorf("a plan of another school's course: %v", problems)
	}
}

func TestMissingCoursesAreCreated(t *testing.T) {
	d := newDesk(t)
	d.saveCourses(t, lyceum.Course{ID: 1, Name: "Pottery", IsPublished: true})
	batch := []lyceum.PricingPlan{plan(1, course(9)), plan(2, course(1)), plan(3, course(9)), plan(4, course(7))}
	if saved, problems := d.savePlans(t, lyceum.CreateMissing, batch...); saved != (lyceum.Saved{Created: 4}) || len(problems) > 0 {
		t.Errorf("saved %+v, %v", saved, problems)
	}
	want := []lyceum.Course{
		{ID: 1, Name: "Pottery", IsPublished: true}, {ID: 7, Name: "Course 7"}, {ID: 9, Name: "Course 9"},
	}
	for i := range want {
		want[i].CreatedAt, want[i].UpdatedAt, want[i].IsListed = begin, begin, true
	}
	if diff := cmp.Diff(want, d.courses(t)); diff != "" {
		t.Errorf("courses (-want +got):\n%s", diff)
	}
	entries := d.entries(t)
	d.now = d.now.Add(time.Hour)
	if saved, _ := d.savePlans(t, lyceum.CreateMissing, batch...); saved != (lyceum.Saved{Unchanged: 4}) || d.entries(t) != entries {
		t.Errorf("again saved %+v with %d entries", saved, d.entries(t)-entries)
	}
}

func TestTimesOfPlans(t *testing.T) {
	d := newDesk(t)
	none := lyceum.None[lyceum.CourseID]()
	created, updated := begin.AddDate(-2, 0, 0), begin.AddDate(-1, 0, 0)
	dated := plan(2, none)
	dated.CreatedAt, dated.UpdatedAt = created, updated
	d.savePlans(t, lyceum.RefuseMissing, plan(1, none), dated)
	want := []lyceum.PricingPlan{plan(1, none), dated}
	want[0].CreatedAt, want[0].UpdatedAt = begin, begin
	if diff := cmp.Diff(want, d.plans(t)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}

	d.now = d.now.Add(time.Hour)
	if saved, _ := d.savePlans(t, lyceum.RefuseMissing, plan(1, none), plan(2, none)); saved != (lyceum.Saved{Unchanged: 2}) {
		t.Errorf("without times saved %+v", saved)
	}
	if diff := cmp.Diff(want, d.plans(t)); diff != "" {
		t.Errorf("without times kept (-want +got):\n%s", diff)
	}
	dated.UpdatedAt = begin
	if saved, _ := d.savePlans(t, lyceum.RefuseMissing, dated); saved != (lyceum.Saved{Updated: 1}) {
		t.Errorf("with a new time saved %+v", saved)
	}
}

func TestWhatCannotBe(t *testing.T) {
	d := newDesk(t)
	for name, err := range map[string]error{
		"courses": d.service.EachCourse(t.Context(), lyceum.By{School: 999, Actor: "test"}, func(*lyceum.Course) error { return nil }),
		"plans":   d.service.EachPricingPlan(t.Context(), lyceum.By{School: 999, Actor: "test"}, func(*lyceum.PricingPlan) error { return nil }),
	} {
		if lyceum.KindOf(err) != lyceum.NotFound {
			t.Errorf("%s of a school there is not: %v", name, err)
		}
	}
	if err := d.store.Close(); err != nil {
		t.Fatal(err)
	}
	_, _, coursesErr := d.service.ImportCourses(lyceum.By{School: d.school, Actor: "import"}).Save(t.Context(), []lyceum.CourseRow{{Course: lyceum.Course{ID: 1, Name: "Pottery"}}})
	_, _, plansErr := d.service.ImportPricingPlans(lyceum.By{School: d.school, Actor: "import"}, lyceum.CreateMissing).Save(t.Context(), []lyceum.PricingPlan{plan(1, course(1))})
	for prefix, err := range map[string]error{"import courses: ": coursesErr, "import pricing plans: ": plansErr} {
		if lyceum.KindOf(err) != lyceum.Unavailable || !strings.HasPrefix(err.Error(), prefix) {
			t.Errorf("a closed store: %v", err)
		}
	}
}

// TestEnrollmentOfProgress checks that progress has the enrollment that a user's details have
// (docs/divergences.md, "A user's shape"), whatever the order in which a file had them.
func TestEnrollmentOfProgress(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	day := func(n int) time.Time { return begin.AddDate(0, 0, n) }
	on := func(n int) lyceum.Opt[time.Time] { return lyceum.Some(day(n)) }
	d.now = day(10)
	d.saveCourses(t, lyceum.Course{ID: 1, Name: "Pottery"}, lyceum.Course{ID: 2, Name: "Glass"}, lyceum.Course{ID: 3, Name: "Wood"})
	storetest.Write(t, d.store, d.school, func(tx lyceum.Tx) error {
		if _, err := tx.Users.Save(tx, lyceum.User{ID: 1, Email: "ann@example.com", Role: lyceum.Student, CreatedAt: begin}); err != nil {
			return err
		}
		_, err := tx.Enrollments.Save(tx,
			lyceum.Enrollment{ID: 1, User: 1, Course: 1, EnrolledAt: day(4)},
			lyceum.Enrollment{ID: 2, User: 1, Course: 1, EnrolledAt: day(5), ExpiresAt: on(6), EndedAt: on(6)},
			lyceum.Enrollment{ID: 3, User: 1, Course: 2, EnrolledAt: day(3), EndedAt: on(4)},
			lyceum.Enrollment{ID: 4, User: 1, Course: 2, EnrolledAt: day(1), EndedAt: on(2)},
			lyceum.Enrollment{ID: 5, User: 1, Course: 3, EnrolledAt: day(7), EndedAt: on(8)},
			lyceum.Enrollment{ID: 6, User: 1, Course: 3, EnrolledAt: day(7)},
		)
		return err
	})
	want := map[lyceum.CourseID]learning.ProgressDetail{
		1: {Progress: lyceum.Progress{ID: 1}, EnrolledAt: on(4)},
		2: {Progress: lyceum.Progress{ID: 3}, EnrolledAt: on(3)},
		3: {Progress: lyceum.Progress{ID: 6}, EnrolledAt: on(7)},
	}
	for course, want := range want {
		got, err := d.service.Progress(t.Context(), lyceum.By{School: d.school, Actor: "test"}, 1, course)
		if err != nil || got.EnrolledAt != want.EnrolledAt || got.ID != want.ID {
			t.Errorf("in course %d: record %d, enrolled at %v, %v, want %d, %v", course, got.ID, got.EnrolledAt, err, want.ID, want.EnrolledAt)
		}
	}
}
