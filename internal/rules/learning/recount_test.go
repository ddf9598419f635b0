package learning_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestLearnersAreRecountedInParts deletes a lecture of a course with many learners and publishes
// another one. It checks that progress is recounted in parts, whatever interrupts them, and that
// learners who have then completed the course have the certificate.
func TestLearnersAreRecountedInParts(t *testing.T) {
	t.Parallel()
	const many, lectures = 2000, 4
	for engine, open := range map[string]func(t *testing.T) (lyceum.Store, error){
		"SQLite": func(t *testing.T) (lyceum.Store, error) {
			return sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
		},
		"PostgreSQL": func(t *testing.T) (lyceum.Store, error) {
			return sqlstore.OpenPostgres(t.Context(), storetest.Postgres(t), sqlstore.Options{})
		},
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			store, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			c := &crowdedCourse{store: store, school: storetest.MakeSchool(t, store)}
			c.service = learning.New(store, func() time.Time { return storetest.Begin.Add(time.Hour) })
			c.fill(t, many, lectures)

			lecture := learning.InCourse[lyceum.LectureID]{Course: 1, ID: 4}
			if err := c.service.DeleteLecture(t.Context(), c.by(), lecture); err != nil {
				t.Fatal(err)
			}
			c.gone[4] = true
			if done := c.counted(t); done == many {
				t.Errorf("%d learners are counted in one write", many)
			}
			for range 3 { // and then the course changes again
				c.settleOnce(t)
			}
			if err := c.service.DeleteLecture(t.Context(), c.by(), learning.InCourse[lyceum.LectureID]{Course: 1, ID: 3}); err != nil {
				t.Fatal(err)
			}
			c.gone[3] = true
			writes := 0
			for waits := true; waits; writes++ {
				c.settleOnce(t)
				if waits, err = c.overdue(t); err != nil {
					t.Fatal(err)
				}
			}
			if writes < many/100 {
				t.Errorf("%d learners took %d writes", many, writes)
			}
			if done := c.counted(t); done != many {
				t.Errorf("%d of %d are counted", done, many)
			}
			if findings, err := store.Check(t.Context()); err != nil || len(findings) > 0 {
				t.Errorf("check: %v, %v", findings, err)
			}
		})
	}
}

// crowdedCourse is a school whose course 1 has many learners, who have completed some of its
// lectures.
type crowdedCourse struct {
	store    lyceum.Store
	school   lyceum.SchoolID
	service  *learning.Service
	lectures int
	done     map[lyceum.UserID][]lyceum.LectureID
	gone     map[lyceum.LectureID]bool
}

func (c *crowdedCourse) by() lyceum.By { return lyceum.By{School: c.school, Actor: "test"} }

func (c *crowdedCourse) fill(t *testing.T, many, lectures int) {
	t.Helper()
	c.lectures, c.done, c.gone = lectures, map[lyceum.UserID][]lyceum.LectureID{}, map[lyceum.LectureID]bool{}
	random, at := rand.New(rand.NewPCG(4, 16)), storetest.Begin
	var users []lyceum.User
	var progress []lyceum.Progress
	var steps []lyceum.LectureProgress
	for id := lyceum.UserID(1); int(id) <= many; id++ {
		users = append(users, lyceum.User{ID: id, Email: fmt.Sprintf("user%d@example.com", id), Role: lyceum.Student, CreatedAt: at})
		progress = append(progress, lyceum.Progress{ID: lyceum.ProgressID(id), User: id, Course: 1})
		for l := range lyceum.LectureID(lectures) {
			if random.IntN(2) == 0 {
				continue
			}
			steps = append(steps, lyceum.LectureProgress{ID: lyceum.LectureProgressID(len(steps) + 1), User: id, Course: 1, Lecture: l + 1, CompletedAt: at})
			c.done[id] = append(c.done[id], l+1)
		}
		progress[id-1].PercentComplete = c.percent(id)
		if progress[id-1].PercentComplete == 100 {
			progress[id-1].CompletedAt = lyceum.Some(at)
		}
	}
	storetest.Write(t, c.store, c.school, func(tx lyceum.Tx) error {
		_, err := tx.Courses.Save(tx, lyceum.Course{
			ID: 1, Name: "Pottery", CreatedAt: at, UpdatedAt: at, Certificate: lyceum.Some[int32](lyceum.DefaultCertificate),
		})
		if err == nil {
			_, err = tx.LectureSections.Save(tx, lyceum.LectureSection{ID: 1, Course: 1, Name: "All", IsPublished: true, Position: 1, CreatedAt: at, UpdatedAt: at})
		}
		for l := range lyceum.LectureID(lectures) {
			if err == nil {
				_, err = tx.Lectures.Save(tx, lyceum.Lecture{ID: l + 1, Course: 1, Section: 1, IsPublished: true, Position: int32(l) + 1, CreatedAt: at, UpdatedAt: at})
			}
		}
		if err == nil {
			_, err = tx.Users.Save(tx, users...)
		}
		if err == nil {
			_, err = tx.Progress.Save(tx, progress...)
		}
		if err == nil {
			_, err = tx.LectureProgress.Save(tx, steps...)
		}
		return err
	})
}

