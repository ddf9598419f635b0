package learning

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// latest returns the last response of each user, ordered by user.
func latest(all []lyceum.QuizResponse) []lyceum.QuizResponse {
	last := map[lyceum.UserID]lyceum.QuizResponse{}
	for _, r := range all { // by ascending id
		if old, there := last[r.User]; !there || !r.SubmittedAt.Value.Before(old.SubmittedAt.Value) {
			last[r.User] = r
		}
	}
	kept := make([]lyceum.QuizResponse, 0, len(last))
	for _, r := range last {
		kept = append(kept, r)
	}
	slices.SortFunc(kept, func(a, b lyceum.QuizResponse) int { return cmp.Compare(a.User, b.User) })
	return kept
}

// Enrollments lists the enrollments of a course that are active now.
func (s *Service) Enrollments(
	ctx context.Context, by lyceum.By, f lyceum.EnrolledFilter, p lyceum.Page,
) (lyceum.Listing[lyceum.Enrolled], error) {
	v := s.store.In(ctx, by.School)
	f.ActiveAt = s.clock()
	listing, err := v.FindEnrolled(f, p)
	if err != nil || len(listing.Rows) > 0 { // a course with enrollments exists
		return listing, err
	}
	_, err = v.Courses.Get(v, f.Course)
	return listing, err
}

// ProgressDetail is a user's progress in a course, by lecture.
type ProgressDetail struct {
	lyceum.Progress

	EnrolledAt lyceum.Opt[time.Time]
	Sections   []lyceum.LectureSection
	Lectures   []lyceum.Lecture // published ones, in order
	Done       map[lyceum.LectureID]lyceum.LectureProgress
}

// Progress returns the progress of a user in a course that they are or were enrolled in.
func (s *Service) Progress(
	ctx context.Context, by lyceum.By, user lyceum.UserID, course lyceum.CourseID,
) (ProgressDetail, error) {
	var detail ProgressDetail
	err := s.store.AtOnce(ctx, by.School, func(v lyceum.View) (err error) {
		if _, err := see(v, by, course, s.clock()); err != nil {
			return err
		}
		if _, err := v.Users.Get(v, user); err != nil {
			return err
		}
		detail, err = progressOf(v, user, course, s.clock())
		return err
	})
	return detail, err
}

func progressOf(
	v lyceum.View, user lyceum.UserID, course lyceum.CourseID, now time.Time,
) (detail ProgressDetail, err error) {
	of := lyceum.EnrollmentFilter{User: lyceum.Some(user), Course: lyceum.Some(course)}
	var shown lyceum.Enrollment
	err = v.Enrollments.Each(v, of, func(e *lyceum.Enrollment) error { // by id
		if shown.ID == 0 || !shown.Outranks(e, now) {
			shown = *e
		}
		return nil
	})
	if err == nil && shown.ID == 0 {
		err = lyceum.Errorf(lyceum.NotFound, "user %d was never enrolled in course %d", user, course)
	}
	if err != nil {
		return ProgressDetail{}, err
	}
	detail.EnrolledAt, detail.ID = lyceum.Some(shown.EnrolledAt), lyceum.ProgressID(shown.ID)
	switch kept, found, err := v.Progress.First(v, progressIn(user, course)); {
	case err != nil:
		return ProgressDetail{}, err
	case found:
		detail.Progress = kept
	}
	all, err := contents(v.Tables, v, course)
	if err != nil {
		return ProgressDetail{}, err
	}
	detail.Sections, detail.Lectures = all.Sections, published(all)
	detail.Done, err = completed(v.Tables, v, user, course)
	return detail, err
}

// completed returns the lectures of a course that a user has completed.
func completed(
	t *lyceum.Tables, from lyceum.Source, user lyceum.UserID, course lyceum.CourseID,
) (map[lyceum.LectureID]lyceum.LectureProgress, error) {
	done := map[lyceum.LectureID]lyceum.LectureProgress{}
	of := lyceum.LectureProgressFilter{User: lyceum.Some(user), Course: lyceum.Some(course)}
	err := t.LectureProgress.Each(from, of, func(p *lyceum.LectureProgress) error {
		done[p.Lecture] = *p
		return nil
	})
	return done, err
}

func progressIn(user lyceum.UserID, course lyceum.CourseID) lyceum.ProgressFilter {
	return lyceum.ProgressFilter{User: lyceum.Some(user), Course: lyceum.Some(course)}
}

// progress returns the record of a user's progress in a course, and creates it if necessary.
func progress(tx lyceum.Tx, user lyceum.UserID, course lyceum.CourseID) (lyceum.Progress, error) {
	kept, found, err := tx.Progress.First(tx, progressIn(user, course))
	if err != nil || found {
		return kept, err
	}
	id, err := tx.Progress.NextID(tx)
	if err != nil {
		return lyceum.Progress{}, err
	}
	kept = lyceum.Progress{ID: id, User: user, Course: course}
	return kept, tx.Progress.Insert(tx, kept)
}

// change runs a change with one time for all of it.
func (s *Service) change(ctx context.Context, by lyceum.By, do func(lyceum.Tx, time.Time) error) error {
	now := s.clock()
	return s.store.Write(
		ctx, by.Stamp(now), func(tx lyceum.Tx) error { return do(tx, now) },
	)
}

