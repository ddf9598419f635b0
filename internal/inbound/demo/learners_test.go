package demo

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestEverythingIsThere checks that the sandbox has everything that integrators look for.
func TestEverythingIsThere(t *testing.T) {
	s := New(1, 2000)
	l, all := studied(s, 500)
	kinds := map[lyceum.AttachmentKind]int{}
	for _, a := range l.attachments {
		kinds[a.Kind]++
		if (a.Kind == lyceum.QuizAttachment) != (a.Quiz != nil) || (a.Kind == lyceum.VideoAttachment) != a.Video.Present {
			t.Errorf("attachment %d is a %s with quiz %v and video %v", a.ID, a.Kind, a.Quiz, a.Video)
		}
	}
	for _, kind := range lyceum.AttachmentKinds() {
		if kinds[kind] == 0 {
			t.Errorf("no attachment is a %s", kind)
		}
	}
	inCourse, unnamed, unsigned, unpublished := map[lyceum.CourseID]int{}, 0, 0, 0
	var expiring, ended, completed, certified, nothing, ungraded int
	for _, e := range all.Enrollments {
		inCourse[e.Course]++
		expiring += count(e.ExpiresAt.Present)
		ended += count(e.EndedAt.Present)
	}
	for _, p := range all.Progress {
		completed += count(p.CompletedAt.Present)
		certified += count(p.Certificate.Present)
		nothing += count(p.PercentComplete == 0)
		if p.CompletedAt.Present != (p.PercentComplete == 100) {
			t.Errorf("progress %+v", p)
		}
	}
	for _, r := range all.QuizResponses {
		ungraded += count(!r.PercentCorrect.Present)
	}
	for _, u := range s.Users {
		unnamed += count(!u.Name.Present)
		unsigned += count(!u.LastSignInAt.Present)
	}
	for _, lecture := range l.lectures {
		unpublished += count(!lecture.IsPublished)
	}
	most := 0
	for _, n := range inCourse {
		most = max(most, n)
	}
	frequencies := map[lyceum.Frequency]bool{}
	for _, p := range s.PricingPlans {
		frequencies[p.Frequency] = true
	}
	for what, n := range map[string]int{
		"users": len(s.Users) - 60, "enrollments in one course": most - 100, "pricing plans": len(s.PricingPlans) - 7, "unnamed": unnamed, "never signed in": unsigned,
		"unpublished lectures": unpublished, "expiring": expiring, "ended": ended, "completed": completed, "certified": certified, "not begun": nothing, "without a grade": ungraded,
		"quiz responses": len(all.QuizResponses), "lecture progress": len(all.LectureProgress), "frequencies": len(frequencies) - 3,
	} {
		if n <= 0 {
			t.Errorf("too few: %s", what)
		}
	}
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// TestLoadedTwice checks that loading a school again, as after an interruption, changes nothing.
func TestLoadedTwice(t *testing.T) {
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	s := New(3, 300)
	if _, err := store.CreateSchool(t.Context(), s.School, "sandbox"); err != nil {
		t.Fatal(err)
	}
	entries := func() int {
		if err := s.Load(t.Context(), store, nil); err != nil {
			t.Fatal(err)
		}
		all, err := storetest.FindEntries(t.Context(), store, s.School.ID, 0, 100_000)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if once, twice := entries(), entries(); once != twice || once < 1000 {
		t.Errorf("%d entries, then %d", once, twice)
	}
	if findings, err := store.Check(t.Context()); err != nil || len(findings) > 0 {
		t.Errorf("check: %v, %v", findings, err)
	}
}

// TestVersionsOfTwoSeeds checks that sandboxes of different seeds have different versions, so
// that a program cannot mistake a cached response of one for one of another.
func TestVersionsOfTwoSeeds(t *testing.T) {
	tags := map[string]uint64{}
	for _, seed := range []uint64{6, 7, 12, 13} { // two pairs, each with the same number of entries
		store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		school := New(seed, 20)
		if _, err := store.CreateSchool(t.Context(), school.School, "sandbox"); err != nil {
			t.Fatal(err)
		}
		if err := school.Load(t.Context(), store, nil); err != nil {
			t.Fatal(err)
		}
		last, err := store.In(t.Context(), school.School.ID).LastEntry()
		if err != nil {
			t.Fatal(err)
		}
		entries, err := storetest.FindEntries(t.Context(), store, school.School.ID, last-1, 1)
		if err != nil {
			t.Fatal(err)
		}
		version := fmt.Sprint(last, entries[0].At)
		if other, is := tags[version]; is {
			t.Errorf("seeds %d and %d are both at %s", other, seed, version)
		}
		tags[version] = seed
	}
}

// TestTheSameSchoolOnBothEngines checks that a school is the same on both engines, although
// PostgreSQL runs a change several times.
func TestTheSameSchoolOnBothEngines(t *testing.T) {
	sqlite, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer sqlite.Close()
	postgres, err := sqlstore.OpenPostgres(t.Context(), storetest.Postgres(t), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer postgres.Close()
	var loaded [2][]lyceum.Entry
	for i, store := range []lyceum.Store{sqlite, postgres} {
		s := New(5, 300)
		if _, err := store.CreateSchool(t.Context(), s.School, "sandbox"); err != nil {
			t.Fatal(err)
		}
		if err := s.Load(t.Context(), store, nil); err != nil {
			t.Fatal(err)
		}
		if loaded[i], err = storetest.FindEntries(t.Context(), store, s.School.ID, 0, 100_000); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(loaded[0], loaded[1]); diff != "" {
		t.Errorf("entries on SQLite (-) and PostgreSQL (+):\n%.2000s", diff)
	}
}
