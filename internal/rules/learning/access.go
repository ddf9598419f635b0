package learning

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Grant gives a user a product, and lifts a block that kept the user out of it.
// The entitlement's id is chosen here.
func (s *Service) Grant(tx lyceum.Tx, now time.Time, e lyceum.Entitlement) error {
	_, err := grant(tx, now, e)
	return err
}

func grant(tx lyceum.Tx, now time.Time, e lyceum.Entitlement) (lyceum.Entitlement, error) {
	var err error
	if e.ID, err = tx.Entitlements.NextID(tx); err != nil {
		return e, err
	}
	begun, err := beginBy(tx, now, e)
	if err != nil {
		return e, err
	}
	return e, hold(tx, now, e, begun)
}

// beginBy begins the enrollment that an entitlement gives, unless the user is
// enrolled. It spares settle the questions that most sales need not ask.
func beginBy(tx lyceum.Tx, now time.Time, e lyceum.Entitlement) (begun bool, err error) {
	if e.Product.Kind != lyceum.CourseKind || !e.OpenAt(now) {
		return false, nil
	}
	id, err := tx.Enrollments.NextID(tx)
	if err != nil {
		return false, err
	}
	return begin(tx, lyceum.Enrollment{
		ID: id, User: e.User, Course: lyceum.CourseID(e.Product.ID),
		EnrolledAt: e.StartsAt, ExpiresAt: e.EndsAt, Sale: e.Sale,
	})
}

// Revoke ends the entitlements that came with a sale, as of a moment: one that
// has passed, or one to come if they would not end before. It reports whether one of
// them was open and is not any longer.
func (s *Service) Revoke(
	tx lyceum.Tx, now time.Time, sale *lyceum.Sale, at time.Time, why lyceum.EntitlementEnd,
) (ended bool, err error) {
	open, err := entitlementsOf(tx, sale)
	if err != nil {
		return false, err
	}
	for i := range open {
		e := &open[i]
		switch {
		case !e.OpenAt(now):
			continue
		case !at.After(now):
			e.EndedAt, e.EndReason = lyceum.Some(lyceum.Second(at)), lyceum.Some(why)
			ended = true
		case e.Outlasts(lyceum.Some(at)):
			e.EndsAt = lyceum.Some(lyceum.Second(at))
		}
		if _, err := tx.Entitlements.Save(tx, *e); err != nil {
			return false, err
		}
		if err := settleSince(tx, now, at, e.User, e.Product); err != nil {
			return false, err
		}
	}
	return ended, nil
}

// Restore opens the entitlements of a sale again that an act ended.
func (s *Service) Restore(tx lyceum.Tx, now time.Time, sale *lyceum.Sale, ended lyceum.EntitlementEnd) error {
	of := lyceum.EntitlementFilter{User: sale.UserID, Sale: lyceum.Some(sale.ID)}
	all, err := lyceum.All(tx.Entitlements, tx, of)
	if err != nil {
		return err
	}
	for i := range all {
		e := &all[i]
		if e.EndReason != lyceum.Some(ended) {
			continue
		}
		e.EndedAt, e.EndReason = lyceum.None[time.Time](), lyceum.None[lyceum.EntitlementEnd]()
		if _, err := tx.Entitlements.Save(tx, *e); err != nil {
			return err
		}
		if err := settleAll(tx, now, e.User, e.Product); err != nil {
			return err
		}
	}
	return nil
}

// entitlementsOf returns the entitlements of a sale that no act ended.
func entitlementsOf(tx lyceum.Tx, sale *lyceum.Sale) ([]lyceum.Entitlement, error) {
	of := lyceum.EntitlementFilter{User: sale.UserID, Sale: lyceum.Some(sale.ID), Open: true}
	return lyceum.All(tx.Entitlements, tx, of)
}

// settle brings the enrollment of a user in line with the union of their
// entitlements, and announces access that opened or closed: now, or at a moment
// that has passed and at which something ended.
func settle(tx lyceum.Tx, now, since time.Time, user lyceum.UserID, product lyceum.Product) error {
	return settleFew(tx, now, since, user, []lyceum.Product{product})
}