// Complete marks a lecture as complete for an enrolled user, and returns when it was completed.
// One that is complete already stays so.
func (s *Service) Complete(
	ctx context.Context, by lyceum.By, user lyceum.UserID, course lyceum.CourseID, lecture lyceum.LectureID,
) (time.Time, error) {
	var at time.Time
	err := s.change(ctx, by, func(tx lyceum.Tx, now time.Time) error {
		at = time.Time{} // the function may run again
		wanted := append(ofLearning(tx, user, course, now),
			lyceum.FirstOf(tx.Progress, progressIn(user, course)), publishedIn(tx, course))
		if err := tx.Ahead(wanted...); err != nil {
			return err
		}
		known, err := see(tx.View(), by, course, now)
		if err != nil {
			return err
		}
		lectures, err := tx.FindPublished(course)
		if err != nil {
			return err
		}
		if err := completable(tx, by, course, lecture, lectures); err != nil {
			return err
		}
		stay, err := enrolled(tx, user, course, now)
		if err != nil {
			return cmp.Or(exist(tx.Tables, tx, course.Product(), user), err) // a user who does not exist is not enrolled either
		}
		id, done, err := nextStep(tx, user, course, lecture)
		if err != nil {
			return err
		}
		if old, complete := done[lecture]; complete {
			at = old.CompletedAt
			return nil
		}
		if err := inOrder(&known, lectures, lecture, done); err != nil {
			return err
		}
		if err := quizzesPassed(tx, &known, user, lecture); err != nil {
			return err
		}
		at = lyceum.Second(now)
		fresh := lyceum.LectureProgress{ID: id, User: user, Course: course, Lecture: lecture, CompletedAt: at}
		if err := tx.LectureProgress.Insert(tx, fresh); err != nil {
			return err
		}
		done[lecture] = fresh
		tx.Announce(lyceum.LectureProgressCreated, int32(id), lyceum.LectureProgressEvent, "")
		return count(tx, &stay, &known, lectures, done, at)
	})
	return at, err
}

// publishedIn prefetches the lectures of a course that learners see.
func publishedIn(tx lyceum.Tx, course lyceum.CourseID) lyceum.Wanted {
	return lyceum.Wanted{Query: func(lyceum.Source) { _, _ = tx.FindPublished(course) }}
}

// nextStep returns what a user has completed of a course and, unless the lecture is complete
// already, an id for completing it. Taking the id locks the sequence, so it then reads again
// what another process may have completed meanwhile.
func nextStep(
	tx lyceum.Tx, user lyceum.UserID, course lyceum.CourseID, lecture lyceum.LectureID,
) (lyceum.LectureProgressID, map[lyceum.LectureID]lyceum.LectureProgress, error) {
	done, err := completed(tx.Tables, tx, user, course)
	if _, complete := done[lecture]; err != nil || complete {
		return 0, done, err
	}
	_, begun, err := tx.Progress.First(tx, progressIn(user, course))
	if err == nil && !begun {
		err = tx.Reserve(1, lyceum.LectureProgressSequence, lyceum.ProgressSequence)
	}
	if err != nil {
		return 0, nil, err
	}
	id, err := tx.LectureProgress.NextID(tx)
	if err != nil {
		return 0, nil, err
	}
	done, err = completed(tx.Tables, tx, user, course)
	return id, done, err
}

// completable rejects a lecture that is not in the course and, for a learner, one that is not
// published.
func completable(
	tx lyceum.Tx, by lyceum.By, course lyceum.CourseID, lecture lyceum.LectureID, published []lyceum.LectureID,
) error {
	if slices.Contains(published, lecture) {
		return nil
	}
	found, err := tx.Lectures.Find(tx, lecture)
	known := found[lecture]
	if err == nil && (by.Learner.Present || !isIn(&known, course)) {
		err = noLecture(course, lecture)
	}
	return err
}

// inOrder rejects a lecture before which another one is incomplete, if the course requires their
// order.
func inOrder(
	course *lyceum.Course, lectures []lyceum.LectureID, lecture lyceum.LectureID,
	done map[lyceum.LectureID]lyceum.LectureProgress,
) error {
	if !course.LectureOrder {
		return nil
	}
	for _, before := range lectures {
		if before == lecture {
			return nil
		}
		if _, complete := done[before]; !complete {
			return &lyceum.Error{Kind: lyceum.Conflict, Code: "unmet_requirements", Detail: fmt.Sprintf(
				"this course must be completed in order: lecture %d comes first", before,
			)}
		}
	}
	return nil
}

// count updates a user's progress after a lecture was completed.
func count(
	tx lyceum.Tx, stay *lyceum.Enrollment, course *lyceum.Course, lectures []lyceum.LectureID,
	done map[lyceum.LectureID]lyceum.LectureProgress, at time.Time,
) error {
	kept, err := progress(tx, stay.User, course.ID)
	if err != nil {
		return err
	}
	before := kept
	advance(&kept, course, percent(countDone(lectures, done), len(lectures)), at)
	if kept == before {
		return nil
	}
	if err := tx.Progress.Update(tx, kept); err != nil {
		return err
	}
	if kept.CompletedAt.Present && !before.CompletedAt.Present {
		tx.Announce(lyceum.EnrollmentUpdated, int32(stay.ID), lyceum.EnrollmentCompletedEvent, "")
	}
	return nil
}

// advance sets the completed percentage of a course. A learner who reaches 100 for the first
// time completes the course at the given time, and receives its certificate, if it issues one.
func advance(p *lyceum.Progress, course *lyceum.Course, percent int32, at time.Time) {
	p.PercentComplete = percent
	if percent < 100 || p.CompletedAt.Present {
		return
	}
	p.CompletedAt = lyceum.Some(at)
	if course.Certificate.Present && course.Compliance.Issues.Else(true) && !p.Certificate.Present {
		p.Certificate = lyceum.Some(lyceum.Certificate{
			IssuedAt: at, PageID: course.Certificate.Value, SerialNumber: "cert_" + strings.ToLower(rand.Text()),
		})
	}
}

// percent returns the percentage of lectures that are complete, rounded down, so that 100 means
// all of them.
func percent(complete, of int) int32 {
	if of == 0 {
		return 0
	}
	return int32(100 * complete / of)
}
