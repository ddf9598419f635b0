package learning

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Grant gives a user a product, and lifts a block that kept the user out of it. It assigns the
// entitlement's id.
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

// beginBy starts the enrollment that an entitlement gives, unless the user is enrolled. It
// spares settle the queries that most sales do not need.
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

// Revoke ends the entitlements that came with a sale at the given time, which may be in the
// past, or in the future if they would not end before. It reports whether it closed one that was
// open.
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

// Restore reopens the entitlements of a sale that were ended for the given reason, unless its
// buyer was erased. Those of a canceled sale that end by themselves end no later than what is paid
// for. It returns the last time at which one of them ends by itself, if that is in the future.
func (s *Service) Restore(
	tx lyceum.Tx, now time.Time, sale *lyceum.Sale, ended lyceum.EntitlementEnd,
) (until lyceum.Opt[time.Time], err error) {
	buyers, err := tx.UserSummaries.Find(tx, sale.UserID.Value)
	if err != nil || len(buyers) == 0 {
		return until, err
	}
	of := lyceum.EntitlementFilter{User: sale.UserID, Sale: lyceum.Some(sale.ID)}
	all, err := lyceum.All(tx.Entitlements, tx, of)
	if err != nil {
		return until, err
	}
	canceled, paid := sale.EndReason == lyceum.Some(lyceum.SaleCanceled), sale.PaidUntil.Else(lyceum.Second(now))
	for i := range all {
		e := &all[i]
		if e.EndReason != lyceum.Some(ended) {
			continue
		}
		e.EndedAt, e.EndReason = lyceum.None[time.Time](), lyceum.None[lyceum.EntitlementEnd]()
		if canceled && e.EndsAt.Present && paid.Before(e.EndsAt.Value) {
			e.EndsAt = lyceum.Some(paid)
		}
		if e.EndsAt.Present && e.EndsAt.Value.After(now) && (!until.Present || e.EndsAt.Value.After(until.Value)) {
			until = e.EndsAt
		}
		if _, err := tx.Entitlements.Save(tx, *e); err != nil {
			return until, err
		}
		if err := settleAll(tx, now, e.User, e.Product); err != nil {
			return until, err
		}
	}
	return until, nil
}

// entitlementsOf returns the entitlements of a sale that have not been ended.
func entitlementsOf(tx lyceum.Tx, sale *lyceum.Sale) ([]lyceum.Entitlement, error) {
	of := lyceum.EntitlementFilter{User: sale.UserID, Sale: lyceum.Some(sale.ID), Open: true}
	return lyceum.All(tx.Entitlements, tx, of)
}

// settle brings a user's enrollment in line with the union of their entitlements, and announces
// access that opened or closed: now, or at since, a past moment at which something ended.
func settle(tx lyceum.Tx, now, since time.Time, user lyceum.UserID, product lyceum.Product) error {
	return settleFew(tx, now, since, user, []lyceum.Product{product})
}

// settleFew settles a user's products in order, one by one, and prefetches what it needs in one
// batch.
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

// beginning prefetches whether an enrollment can begin.
func beginning(tx lyceum.Tx, user lyceum.UserID, course lyceum.CourseID) lyceum.Wanted {
	return lyceum.Wanted{Query: func(lyceum.Source) { _, _, _ = tx.MayBegin(user, course) }}
}

// fewProducts is the largest number of a user's products that are settled one by one. For more,
// everything that the user has is read in one go.
const fewProducts = 4

// settleEach settles a user's products in order.
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

// coursesOf returns the union of a user's entitlements to each course, and the enrollments that
// have not been ended.
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

// align brings an enrollment in line with the union of the entitlements to its course. found
// reports whether there is an enrollment that has not been ended.
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

// union is the open entitlements to one product combined: it starts with the oldest and ends
// with the last.
type union struct {
	lyceum.Entitlement

	open bool
}

// add adds an open entitlement.
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

// unionOf returns the union of a user's entitlements that reach a product.
func unionOf(tx lyceum.Tx, now time.Time, user lyceum.UserID, product lyceum.Product) (union, error) {
	all, err := unionsOf(tx, accessTo(user, product, now))
	return all[product], err
}

// closedAt returns when access to a product closed, of which something ended at since: at that
// moment, or when the last entitlement that outlasted it ended, but no later than now.
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

// expireSize is the maximum number of entitlements that one write expires.
const expireSize = 500

// Expire processes the entitlements of a school that have expired since the last run, and
// announces access that closed. What expired before the first run is ignored.
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

// expire processes the next expired entitlements, and reports whether there are more.
func expire(tx lyceum.Tx, now time.Time) (more bool, err error) {
	from, err := tx.GetCursor(lyceum.ExpiredCursor)
	if err != nil || from == now.UnixMicro() {
		return false, err
	}
	if from == 0 || from > now.UnixMicro() { // then the clock was ahead
		_, err := tx.MoveCursor(lyceum.ExpiredCursor, from, now.UnixMicro())
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
	if more = len(expired) == expireSize; more { // others may have expired in the same microsecond as the last
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

// outlived ends an expired enrollment, and announces it unless it had expired before the school
// began to track expiry.
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

// expiredLately reports whether something that expired at the given time has not been processed
// yet.
func expiredLately(tx lyceum.Tx, at time.Time) (bool, error) {
	noted, err := tx.GetCursor(lyceum.ExpiredCursor)
	return at.UnixMicro() > noted, err
}
