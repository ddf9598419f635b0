package learning

import (
	"cmp"
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Enroll gives a user access to a course, from now on and without an end. A user who is enrolled
// already stays enrolled.
func (s *Service) Enroll(ctx context.Context, by lyceum.By, user lyceum.UserID, course lyceum.CourseID) error {
	return s.change(ctx, by, func(tx lyceum.Tx, now time.Time) error {
		if err := tx.Ahead(toEnroll(tx, now, user, course.Product())...); err != nil {
			return err
		}
		_, _, err := enroll(tx, now, user, course.Product())
		return err
	})
}

// toEnroll prefetches what EnrollIn reads.
func toEnroll(tx lyceum.Tx, now time.Time, user lyceum.UserID, p lyceum.Product) []lyceum.Wanted {
	wanted := []lyceum.Wanted{
		lyceum.FirstOf(tx.Access, accessTo(user, p, now)), lyceum.NextOf(lyceum.EntitlementSequence),
		{Query: func(from lyceum.Source) { _, _ = lyceum.FindProducts(tx.Tables, from, p) }},
		lyceum.ByID(tx.Users, user),
	}
	switch p.Kind {
	case lyceum.CollectionKind:
		wanted = append(wanted, lyceum.FirstOf(tx.Blocks, lyceum.BlockFilter{User: lyceum.Some(user)}),
			lyceum.AllOf(tx.CollectionProducts, whatLeft(p)))
	case lyceum.CourseKind:
		wanted = append(wanted, beginning(tx, user, lyceum.CourseID(p.ID)), lyceum.AllOf(tx.Blocks, blocking(user, p)))
	default:
		wanted = append(wanted, lyceum.AllOf(tx.Blocks, blocking(user, p)))
	}
	return wanted
}

// blocking selects the block that keeps a user out of a product.
func blocking(user lyceum.UserID, p lyceum.Product) lyceum.BlockFilter {
	return lyceum.BlockFilter{User: lyceum.Some(user), Product: lyceum.Some(p)}
}

// EnrollIn gives a user a product by hand unless they have access to it, and reports whether
// that changed anything. It fails with NotFound for a product or user that does not exist.
func (s *Service) EnrollIn(
	tx lyceum.Tx, now time.Time, user lyceum.UserID, p lyceum.Product,
) (enrolled bool, err error) {
	_, enrolled, err = enroll(tx, now, user, p)
	return enrolled, err
}

// enroll is EnrollIn, and also returns the entitlement that it gave.
func enroll(
	tx lyceum.Tx, now time.Time, user lyceum.UserID, p lyceum.Product,
) (hand lyceum.Entitlement, enrolled bool, err error) {
	if open, err := hasAccess(tx.Tables, tx, user, p, now); err != nil || open {
		return hand, false, err
	}
	id, err := tx.Entitlements.NextID(tx)
	if err != nil {
		return hand, false, err
	}
	hand = lyceum.Entitlement{ID: id, User: user, Product: p, StartsAt: lyceum.Second(now)}
	begun, err := beginFreely(tx, now, hand)
	if err != nil {
		return hand, false, err
	}
	if !begun {
		if err := exist(tx.Tables, tx, p, user); err != nil {
			return hand, false, err
		}
	}
	return hand, true, hold(tx, now, hand, begun)
}

// beginFreely is beginBy unless the user is blocked from the product. It begins nothing for
// blocked users, who are settled once the block is lifted.
func beginFreely(tx lyceum.Tx, now time.Time, e lyceum.Entitlement) (begun bool, err error) {
	if e.Product.Kind != lyceum.CourseKind {
		return false, nil
	}
	blocks, err := lyceum.All(tx.Blocks, tx, blocking(e.User, e.Product))
	if err != nil || len(blocks) > 0 {
		return false, err
	}
	return beginBy(tx, now, e)
}

// hold inserts an entitlement, and lifts a block that keeps the user out of the product. begun
// reports whether its enrollment exists already.
func hold(tx lyceum.Tx, now time.Time, e lyceum.Entitlement, begun bool) error {
	if err := tx.Entitlements.Insert(tx, e); err != nil {
		return err
	}
	lifted, err := unblock(tx, e.User, e.Product)
	if err != nil || begun && lifted == 0 {
		return err
	}
	return settleAll(tx, now, e.User, e.Product)
}

// exist fails with NotFound for a product or user that does not exist.
func exist(t *lyceum.Tables, from lyceum.Source, p lyceum.Product, user lyceum.UserID) error {
	found, err := lyceum.FindProducts(t, from, p)
	switch {
	case err != nil:
		return err
	case len(found) == 0:
		return lyceum.Errorf(lyceum.NotFound, "there is no %s", p)
	}
	_, err = t.Users.Get(from, user)
	return err
}

// begin inserts a new enrollment and announces it, unless the user is already in the course.
func begin(tx lyceum.Tx, fresh lyceum.Enrollment) (begun bool, err error) {
	if begun, err = tx.BeginEnrollment(fresh); err != nil || !begun {
		return begun, err
	}
	tx.Announce(lyceum.EnrollmentCreated, int32(fresh.ID), lyceum.EnrollmentCreatedEvent, "")
	return true, nil
}

// UserProduct identifies a user's access to a product.
type UserProduct struct {
	User    lyceum.UserID
	Product lyceum.Product
}

// Unenroll ends all entitlements of a user to a product itself, and the recurring sales behind
// them. If the product also comes with a collection or a tier, the user is blocked from it.
// Unenrolling a user again is no error. It fails with NotFound for a user or product that does
// not exist, and for a user who never had access.
func (s *Service) Unenroll(ctx context.Context, by lyceum.By, q UserProduct) error {
	return s.change(ctx, by, func(tx lyceum.Tx, now time.Time) error {
		_, _, err := s.UnenrollFrom(tx, now, q.User, q.Product)
		return err
	})
}

// Close is Unenroll as part of a larger change.
func (s *Service) Close(tx lyceum.Tx, now time.Time, user lyceum.UserID, p lyceum.Product) error {
	_, _, err := s.UnenrollFrom(tx, now, user, p)
	return err
}

// UnenrollFrom is Unenroll as part of a larger change. It reports whether there was something to
// end, and returns the sales that it ended.
func (s *Service) UnenrollFrom(
	tx lyceum.Tx, now time.Time, user lyceum.UserID, p lyceum.Product,
) (ended bool, stopped []lyceum.SaleID, err error) {
	of := accessTo(user, p, now)
	wanted := append(onceIn(tx, user, p), lyceum.FirstOf(tx.Relinkings, struct{}{}), lyceum.AllOf(tx.Access, of),
		lyceum.NextOf(lyceum.BlockSequence), lyceum.FirstOf(tx.CollectionProducts, whatLeft(p)),
		lyceum.AllOf(tx.Entitlements, of))
	if err := tx.Ahead(wanted...); err != nil {
		return false, nil, err
	}
	if err := onceEnrolled(tx, user, p); err != nil {
		return false, nil, err
	}
	if err := cmp.Or(keepLeft(tx, user, p), s.Relink(tx, now, user)); err != nil {
		return false, nil, err
	}
	direct, err := lyceum.All(tx.Entitlements, tx, of)
	if err != nil {
		return false, nil, err
	}
	var sold []lyceum.Wanted
	for i := range direct {
		if direct[i].Sale.Present {
			sold = append(sold, lyceum.ByID(tx.Sales, direct[i].Sale.Value))
		}
	}
	if err := tx.Ahead(sold...); err != nil {
		return false, nil, err
	}
	for i := range direct {
		e := &direct[i]
		e.EndedAt, e.EndReason = lyceum.Some(lyceum.Second(now)), lyceum.Some(lyceum.EndedByUnenrollment)
		if _, err := tx.Entitlements.Save(tx, *e); err != nil {
			return false, nil, err
		}
		switch done, err := s.stopCharging(tx, now, e.Sale); {
		case err != nil:
			return false, nil, err
		case done:
			stopped = append(stopped, e.Sale.Value)
		}
	}
	left, err := lyceum.All(tx.Access, tx, of)
	if err == nil && len(left) > 0 {
		err = block(tx, now, user, p)
	}
	if err != nil {
		return false, nil, err
	}
	return len(direct)+len(left) > 0, stopped, settleAll(tx, now, user, p)
}

// onceEnrolled fails with NotFound for a user or product that does not exist, and for a user who
// never had access to the product.
func onceEnrolled(tx lyceum.Tx, user lyceum.UserID, p lyceum.Product) error {
	if p.Kind == lyceum.CourseKind {
		if _, known, err := tx.Enrollments.First(tx, staysIn(user, lyceum.CourseID(p.ID))); err != nil || known {
			return err
		}
	}
	if p.Kind == lyceum.CoachingKind {
		stays := lyceum.AdmissionFilter{User: lyceum.Some(user), Coaching: lyceum.Some(lyceum.CoachingID(p.ID))}
		if _, known, err := tx.Admissions.First(tx, stays); err != nil || known {
			return err
		}
	}
	if _, known, err := tx.Access.First(tx, onceHeld(user, p)); err != nil || known {
		return err
	}
	return cmp.Or(exist(tx.Tables, tx, p, user), notEnrolled(user, p))
}

// onceIn prefetches the first query of onceEnrolled and the one that usually follows.
func onceIn(tx lyceum.Tx, user lyceum.UserID, p lyceum.Product) []lyceum.Wanted {
	if p.Kind != lyceum.CourseKind {
		return []lyceum.Wanted{lyceum.FirstOf(tx.Access, onceHeld(user, p))}
	}
	course := lyceum.CourseID(p.ID)
	return []lyceum.Wanted{
		lyceum.FirstOf(tx.Enrollments, staysIn(user, course)), lyceum.FirstOf(tx.Enrollments, openIn(user, course)),
	}
}

func staysIn(user lyceum.UserID, course lyceum.CourseID) lyceum.EnrollmentFilter {
	return lyceum.EnrollmentFilter{User: lyceum.Some(user), Course: lyceum.Some(course)}
}

func onceHeld(user lyceum.UserID, p lyceum.Product) lyceum.EntitlementFilter {
	return lyceum.EntitlementFilter{User: lyceum.Some(user), Products: []lyceum.Product{p}, Blocked: true}
}

// stopCharging ends a recurring sale whose learner was unenrolled, and immediately stops one
// that was to stop later. It reports whether it ended the sale.
func (s *Service) stopCharging(
	tx lyceum.Tx, now time.Time, id lyceum.Opt[lyceum.SaleID],
) (stopped bool, err error) {
	if !id.Present {
		return false, nil
	}
	sale, err := tx.Sales.Get(tx, id.Value)
	if err != nil || sale.EndedAt.Present && !sale.StopsAt.Present {
		return false, err
	}
	plans, err := tx.PricingPlans.Find(tx, sale.PricingPlanID.Value)
	if err != nil {
		return false, err
	}
	plan := plans[sale.PricingPlanID.Value].For(&sale)
	if !sale.StopsAt.Present && (!plan.Recurring() || sale.PaidInFull) {
		return false, nil
	}
	stopped = !sale.EndedAt.Present
	sale.End(&plan, now, lyceum.SaleCanceled)
	announce := sale.StopAt(now, now)
	if _, err := tx.Sales.Save(tx, sale); err != nil {
		return false, err
	}
	if announce {
		tx.Announce(lyceum.SaleUpdated, int32(sale.ID), lyceum.SubscriptionCanceledEvent, "")
	}
	_, err = s.Revoke(tx, now, &sale, now, lyceum.EndedByCancellation)
	return stopped, err
}

// end ends an enrollment and announces it.
func end(tx lyceum.Tx, e lyceum.Enrollment, at time.Time) error {
	e.EndedAt = lyceum.Some(lyceum.Second(at))
	_, err := tx.Enrollments.Save(tx, e)
	tx.Announce(lyceum.EnrollmentUpdated, int32(e.ID), lyceum.EnrollmentDisabledEvent, "")
	return err
}

// enrolled returns the active enrollment of a user. If a product that was added to or removed
// from a collection or tier is not settled yet, it settles the user first.
func enrolled(tx lyceum.Tx, user lyceum.UserID, course lyceum.CourseID, now time.Time) (lyceum.Enrollment, error) {
	open, err := hasAccess(tx.Tables, tx, user, course.Product(), now)
	if err != nil {
		return lyceum.Enrollment{}, err
	}
	stay, found, err := openEnrollment(tx, user, course)
	if err == nil && open != (found && stay.ActiveAt(now)) {
		if err = settle(tx, now, now, user, course.Product()); err == nil {
			stay, found, err = openEnrollment(tx, user, course)
		}
	}
	if err == nil && (!found || !stay.ActiveAt(now)) {
		err = notEnrolled(user, course.Product())
	}
	return stay, err
}

// hasAccess reports whether a user may use a product at the given time.
func hasAccess(
	t *lyceum.Tables, from lyceum.Source, user lyceum.UserID, p lyceum.Product, now time.Time,
) (bool, error) {
	_, open, err := t.Access.First(from, accessTo(user, p, now))
	return open, err
}

func accessTo(user lyceum.UserID, p lyceum.Product, now time.Time) lyceum.EntitlementFilter {
	return lyceum.EntitlementFilter{
		User: lyceum.Some(user), Products: []lyceum.Product{p}, OpenAt: lyceum.Some(now),
	}
}

// openEnrollment returns the enrollment of a user that has not been ended, expired or not.
func openEnrollment(tx lyceum.Tx, user lyceum.UserID, course lyceum.CourseID) (lyceum.Enrollment, bool, error) {
	return tx.Enrollments.First(tx, openIn(user, course))
}

func openIn(user lyceum.UserID, course lyceum.CourseID) lyceum.EnrollmentFilter {
	return lyceum.EnrollmentFilter{User: lyceum.Some(user), Course: lyceum.Some(course), Open: true}
}

// ofLearning prefetches what every change of a learner's progress in a course reads first.
func ofLearning(tx lyceum.Tx, user lyceum.UserID, course lyceum.CourseID, now time.Time) []lyceum.Wanted {
	return []lyceum.Wanted{
		lyceum.ByID(tx.Courses, course), lyceum.FirstOf(tx.Access, accessTo(user, course.Product(), now)),
		lyceum.FirstOf(tx.Enrollments, openIn(user, course)),
	}
}

// ofLecture prefetches what every change by a learner under a lecture reads first.
func ofLecture(
	tx lyceum.Tx, by lyceum.By, lecture InCourse[lyceum.LectureID], now time.Time,
) []lyceum.Wanted {
	return append(ofLearning(tx, by.Learner.Value, lecture.Course, now),
		lyceum.ByID(tx.Lectures, lecture.ID),
		lyceum.FirstOf(tx.LectureSections, lyceum.LectureSectionFilter{Lecture: lyceum.Some(lecture.ID)}),
	)
}

func notEnrolled(user lyceum.UserID, p lyceum.Product) error {
	return lyceum.Errorf(lyceum.NotFound, "user %d is not enrolled in %s", user, p)
}
