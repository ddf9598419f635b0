package learning

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Uncomplete revokes a user's completion of a lecture. A completed course stays completed. It
// fails with NotFound, but not for a lecture that is not complete.
func (s *Service) Uncomplete(
	ctx context.Context, by lyceum.By, user lyceum.UserID, course lyceum.CourseID, lecture lyceum.LectureID,
) error {
	return s.change(ctx, by, func(tx lyceum.Tx, now time.Time) error {
		wanted := append(ofLearning(tx, user, course, now),
			lyceum.FirstOf(tx.Progress, progressIn(user, course)), lyceum.ByID(tx.Users, user))
		if err := tx.Ahead(wanted...); err != nil {
			return err
		}
		if by.Learner.Present {
			if _, err := see(tx.View(), by, course, now); err != nil {
				return err
			}
		}
		lectures, err := tx.FindPublished(course)
		if err != nil {
			return err
		}
		if err := completable(tx, by, course, lecture, lectures); err != nil {
			return err
		}
		if _, err := tx.Users.Get(tx, user); err != nil {
			return err
		}
		done, err := completed(tx.Tables, tx, user, course)
		old, complete := done[lecture]
		if err != nil || !complete {
			return err
		}
		if err := tx.LectureProgress.Delete(tx, old.ID); err != nil {
			return err
		}
		delete(done, lecture)
		kept, err := progress(tx, user, course)
		if err != nil {
			return err
		}
		before := kept
		kept.PercentComplete = percent(countDone(lectures, done), len(lectures))
		if kept == before {
			return nil
		}
		return tx.Progress.Update(tx, kept)
	})
}

// countDone returns how many of some lectures are complete.
func countDone(lectures []lyceum.LectureID, done map[lyceum.LectureID]lyceum.LectureProgress) int {
	complete := 0
	for _, id := range lectures {
		if _, ok := done[id]; ok {
			complete++
		}
	}
	return complete
}
