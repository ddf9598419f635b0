package learning

import (
	"cmp"
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Enroll lets a user work through a course, from now on and without an end.
// Who is enrolled stays so.
func (s *Service) Enroll(ctx context.Context, by lyceum.By, user lyceum.UserID, course lyceum.CourseID) error {
	return s.change(ctx, by, func(tx lyceum.Tx, now time.Time) error {
		if open, err := hasAccess(tx.Tables, tx, user, course, now); err != nil || open {
			return err
		}
		id, err := tx.Entitlements.NextID(tx)
		if err != nil {
			return err
		}
		hand := lyceum.Entitlement{ID: id, User: user, Product: course.Product(), StartsAt: lyceum.Second(now)}
		begun, err := beginBy(tx, now, hand)
		if err != nil {
			return err
		}
		if !begun {
			if err := exist(tx, course, user); err != nil {
				return err
			}
		}
		if err := tx.Entitlements.Insert(tx, hand); err != nil {
			return err
		}
		lifted, err := unblock(tx, user, hand.Product)
		if err != nil || begun && lifted == 0 {
			return err
		}
		return settle(tx, now, user, hand.Product)
	})
}

// exist fails with NotFound for a course or a user that does not exist.
func exist(tx lyceum.Tx, course lyceum.CourseID, user lyceum.UserID) error {
	if _, err := tx.Courses.Get(tx, course); err != nil {
		return err
	}
	_, err := tx.Users.Get(tx, user)
	return err
}

// begin keeps a new enrollment and announces it, unless the user is in the
// course already.
func begin(tx lyceum.Tx, fresh lyceum.Enrollment) (begun bool, err error) {
	if begun, err = tx.BeginEnrollment(fresh); err != nil || !begun {
		return begun, err
	}
	tx.Announce(lyceum.EnrollmentCreated, int32(fresh.ID), lyceum.EnrollmentCreatedEvent, "")
	return true, nil
}

// Unenroll ends every entitlement of a user to a course itself, and the
// recurring sales behind them. If the course also comes with a collection or a
// tier, the user is kept out of it. Who was enrolled once may be unenrolled again.
func (s *Service) Unenroll(ctx context.Context, by lyceum.By, user lyceum.UserID, course lyceum.CourseID) error {
	return s.change(ctx, by, func(tx lyceum.Tx, now time.Time) error { return s.unenroll(tx, now, user, course) })
}

func (s *Service) unenroll(tx lyceum.Tx, now time.Time, user lyceum.UserID, course lyceum.CourseID) error {
	if err := onceEnrolled(tx, user, course); err != nil {
		return err
	}
	if err := cmp.Or(keepLeft(tx, user, course.Product()), s.Relink(tx, now, user)); err != nil {
		return err
	}
	of := lyceum.EntitlementFilter{
		User: lyceum.Some(user), Products: []lyceum.Product{course.Product()}, OpenAt: lyceum.Some(now),
	}
	direct, err := lyceum.All(tx.Entitlements, tx, of)
	if err != nil {
		return err
	}
	for i := range direct {
		e := &direct[i]
		e.EndedAt, e.EndReason = lyceum.Some(lyceum.Second(now)), lyceum.Some(lyceum.EndedByUnenrollment)
		if _, err := tx.Entitlements.Save(tx, *e); err != nil {
			return err
		}
		if err := s.stopCharging(tx, now, e.Sale); err != nil {
			return err
		}
	}
	if _, open, err := tx.Access.First(tx, of); err != nil || open {
		if err := cmp.Or(err, block(tx, now, user, course.Product())); err != nil {
			return err
		}
	}
	return settle(tx, now, user, course.Product())
}

// onceEnrolled fails with NotFound for a user or a course that does not exist,
// and for a user who never had access to the course.
func onceEnrolled(tx lyceum.Tx, user lyceum.UserID, course lyceum.CourseID) error {
	stays := lyceum.EnrollmentFilter{User: lyceum.Some(user), Course: lyceum.Some(course)}
	_, known, err := tx.Enrollments.First(tx, stays)
	if err != nil || known {
		return err
	}
	of := lyceum.EntitlementFilter{User: lyceum.Some(user), Products: []lyceum.Product{course.Product()}}
	if _, known, err = tx.Access.First(tx, of); err != nil || known {
		return err
	}
	return cmp.Or(exist(tx, course, user), notEnrolled(user, course))
}

// stopCharging ends a sale that is paid for again and again, because its learner
// was unenrolled.
func (s *Service) stopCharging(tx lyceum.Tx, now time.Time, id lyceum.Opt[lyceum.SaleID]) error {
	if !id.Present {
		return nil
	}
	sale, err := tx.Sales.Get(tx, id.Value)
	if err != nil || sale.EndedAt.Present {
		return err
	}
	plans, err := tx.PricingPlans.Find(tx, sale.PricingPlanID.Value)
	if err != nil {
		return err
	}
	if plan := plans[sale.PricingPlanID.Value]; !plan.Recurring() {
		return nil
	}
	announced := sale.Stop == lyceum.Stopped
	sale.End(now, lyceum.SaleCanceled)
	sale.Stop = lyceum.Stopped
	if _, err := tx.Sales.Save(tx, sale); err != nil {
		return err
	}
	if !announced {
		tx.Announce(lyceum.SaleUpdated, int32(sale.ID), lyceum.SubscriptionCanceledEvent, "")
	}
	return s.Revoke(tx, now, &sale, now, lyceum.EndedByCancellation)
}

// end ends an enrollment and announces it.
func end(tx lyceum.Tx, e lyceum.Enrollment, at time.Time) error {
	e.EndedAt = lyceum.Some(lyceum.Second(at))
	_, err := tx.Enrollments.Save(tx, e)
	tx.Announce(lyceum.EnrollmentUpdated, int32(e.ID), lyceum.EnrollmentDisabledEvent, "")
	return err
}

// enrolled returns the active enrollment of a user. Where a product that was
// added or removed is not settled yet, it settles the user first.
func enrolled(tx lyceum.Tx, user lyceum.UserID, course lyceum.CourseID, now time.Time) (lyceum.Enrollment, error) {
	open, err := hasAccess(tx.Tables, tx, user, course, now)
	if err != nil {
		return lyceum.Enrollment{}, err
	}
	stay, found, err := openEnrollment(tx, user, course)
	if err == nil && open != (found && stay.ActiveAt(now)) {
		if err = settle(tx, now, user, course.Product()); err == nil {
			stay, found, err = openEnrollment(tx, user, course)
		}
	}
	if err == nil && (!found || !stay.ActiveAt(now)) {
		err = notEnrolled(user, course)
	}
	return stay, err
}

// hasAccess reports whether a user may use a course at a moment.
func hasAccess(
	t *lyceum.Tables, from lyceum.Source, user lyceum.UserID, course lyceum.CourseID, now time.Time,
) (bool, error) {
	_, open, err := t.Access.First(from, lyceum.EntitlementFilter{
		User: lyceum.Some(user), Products: []lyceum.Product{course.Product()}, OpenAt: lyceum.Some(now),
	})
	return open, err
}

// openEnrollment finds the enrollment of a user that nobody ended, expired or
// not.
func openEnrollment(tx lyceum.Tx, user lyceum.UserID, course lyceum.CourseID) (lyceum.Enrollment, bool, error) {
	return tx.Enrollments.First(
		tx, lyceum.EnrollmentFilter{User: lyceum.Some(user), Course: lyceum.Some(course), Open: true},
	)
}

func notEnrolled(user lyceum.UserID, course lyceum.CourseID) error {
	return lyceum.Errorf(lyceum.NotFound, "user %d is not enrolled in course %d", user, course)
}
