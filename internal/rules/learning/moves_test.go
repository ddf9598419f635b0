package learning_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestLecturesMoveToAnotherCourse checks that an import that moves a lecture or a section to
// another course updates everybody's percentage in both courses, and takes along what learners
// completed and wrote there.
func TestLecturesMoveToAnotherCourse(t *testing.T) {
	type percents struct{ mira, pia, piaInWelding int32 }
	for engine, store := range engines(t, sqlstore.Options{}) {
		d := &desk{store: store, school: storetest.MakeSchool(t, store)}
		d.service = learning.New(store, func() time.Time { return begin })
		storetest.Write(t, store, d.school, storetest.NewClassroom("x").Save)
		storetest.Write(t, store, d.school, func(tx lyceum.Tx) error {
			if err := tx.Progress.Insert(tx, lyceum.Progress{ID: 9, User: 5, Course: 2}); err != nil {
				return err
			}
			return tx.Comments.Insert(tx, lyceum.Comment{ID: 1, Lecture: 11, Course: 1, User: 5, Status: lyceum.CommentApproved, Body: "Round."})
		})
		by := lyceum.By{School: d.school, Actor: "import"}
		lecture := func(course lyceum.CourseID, section lyceum.LectureSectionID) func() {
			return func() {
				take(t, d.service.ImportLectures(by), lyceum.Lecture{ID: 12, Course: course, Section: section, IsPublished: true, Position: 2})
			}
		}
		section := func(course lyceum.CourseID) func() {
			return func() {
				take(t, d.service.ImportLectureSections(by), lyceum.LectureSection{ID: 1, Course: course, Name: "Beginning", IsPublished: true, Position: 2})
			}
		}
		for _, step := range []struct {
			name   string
			move   func()
			want   percents
			moved  lyceum.LectureID
			course lyceum.CourseID
		}{
			{"a lecture", lecture(2, 4), percents{50, 100, 50}, 12, 2},
			{"a section", section(2), percents{0, 100, 66}, 11, 2},
			{"the section back", section(1), percents{50, 100, 50}, 11, 1},
			{"the lecture back", lecture(1, 1), percents{33, 100, 0}, 12, 1},
		} {
			step.move()
			v := store.In(t.Context(), d.school)
			percent := func(user lyceum.UserID, course lyceum.CourseID) int32 {
				p, _, err := v.Progress.First(v, lyceum.ProgressFilter{User: lyceum.Some(user), Course: lyceum.Some(course)})
				if err != nil {
					t.Fatal(err)
				}
				return p.PercentComplete
			}
			got := percents{percent(2, 1), percent(5, 1), percent(5, 2)}
			if diff := cmp.Diff(step.want, got, cmp.AllowUnexported(percents{})); diff != "" {
				t.Errorf("%s: %s: percentages (-want +got):\n%s", engine, step.name, diff)
			}
			l, err := v.Lectures.Get(v, step.moved)
			if err != nil || l.Course != step.course {
				t.Errorf("%s: %s: the lecture is in course %d, not %d: %v", engine, step.name, l.Course, step.course, err)
			}
			steps, err := lyceum.All(v.LectureProgress, v, lyceum.LectureProgressFilter{})
			if err != nil {
				t.Fatal(err)
			}
			wantTaken(t, engine+": "+step.name+": what was exported", d.service.ImportLectureProgress(by), nil, steps...)
			if c, err := v.Comments.Get(v, 1); step.moved == 11 && (err != nil || c.Course != step.course) {
				t.Errorf("%s: %s: the comment is in course %d, not %d: %v", engine, step.name, c.Course, step.course, err)
			}
		}
		if findings, err := store.Check(t.Context()); err != nil || len(findings) > 0 {
			t.Errorf("%s: check: %v, %v", engine, findings, err)
		}
	}
}
