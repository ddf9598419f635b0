package learning

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Admit lets a user into a course for a sale. Who is in the course stays in it
// for the longer of both, and from then on for this sale.
func (s *Service) Admit(tx lyceum.Tx, now time.Time, a lyceum.Admission) error {
	id, err := tx.NextID(lyceum.EnrollmentSequence)
	if err != nil {
		return err
	}
	fresh := lyceum.Enrollment{
		ID: lyceum.EnrollmentID(id), User: a.User, Course: a.Course, EnrolledAt: lyceum.Second(now), ExpiresAt: a.Until, Sale: lyceum.Some(a.Sale),
	}
	if begun, err := admit(tx, fresh); err != nil || begun {
		return err
	}
	open, err := tx.GetOpenEnrollment(a.User, a.Course)
	switch {
	case err != nil:
		return err
	case !open.ActiveAt(now):
		return readmit(tx, open, fresh)
	case open.ExpiresAt.Present && (!a.Until.Present || a.Until.Value.After(open.ExpiresAt.Value)):
		open.ExpiresAt = a.Until
	}
	open.Sale = lyceum.Some(a.Sale)
	_, err = tx.SaveEnrollments([]lyceum.Enrollment{open})
	return err
}

// Dismiss ends the enrollment that came with a sale: now, or at a moment to
// come if it would not end before. Where there is none it does nothing.
func (s *Service) Dismiss(tx lyceum.Tx, now time.Time, sale *lyceum.Sale, course lyceum.CourseID, at time.Time) error {
	open, err := tx.GetOpenEnrollment(sale.UserID.Value, course)
	if err != nil {
		if lyceum.KindOf(err) == lyceum.NotFound {
			err = nil
		}
		return err
	}
	switch {
	case open.Sale != lyceum.Some(sale.ID):
		return nil
	case !at.After(now):
		return end(tx, open, now)
	case open.ExpiresAt.Present && !at.Before(open.ExpiresAt.Value):
		return nil
	}
	open.ExpiresAt = lyceum.Some(lyceum.Second(at))
	_, err = tx.SaveEnrollments([]lyceum.Enrollment{open})
	return err
}

// Expire takes note of the enrollments of a school that expired since the last
// time, and tells of them. What had expired before the first time is history.
func (s *Service) Expire(ctx context.Context, school lyceum.SchoolID) error {
	now := s.clock()
	return s.store.Write(ctx, lyceum.Stamp{School: school, At: now, Actor: "clock"}, func(tx lyceum.Tx) error {
		from, err := tx.GetCursor(lyceum.ExpiredCursor)
		if err != nil || from >= now.UnixMicro() {
			return err
		}
		mine, err := tx.MoveCursor(lyceum.ExpiredCursor, from, now.UnixMicro())
		if err != nil || !mine || from == 0 {
			return err
		}
		expired, err := tx.FindExpired(lyceum.Period{After: time.UnixMicro(from), Until: now})
		for i := range expired {
			tx.Announce(lyceum.EnrollmentUpdated, int32(expired[i].ID), lyceum.EnrollmentDisabledEvent, "")
		}
		return err
	})
}

// outlived ends an enrollment that has expired, because the next begins, and
// tells of it if nobody has.
func outlived(tx lyceum.Tx, e lyceum.Enrollment) error {
	noted, err := tx.GetCursor(lyceum.ExpiredCursor)
	if err != nil {
		return err
	}
	if e.ExpiresAt.Value.UnixMicro() > noted {
		return end(tx, e, e.ExpiresAt.Value)
	}
	e.EndedAt = e.ExpiresAt
	_, err = tx.SaveEnrollments([]lyceum.Enrollment{e})
	return err
}
