package learning_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestLearningGoesTogether checks that of changes by learners that share a commit, none needs
// its rows in the database before the next one begins.
func TestLearningGoesTogether(t *testing.T) {
	t.Parallel()
	const learners = 64
	var savepoints storetest.Savepoints
	for name, store := range engines(t, sqlstore.Options{Trace: savepoints.Trace}) {
		school := storetest.MakeSchool(t, store)
		service := learning.New(store, func() time.Time { return storetest.Day(10) })
		const course, lecture = lyceum.CourseID(1), lyceum.LectureID(11)
		storetest.Write(t, store, school, func(tx lyceum.Tx) error {
			_, e1 := tx.Courses.Save(tx, lyceum.Course{ID: course, Name: "Weaving", IsPublished: true})
			_, e2 := tx.LectureSections.Save(tx, lyceum.LectureSection{ID: 1, Course: course, Name: "Begin", IsPublished: true, Position: 1})
			_, e3 := tx.Lectures.Save(tx,
				lyceum.Lecture{ID: lecture, Course: course, Section: 1, Name: lyceum.Some("Warp"), IsPublished: true, Position: 1},
				lyceum.Lecture{ID: lecture + 1, Course: course, Section: 1, Name: lyceum.Some("Weft"), IsPublished: true, Position: 2})
			return errors.Join(e1, e2, e3)
		})
		storetest.Crowd(t, store, school, course, 100, learners)
		in := learning.InCourse[lyceum.LectureID]{Course: course, ID: lecture}
		var written [learners]lyceum.CommentID
		for _, step := range []struct {
			name string
			do   func(i int, user lyceum.UserID, by lyceum.By) error
		}{
			{"complete", func(_ int, user lyceum.UserID, by lyceum.By) error {
				_, err := service.Complete(t.Context(), by, user, course, lecture)
				return err
			}},
			{"uncomplete", func(_ int, user lyceum.UserID, by lyceum.By) error {
				return service.Uncomplete(t.Context(), by, user, course, lecture)
			}},
			{"comment", func(i int, user lyceum.UserID, by lyceum.By) error {
				c, err := service.CommentAsLearner(t.Context(), by, learning.NewComment{
					Course: lyceum.Some(course), Lecture: lecture, Body: fmt.Sprint("From ", user),
				})
				written[i] = c.ID
				return err
			}},
			{"withdraw", func(i int, _ lyceum.UserID, by lyceum.By) error {
				return service.WithdrawComment(t.Context(), by, learning.InComments{Lecture: in, ID: written[i]})
			}},
		} {
			savepoints.Together(t, name+", "+step.name, learners, func(i int) error {
				user := lyceum.UserID(100 + i)
				return step.do(i, user, lyceum.By{School: school, Actor: "test", Learner: lyceum.Some(user)})
			})
		}
		v := store.In(t.Context(), school)
		done, e1 := lyceum.All(v.LectureProgress, v, lyceum.LectureProgressFilter{})
		comments, e2 := lyceum.All(v.Comments, v, lyceum.CommentFilter{})
		progress, e3 := lyceum.All(v.Progress, v, lyceum.ProgressFilter{})
		if err := errors.Join(e1, e2, e3); err != nil || len(done) > 0 || len(comments) > 0 || len(progress) != learners {
			t.Errorf("%s: %d lectures are complete, %d comments and %d rows of progress are left, %v",
				name, len(done), len(comments), len(progress), err)
		}
		for _, p := range progress {
			if p.PercentComplete != 0 {
				t.Errorf("%s: user %d has %d %%", name, p.User, p.PercentComplete)
			}
		}
	}
}
