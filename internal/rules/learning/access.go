package learning

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Admit lets a user into a course for a sale. Who is in the course stays in it
// for the longer of both, and from then on for this sale.
func (s *Service) Admit(tx lyceum.Tx, now time.Time, a lyceum.Admission) error {
	id, err := tx.Enrollments.NextID(tx)
	if err != nil {
		return err
	}
	fresh := lyceum.Enrollment{
		ID: id, User: a.User, Course: a.Course, EnrolledAt: lyceum.Second(now), ExpiresAt: a.Until, Sale: lyceum.Some(a.Sale),
	}
	if begun, err := admit(tx, fresh); err != nil || begun {
		return err
	}
	open, found, err := openEnrollment(tx, a.User, a.Course)
	switch {
	case err != nil:
		return err
	case !found:
		return notEnrolled(a.User, a.Course)
	case !open.ActiveAt(now):
		return readmit(tx, open, fresh)
	case open.ExpiresAt.Present && (!a.Until.Present || a.Until.Value.After(open.ExpiresAt.Value)):
		open.ExpiresAt = a.Until
	}
	open.Sale = lyceum.Some(a.Sale)
	_, err = tx.Enrollments.Save(tx, open)
	return err
}

// Dismiss ends the enrollment that came with a sale: now, or at a moment to
// come if it would not end before. Where there is none it does nothing.
func (s *Service) Dismiss(tx lyceum.Tx, now time.Time, sale *lyceum.Sale, course lyceum.CourseID, at time.Time) error {
	open, found, err := openEnrollment(tx, sale.UserID.Value, course)
	switch {
	case err != nil || !found:
		return err
	case open.Sale != lyceum.Some(sale.ID):
		return nil
	case !at.After(now):
		return end(tx, open, now)
	case open.ExpiresAt.Present && !at.Before(open.ExpiresAt.Value):
		return nil
	}
	open.ExpiresAt = lyceum.Some(lyceum.Second(at))
	_, err = tx.Enrollments.Save(tx, open)
	return err
}

// expireSize is how many enrollments one write takes note of at most.
const expireSize = 500

// Expire takes note of the enrollments of a school that expired since the last
// time, and tells of them. What had expired before the first time is history.
func (s *Service) Expire(ctx context.Context, school lyceum.SchoolID) error {
	for more := true; more; {
		now := s.clock()
		err := s.store.Write(ctx, lyceum.Stamp{School: school, At: now, Actor: "clock"}, func(tx lyceum.Tx) (err error) {
			more, err = expire(tx, now)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// expire takes note of the next enrollments, and tells whether there are more.
func expire(tx lyceum.Tx, now time.Time) (more bool, err error) {
	from, err := tx.GetCursor(lyceum.ExpiredCursor)
	if err != nil || from >= now.UnixMicro() {
		return false, err
	}
	if from == 0 {
		_, err := tx.MoveCursor(lyceum.ExpiredCursor, 0, now.UnixMicro())
		return false, err
	}
	within, err := tx.GetCursor(lyceum.ExpiredWithin)
	if err != nil {
		return false, err
	}
	expired, err := tx.FindExpired(
		lyceum.Period{After: time.UnixMicro(from), Until: now}, lyceum.EnrollmentID(within), expireSize,
	)
	if err != nil {
		return false, err
	}
	to, last := now.UnixMicro(), int64(0)
	if more = len(expired) == expireSize; more { // of those of the last moment there may be others
		end := &expired[len(expired)-1]
		to, last = end.ExpiresAt.Value.UnixMicro()-1, int64(end.ID)
	}
	if mine, err := tx.MoveCursor(lyceum.ExpiredCursor, from, to); err != nil || !mine {
		return false, err
	}
	if _, err := tx.MoveCursor(lyceum.ExpiredWithin, within, last); err != nil {
		return false, err
	}
	for i := range expired {
		tx.Announce(lyceum.EnrollmentUpdated, int32(expired[i].ID), lyceum.EnrollmentDisabledEvent, "")
	}
	return more, nil
}

// outlived ends an enrollment that has expired, because the next begins, and
// tells of it if nobody has.
func outlived(tx lyceum.Tx, e lyceum.Enrollment) error {
	noted, err := tx.GetCursor(lyceum.ExpiredCursor)
	if err != nil {
		return err
	}
	within, err := tx.GetCursor(lyceum.ExpiredWithin)
	if err != nil {
		return err
	}
	if at := e.ExpiresAt.Value.UnixMicro(); at > noted+1 || at == noted+1 && int64(e.ID) > within {
		return end(tx, e, e.ExpiresAt.Value)
	}
	e.EndedAt = e.ExpiresAt
	_, err = tx.Enrollments.Save(tx, e)
	return err
}