// settleFew settles products of a user in their order, each by itself, with one question
// ahead.
func settleFew(tx lyceum.Tx, now, since time.Time, user lyceum.UserID, products []lyceum.Product) error {
	of := lyceum.EntitlementFilter{User: lyceum.Some(user), OpenAt: lyceum.Some(now)}
	var wanted []lyceum.Wanted
	for _, p := range products {
		switch p.Kind {
		case lyceum.CourseKind:
			course := lyceum.CourseID(p.ID)
			wanted = append(wanted, lyceum.FirstOf(tx.Enrollments, openIn(user, course)), beginning(tx, user, course))
		case lyceum.CoachingKind:
			wanted = append(wanted, lyceum.FirstOf(tx.Admissions, admissionTo(user, lyceum.CoachingID(p.ID))))
		default:
			continue
		}
		of.Products = append(of.Products, p)
	}
	if of.Products == nil {
		return nil
	}
	if err := tx.Ahead(append(wanted, lyceum.AllOf(tx.Access, of))...); err != nil {
		return err
	}
	unions, err := unionsOf(tx, of)
	if err != nil {
		return err
	}
	for _, p := range of.Products {
		if p.Kind == lyceum.CoachingKind {
			err = settleCoaching(tx, now, since, user, p, unions[p])
		} else {
			stay, found, failed := openEnrollment(tx, user, lyceum.CourseID(p.ID))
			if err = failed; err == nil {
				err = align(tx, now, since, unions[p], stay, found)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// beginning wants to know whether an enrollment can begin.
func beginning(tx lyceum.Tx, user lyceum.UserID, course lyceum.CourseID) lyceum.Wanted {
	return lyceum.Wanted{Ask: func(lyceum.Source) { _, _, _ = tx.MayBegin(user, course) }}
}

// fewProducts is how many products of a user are settled each by itself; for more
// of them all that the user has is read at once.
const fewProducts = 4

// settleEach settles products of a user in their order.
func settleEach(tx lyceum.Tx, now, since time.Time, user lyceum.UserID, products []lyceum.Product) error {
	if len(products) <= fewProducts {
		return settleFew(tx, now, since, user, products)
	}
	unions, stays, err := coursesOf(tx, now, user)
	if err != nil {
		return err
	}
	fresh, settled := 0, map[lyceum.Product]bool{}
	for _, p := range products {
		if stay, found := stays[p]; p.Kind == lyceum.CourseKind && unions[p].open && (!found || !stay.ActiveAt(now)) {
			fresh++
		}
	}
	if fresh > 0 {
		if err := tx.Reserve(fresh, lyceum.EnrollmentSequence, lyceum.ProgressSequence); err != nil {
			return err
		}
	}
	for _, p := range products {
		switch stay, found := stays[p]; {
		case settled[p]:
		case p.Kind == lyceum.CourseKind:
			err = align(tx, now, since, unions[p], stay, found)
		default:
			err = settle(tx, now, since, user, p)
		}
		if settled[p] = true; err != nil {
			return err
		}
	}
	return nil
}

// coursesOf returns the union of the entitlements of a user to each course, and
// the enrollments that nobody ended.
func coursesOf(tx lyceum.Tx, now time.Time, user lyceum.UserID) (
	unions map[lyceum.Product]union, stays map[lyceum.Product]lyceum.Enrollment, err error,
) {
	stays = map[lyceum.Product]lyceum.Enrollment{}
	unions, err = unionsOf(tx, lyceum.EntitlementFilter{User: lyceum.Some(user), OpenAt: lyceum.Some(now)})
	if err != nil {
		return nil, nil, err
	}
	open := lyceum.EnrollmentFilter{User: lyceum.Some(user), Open: true}
	return unions, stays, tx.Enrollments.Each(tx, open, func(e *lyceum.Enrollment) error {
		stays[e.Course.Product()] = *e
		return nil
	})
}

// align brings an enrollment in line with the union of the entitlements to its
// course. found says that there is one that nobody ended.
func align(tx lyceum.Tx, now, since time.Time, all union, stay lyceum.Enrollment, found bool) error {
	if found && !stay.ActiveAt(now) {
		if err := outlived(tx, stay); err != nil {
			return err
		}
		found = false
	}
	switch {
	case !found && !all.open:
		return nil
	case !all.open:
		at, err := closedAt(tx, now, since, stay.User, stay.Course.Product())
		if err != nil {
			return err
		}
		return end(tx, stay, at)
	case !found:
		_, err := beginBy(tx, now, all.Entitlement)
		return err
	case stay.EnrolledAt.Equal(all.StartsAt) && sameTime(stay.ExpiresAt, all.EndsAt):
		return nil
	}
	stay.EnrolledAt, stay.ExpiresAt = all.StartsAt, all.EndsAt
	_, err := tx.Enrollments.Save(tx, stay)
	return err
}

// union is open entitlements to one product as if they were one: it starts with
// the oldest, and ends with the last.
type union struct {
	lyceum.Entitlement

	open bool
}

// add adds an entitlement that is open.
func (u *union) add(e *lyceum.Entitlement) {
	switch {
	case !u.open:
		u.Entitlement, u.open = *e, true
		return
	case e.StartsAt.Before(u.StartsAt):
		u.StartsAt, u.Sale = e.StartsAt, e.Sale
	}
	if e.Outlasts(u.EndsAt) {
		u.EndsAt = e.EndsAt
	}
}

// unionsOf returns the union of the entitlements that reach each product.
func unionsOf(tx lyceum.Tx, of lyceum.EntitlementFilter) (map[lyceum.Product]union, error) {
	unions := map[lyceum.Product]union{}
	return unions, tx.Access.Each(tx, of, func(e *lyceum.Entitlement) error {
		u := unions[e.Product]
		u.add(e)
		unions[e.Product] = u
		return nil
	})
}

// unionOf returns the union of the entitlements of a user that reach a product.
func unionOf(tx lyceum.Tx, now time.Time, user lyceum.UserID, product lyceum.Product) (union, error) {
	all, err := unionsOf(tx, accessTo(user, product, now))
	return all[product], err
}

// closedAt returns when access closed of which something ended at a moment: then,
// or with the last that outlasted it, now at the latest.
func closedAt(
	tx lyceum.Tx, now, since time.Time, user lyceum.UserID, product lyceum.Product,
) (at time.Time, err error) {
	if !since.Before(now) {
		return now, nil
	}
	at = since
	of := lyceum.EntitlementFilter{User: lyceum.Some(user), Products: []lyceum.Product{product}}
	err = tx.Access.Each(tx, of, func(e *lyceum.Entitlement) error {
		if end := e.EndedAt.Else(e.EndsAt.Else(now)); end.After(at) {
			at = end
		}
		return nil
	})
	if at.After(now) {
		at = now
	}
	return at, err
}

// expireSize is how many entitlements one write takes note of at most.
const expireSize = 500

// Expire takes note of the entitlements of a school whose time was over since
// the last time, and announces access that closed. What was over before the
// first time is history.
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

// expire takes note of the next entitlements, and reports whether there are more.
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
		lyceum.Period{After: time.UnixMicro(from), Until: now}, lyceum.EntitlementID(within), expireSize,
	)
	if err != nil {
		return false, err
	}
	for i := range expired {
		if err := settleAll(tx, now, expired[i].User, expired[i].Product); err != nil {
			return false, err
		}
	}
	to, last := now.UnixMicro(), int64(0)
	if more = len(expired) == expireSize; more { // of those of the last moment there may be others
		end := &expired[len(expired)-1]
		to, last = end.EndsAt.Value.UnixMicro()-1, int64(end.ID)
	}
	mine, err := tx.MoveCursor(lyceum.ExpiredCursor, from, to)
	if err == nil && !mine {
		err = lyceum.Errorf(lyceum.Conflict, "what expired was noted at the same time")
	}
	if err != nil {
		return false, err
	}
	_, err = tx.MoveCursor(lyceum.ExpiredWithin, within, last)
	return more, err
}

// outlived ends an enrollment whose time is over, and announces it unless it was
// over before the school took note of such things.
func outlived(tx lyceum.Tx, e lyceum.Enrollment) error {
	news, err := expiredLately(tx, e.ExpiresAt.Value)
	if err != nil {
		return err
	}
	if news {
		return end(tx, e, e.ExpiresAt.Value)
	}
	e.EndedAt = e.ExpiresAt
	_, err = tx.Enrollments.Save(tx, e)
	return err
}

// expiredLately reports whether the school has not taken note yet of what was
// over at a moment.
func expiredLately(tx lyceum.Tx, at time.Time) (bool, error) {
	noted, err := tx.GetCursor(lyceum.ExpiredCursor)
	return at.UnixMicro() > noted, err
}
