package learning

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Admit lets a user into a course for a sale. Who is in the course stays in it
// for the longer of both, and from then on for this sale.
func (s *Service) Admit(tx lyceum.Tx, now time.Time, a lyceum.Admission) error {
	open, err := tx.GetOpenEnrollment(a.User, a.Course)
	switch {
	case err == nil && open.ActiveAt(now):
		if open.ExpiresAt.Present && (!a.Until.Present || a.Until.Value.After(open.ExpiresAt.Value)) {
			open.ExpiresAt = a.Until
		}
		open.Sale = lyceum.Some(a.Sale)
		_, err = tx.SaveEnrollments([]lyceum.Enrollment{open})
		return err
	case err == nil:
		if err := end(tx, open, open.ExpiresAt.Value); err != nil {
			return err
		}
	case lyceum.KindOf(err) != lyceum.NotFound:
		return err
	}
	id, err := tx.NextID(lyceum.EnrollmentSequence)
	if err != nil {
		return err
	}
	return admit(tx, lyceum.Enrollment{
		ID: lyceum.EnrollmentID(id), User: a.User, Course: a.Course, EnrolledAt: lyceum.Second(now), ExpiresAt: a.Until, Sale: lyceum.Some(a.Sale),
	})
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

// sweepSize is how many overdue things one write takes note of.
const sweepSize = 200

// Expire ends the enrollments of a school whose time is over.
func (s *Service) Expire(ctx context.Context, school lyceum.SchoolID) error {
	for more := true; more; {
		now := s.clock()
		err := s.store.Write(ctx, lyceum.Stamp{School: school, At: now, Actor: "clock"}, func(tx lyceum.Tx) error {
			expired, err := tx.FindExpired(now, sweepSize)
			more = len(expired) == sweepSize
			for i := range expired {
				if err == nil {
					err = end(tx, expired[i], expired[i].ExpiresAt.Value)
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
