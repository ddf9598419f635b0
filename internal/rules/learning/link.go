package learning

import (
	"cmp"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Link is LinkSales, for the rules of sales.
func (s *Service) Link(tx lyceum.Tx, now time.Time, users []lyceum.UserID) error {
	return LinkSales(tx, now, users)
}

// LinkSales finds again which sales the imported enrollments of some users belong
// to, after sales came in. It opens and closes nothing.
func LinkSales(tx lyceum.Tx, now time.Time, users []lyceum.UserID) error {
	known, err := reasonsOf(tx, now, users)
	if err != nil {
		return err
	}
	for _, key := range known.keys() {
		r := known.by[key]
		if imported := r.standing(true); len(imported) > 0 {
			r.link(lyceum.Enrollment{EnrolledAt: imported[0].StartsAt, ExpiresAt: imported[0].EndsAt})
		}
	}
	return known.save(tx)
}

// LinkEnrollments gives enrollments that came in their entitlements: those that
// are open one for each paid sale, or else one of their own, and those of the
// past one each. Rows and entitlements agree afterwards.
func LinkEnrollments(tx lyceum.Tx, now time.Time, rows []lyceum.Enrollment) error {
	users := usersOf(rows, func(e *lyceum.Enrollment) lyceum.UserID { return e.User })
	known, err := reasonsOf(tx, now, users)
	if err != nil {
		return err
	}
	kept, err := allEnrollments(tx, users)
	if err != nil {
		return err
	}
	named := map[stay]bool{}
	for i := range rows {
		named[stay{user: rows[i].User, course: rows[i].Course}] = true
	}
	open := map[stay]bool{}
	for i := range kept {
		if key := (stay{user: kept[i].User, course: kept[i].Course}); named[key] && !kept[i].EndedAt.Present {
			open[key] = true
			known.of(key).follow(kept[i])
		}
	}
	for i := range kept {
		if key := (stay{user: kept[i].User, course: kept[i].Course}); named[key] && kept[i].EndedAt.Present {
			known.of(key).remember(kept[i], open[key])
		}
	}
	return known.save(tx)
}

// reasons are the entitlements of one user to one course itself, and the paid
// sales that lead there.
type reasons struct {
	now     time.Time
	all     []lyceum.Entitlement
	before  map[lyceum.EntitlementID]lyceum.Entitlement
	paid    []lyceum.SaleID
	dropped []lyceum.EntitlementID
}

// standing returns the places of what still stands: the imported or the others.
func (r *reasons) standing(imported bool) (found []*lyceum.Entitlement) {
	for i := range r.all {
		if e := &r.all[i]; e.Imported == imported && r.stands(e) && !slices.Contains(r.dropped, e.ID) {
			found = append(found, e)
		}
	}
	return found
}

// stands reports whether an import may change an entitlement: no act ended it,
// and its time is not over, unless an import set that.
func (r *reasons) stands(e *lyceum.Entitlement) bool {
	return e.OpenAt(r.now) || e.Imported && !e.EndedAt.Present
}

// follow makes the entitlements agree with an open enrollment.
func (r *reasons) follow(row lyceum.Enrollment) {
	r.link(row)
	standing := append(r.standing(true), r.standing(false)...)
	if r.agree(standing, row) {
		return
	}
	for _, e := range standing {
		e.EndsAt = row.ExpiresAt
		if e.StartsAt.Before(row.EnrolledAt) {
			e.StartsAt = row.EnrolledAt
		}
	}
	slices.SortFunc(standing, func(a, b *lyceum.Entitlement) int { return a.StartsAt.Compare(b.StartsAt) })
	standing[0].StartsAt = row.EnrolledAt
}

// agree reports whether the union of entitlements is what an enrollment says.
func (r *reasons) agree(standing []*lyceum.Entitlement, row lyceum.Enrollment) bool {
	union := *standing[0]
	for _, e := range standing[1:] {
		if e.StartsAt.Before(union.StartsAt) {
			union.StartsAt = e.StartsAt
		}
		if e.Outlasts(union.EndsAt) {
			union.EndsAt = e.EndsAt
		}
	}
	return union.StartsAt.Equal(row.EnrolledAt) && sameTime(union.EndsAt, row.ExpiresAt)
}

func sameTime(a, b lyceum.Opt[time.Time]) bool {
	return a.Present == b.Present && a.Value.Equal(b.Value)
}

// link makes one imported entitlement for each paid sale that has none yet, or
// one without a sale where there is no other reason. What is new has the times
// of an enrollment.
func (r *reasons) link(row lyceum.Enrollment) {
	imported, others := r.standing(true), r.standing(false)
	var wanted []lyceum.Opt[lyceum.SaleID]
	for _, sale := range r.paid {
		if !r.settled(sale) {
			wanted = append(wanted, lyceum.Some(sale))
		}
	}
	if len(wanted) == 0 && (len(imported) > 0 || len(others) == 0) {
		wanted = append(wanted, lyceum.None[lyceum.SaleID]())
	}
	var spare []*lyceum.Entitlement
	for _, e := range imported {
		if i := slices.Index(wanted, e.Sale); i >= 0 {
			wanted = slices.Delete(wanted, i, i+1)
		} else {
			spare = append(spare, e)
		}
	}
	var fresh []lyceum.Entitlement
	for _, sale := range wanted {
		if len(spare) > 0 {
			spare[0].Sale, spare = sale, spare[1:]
			continue
		}
		fresh = append(fresh, lyceum.Entitlement{
			Sale: sale, Imported: true, StartsAt: row.EnrolledAt, EndsAt: row.ExpiresAt,
		})
	}
	for _, e := range spare {
		r.dropped = append(r.dropped, e.ID)
	}
	r.all = append(r.all, fresh...)
}

// settled reports whether a sale has an entitlement that no import made, or had
// one that an act ended.
func (r *reasons) settled(sale lyceum.SaleID) bool {
	return slices.ContainsFunc(r.all, func(e lyceum.Entitlement) bool {
		return e.Sale == lyceum.Some(sale) && (!e.Imported || e.EndedAt.Present)
	})
}

// remember keeps an enrollment of the past as a reason, and ends what stood for
// it.
func (r *reasons) remember(row lyceum.Enrollment, open bool) {
	ended := row.EndedAt
	if row.ExpiresAt.Present && !ended.Value.Before(row.ExpiresAt.Value) {
		ended = lyceum.None[time.Time]() // its time was over by itself
	}
	end := func(e *lyceum.Entitlement) {
		e.EndsAt, e.EndedAt = row.ExpiresAt, ended
		if ended.Present {
			e.EndReason = lyceum.Some(lyceum.EndedByImport)
		}
	}
	known := false
	for i := range r.all {
		e := &r.all[i]
		known = known || e.StartsAt.Equal(row.EnrolledAt)
		if !open && r.stands(e) && !e.StartsAt.After(row.EndedAt.Value) {
			end(e)
		}
	}
	if !known {
		past := lyceum.Entitlement{Sale: row.Sale, Imported: true, StartsAt: row.EnrolledAt}
		end(&past)
		r.all = append(r.all, past)
	}
}

// reasonsByStay are the reasons of some users, by user and course.
type reasonsByStay struct {
	now time.Time
	by  map[stay]*reasons
}

func (k *reasonsByStay) of(key stay) *reasons {
	if k.by[key] == nil {
		k.by[key] = &reasons{now: k.now, before: map[lyceum.EntitlementID]lyceum.Entitlement{}}
	}
	return k.by[key]
}

func (k *reasonsByStay) keys() []stay {
	keys := make([]stay, 0, len(k.by))
	for key := range k.by {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b stay) int {
		return cmp.Or(cmp.Compare(a.user, b.user), cmp.Compare(a.course, b.course))
	})
	return keys
}