// percent computes the percentage naively.
func (c *crowdedCourse) percent(user lyceum.UserID) int32 {
	done := 0
	for _, l := range c.done[user] {
		if !c.gone[l] {
			done++
		}
	}
	return int32(100 * done / (c.lectures - len(c.gone)))
}

// settleOnce runs Settle and interrupts it after one write.
func (c *crowdedCourse) settleOnce(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	begun := 0
	_ = learning.New(c.store, func() time.Time {
		if begun++; begun > 1 {
			stop()
		}
		return storetest.Begin.Add(2 * time.Hour)
	}).Settle(ctx, c.school)
}

func (c *crowdedCourse) overdue(t *testing.T) (waits bool, err error) {
	t.Helper()
	err = c.store.Write(t.Context(), c.by().Stamp(storetest.Begin), func(tx lyceum.Tx) error {
		_, waits, err = tx.Recountings.First(tx, struct{}{})
		return err
	})
	if next, err := c.store.FindNext(t.Context(), c.school, lyceum.NextQuery{After: storetest.Begin}); err != nil || next.Unsettled != waits {
		t.Errorf("unsettled is %v while it waits is %v: %v", next.Unsettled, waits, err)
	}
	return waits, err
}

// counted returns how many learners have the expected percentage, and checks who has completed
// the course.
func (c *crowdedCourse) counted(t *testing.T) (right int) {
	t.Helper()
	v := c.store.In(t.Context(), c.school)
	of := lyceum.ProgressFilter{Course: lyceum.Some(lyceum.CourseID(1))}
	got, want := map[lyceum.UserID]bool{}, map[lyceum.UserID]bool{}
	err := v.Progress.Each(v, of, func(p *lyceum.Progress) error {
		if p.PercentComplete == c.percent(p.User) {
			right++
		}
		if p.Certificate.Present && !p.CompletedAt.Present {
			t.Errorf("user %d has a certificate without having completed the course", p.User)
		}
		if p.CompletedAt.Present {
			got[p.User] = true
		}
		if p.PercentComplete == 100 {
			want[p.User] = true
		}
		return nil
	})
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("who has completed the course (-want +got): %v\n%s", err, diff)
	}
	return right
}

// TestCompletedByRecounting deletes the only lecture that learners lack. It checks that webhooks
// receive that each of them who is still enrolled has completed the course, once, unless an
// import deletes it.
func TestCompletedByRecounting(t *testing.T) {
	t.Parallel()
	const many, lectures = 120, 2
	left := func(user lyceum.UserID) bool { return user%10 == 1 }
	for _, row := range []struct {
		name   string
		remove func(*testing.T, *crowdedCourse)
		want   bool
	}{
		{"the school", func(t *testing.T, c *crowdedCourse) {
			if err := c.service.DeleteLecture(t.Context(), c.by(), learning.InCourse[lyceum.LectureID]{Course: 1, ID: 2}); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"the school, then an import", func(t *testing.T, c *crowdedCourse) {
			if err := c.service.DeleteLecture(t.Context(), c.by(), learning.InCourse[lyceum.LectureID]{Course: 1, ID: 2}); err != nil {
				t.Fatal(err)
			}
			c.importLecture(t, lyceum.Lecture{ID: 3, Course: 1, Section: 1, IsPublished: true, Position: 3})
			c.importLecture(t, lyceum.Lecture{ID: 3, Course: 1, Section: 1, Position: 3})
		}, true},
		{"an import", func(t *testing.T, c *crowdedCourse) {
			c.importLecture(t, lyceum.Lecture{ID: 2, Course: 1, Section: 1, Position: 2})
		}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			c := &crowdedCourse{store: store, school: storetest.MakeSchool(t, store)}
			c.service = learning.New(store, func() time.Time { return storetest.Begin.Add(time.Hour) })
			c.fill(t, many, lectures)
			storetest.Write(t, store, c.school, func(tx lyceum.Tx) error {
				for id := range lyceum.UserID(many) {
					e := lyceum.Enrollment{ID: lyceum.EnrollmentID(id + 1), User: id + 1, Course: 1, EnrolledAt: storetest.Begin}
					if left(id + 1) {
						e.EndedAt = lyceum.Some(storetest.Begin.Add(time.Minute))
					}
					if err := storetest.Enroll(tx, e); err != nil {
						return err
					}
				}
				return nil
			})
			want := map[int32]int{}
			for id, done := range c.done {
				if row.want && !left(id) && len(done) == 1 && done[0] == 1 {
					want[int32(id)] = 1
				}
			}
			row.remove(t, c)
			if err := c.service.Settle(t.Context(), c.school); err != nil {
				t.Fatal(err)
			}
			entries, err := storetest.FindEntries(t.Context(), store, c.school, 0, 10_000)
			if err != nil {
				t.Fatal(err)
			}
			got := map[int32]int{}
			for i := range entries {
				if entries[i].Event == lyceum.Some(lyceum.EnrollmentCompletedEvent) {
					got[entries[i].ObjectID]++
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("events by enrollment (-want +got):\n%s", diff)
			}
		})
	}
}

func (c *crowdedCourse) importLecture(t *testing.T, l lyceum.Lecture) {
	t.Helper()
	_, problems, err := c.service.ImportLectures(c.by()).Save(t.Context(), []lyceum.Lecture{l})
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
}
