package learning

import (
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// recounting calls save, which saves rows that decide which lectures learners see in these
// courses, and recounts progress in those of them where that changed: immediately for the first
// learners, and in the writes of Settle for the others. Those who complete their course that way
// are announced if announces is set, or was for an earlier change whose recount is not finished.
func recounting(
	tx lyceum.Tx, courses []lyceum.CourseID, announces bool, save func() (lyceum.Saved, error),
) (lyceum.Saved, error) {
	seen := map[lyceum.CourseID][]lyceum.LectureID{}
	for _, course := range courses {
		var err error
		if seen[course], err = tx.FindPublished(course); err != nil {
			return lyceum.Saved{}, err
		}
	}
	saved, err := save()
	if err != nil || saved.Created+saved.Updated == 0 {
		return saved, err
	}
	for _, course := range courses {
		now, err := tx.FindPublished(course)
		if err != nil {
			return saved, err
		}
		if sameLectures(seen[course], now) {
			continue
		}
		begun, err := tx.Recountings.Find(tx, course)
		if err != nil {
			return saved, err
		}
		next := lyceum.Recounting{Course: course, Announces: announces || begun[course].Announces}
		if err := recountFrom(tx, next); err != nil {
			return saved, err
		}
	}
	return saved, nil
}

func sameLectures(a, b []lyceum.LectureID) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// recountSize is the maximum number of learners that one write recounts, so that it does not
// hold up other writes.
const recountSize = 50

// recountFrom updates the progress of the next learners of a course, and leaves the rest to the
// writes of Settle. A learner who completed the course keeps the completion time.
func recountFrom(tx lyceum.Tx, next lyceum.Recounting) error {
	all, err := tx.FindRecounted(next, recountSize)
	if err != nil {
		return err
	}
	if len(all) > 0 {
		if err := recount(tx, next, all); err != nil {
			return err
		}
	}
	if len(all) == recountSize {
		next.After = all[len(all)-1].User
		_, err := tx.Recountings.Save(tx, next)
		return err
	}
	begun, err := tx.Recountings.Find(tx, next.Course)
	if err != nil || len(begun) == 0 {
		return err
	}
	return tx.Recountings.Delete(tx, next.Course)
}

// recountNext recounts the next learners of a course, and reports whether there was such a
// course.
func recountNext(tx lyceum.Tx, _ time.Time) (bool, error) {
	next, found, err := tx.Recountings.First(tx, struct{}{})
	if err != nil || !found {
		return false, err
	}
	return true, recountFrom(tx, next)
}

// toRecount prefetches what recounting reads.
func toRecount(tx lyceum.Tx, course lyceum.CourseID) []lyceum.Wanted {
	return []lyceum.Wanted{
		lyceum.ByID(tx.Courses, course), lyceum.ByID(tx.Recountings, course),
		publishedIn(tx, course),
	}
}

func recount(tx lyceum.Tx, next lyceum.Recounting, all []lyceum.Progress) error {
	counts, err := tx.CountLectureProgress(next, all[len(all)-1].User)
	if err != nil {
		return err
	}
	lectures, err := tx.FindPublished(next.Course)
	if err != nil {
		return err
	}
	course, err := tx.Courses.Get(tx, next.Course)
	if err != nil {
		return err
	}
	var changed []lyceum.Progress
	var finished []lyceum.UserID
	for _, kept := range all {
		before, count := kept, counts[kept.User]
		if advance(&kept, &course, percent(count.Completed, len(lectures)), count.Last); kept != before {
			changed = append(changed, kept)
		}
		if kept.CompletedAt.Present && !before.CompletedAt.Present {
			finished = append(finished, kept.User)
		}
	}
	if err := tx.Progress.Update(tx, changed...); err != nil || !next.Announces || len(finished) == 0 {
		return err
	}
	return announceCompleted(tx, next.Course, finished)
}

// announceCompleted announces that users completed a course, if they are still enrolled in it.
func announceCompleted(tx lyceum.Tx, course lyceum.CourseID, users []lyceum.UserID) error {
	of := lyceum.EnrollmentFilter{Users: users, Course: lyceum.Some(course), Open: true}
	return tx.Enrollments.Each(tx, of, func(e *lyceum.Enrollment) error {
		tx.Announce(lyceum.EnrollmentUpdated, int32(e.ID), lyceum.EnrollmentCompletedEvent, "")
		return nil
	})
}