// reasonsOf reads the entitlements of users to courses, and their paid sales.
func reasonsOf(tx lyceum.Tx, now time.Time, users []lyceum.UserID) (*reasonsByStay, error) {
	known := &reasonsByStay{now: now, by: map[stay]*reasons{}}
	all, err := ofUsers(users, func(part []lyceum.UserID) ([]lyceum.Entitlement, error) {
		return lyceum.All(tx.Entitlements, tx, lyceum.EntitlementFilter{Users: part})
	})
	if err != nil {
		return nil, err
	}
	for i := range all {
		if e := &all[i]; e.Product.Kind == lyceum.CourseKind {
			r := known.of(stay{user: e.User, course: lyceum.CourseID(e.Product.ID)})
			r.all, r.before[e.ID] = append(r.all, *e), *e
		}
	}
	paid, err := ofUsers(users, tx.FindPaidSales)
	for _, p := range paid {
		if p.Product.Kind == lyceum.CourseKind {
			r := known.of(stay{user: p.User, course: lyceum.CourseID(p.Product.ID)})
			r.paid = append(r.paid, p.Sale)
		}
	}
	return known, err
}

// save keeps what differs from before.
func (k *reasonsByStay) save(tx lyceum.Tx) error {
	var changed []lyceum.Entitlement
	if n := k.fresh(); n > 0 {
		if err := tx.Reserve(n, lyceum.EntitlementSequence); err != nil {
			return err
		}
	}
	for _, key := range k.keys() {
		r := k.by[key]
		for _, e := range r.all {
			if slices.Contains(r.dropped, e.ID) || e.ID != 0 && e == r.before[e.ID] {
				continue
			}
			if e.ID == 0 {
				id, err := tx.Entitlements.NextID(tx)
				if err != nil {
					return err
				}
				e.ID, e.User = id, key.user
				e.Product = lyceum.Product{Kind: lyceum.CourseKind, ID: int32(key.course)}
			}
			changed = append(changed, e)
		}
		for _, id := range r.dropped {
			if err := tx.Entitlements.Delete(tx, id); err != nil {
				return err
			}
		}
	}
	_, err := tx.Entitlements.Save(tx, changed...)
	return err
}

// fresh counts the entitlements that have no id yet.
func (k *reasonsByStay) fresh() (n int) {
	for _, r := range k.by {
		for i := range r.all {
			if r.all[i].ID == 0 {
				n++
			}
		}
	}
	return n
}
