package learning

import (
	"cmp"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Link is LinkSales as a method, for the rules of sales.
func (s *Service) Link(tx lyceum.Tx, now time.Time, users []lyceum.UserID) error {
	return LinkSales(tx, now, users)
}

// LinkSales determines again which sales the imported enrollments of some users belong to, after
// sales were imported. It opens and closes no access.
func LinkSales(tx lyceum.Tx, now time.Time, users []lyceum.UserID) error {
	users, err := importedFor(tx, users)
	if err != nil {
		return err
	}
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

// importedFor returns those of some users who have imported enrollments. A school without any
// entitlements, as before its first enrollments are imported, costs one query.
func importedFor(tx lyceum.Tx, users []lyceum.UserID) (imported []lyceum.UserID, err error) {
	if _, found, err := tx.Entitlements.First(tx, lyceum.EntitlementFilter{}); err != nil || !found {
		return nil, err
	}
	all, err := ofUsers(users, func(part []lyceum.UserID) ([]lyceum.Entitlement, error) {
		return lyceum.All(tx.Entitlements, tx, lyceum.EntitlementFilter{Users: part})
	})
	for i := range all {
		if all[i].Imported {
			imported = append(imported, all[i].User)
		}
	}
	slices.Sort(imported)
	return slices.Compact(imported), err
}

// LinkEnrollments creates the entitlements of imported enrollments: for an open one, an
// entitlement for each paid sale, or else one without a sale; for a past one, one entitlement.
// Enrollments and entitlements agree afterwards.
func LinkEnrollments(tx lyceum.Tx, now time.Time, rows []lyceum.Enrollment) error {
	users := usersOf(rows, func(e *lyceum.Enrollment) lyceum.UserID { return e.User })
	if err := keepAllLeft(tx, rows); err != nil {
		return err
	}
	known, err := reasonsOf(tx, now, users)
	if err != nil {
		return err
	}
	kept, err := allEnrollments(tx, users)
	if err != nil {
		return err
	}
	named, ended := map[stay]bool{}, map[stay]bool{}
	for i := range rows {
		key := stay{user: rows[i].User, course: rows[i].Course}
		named[key], ended[key] = true, ended[key] || rows[i].EndedAt.Present
	}
	open := map[stay]bool{} // an expired enrollment yields to one that was ended
	for i := range kept {
		if key := (stay{user: kept[i].User, course: kept[i].Course}); named[key] && !kept[i].EndedAt.Present {
			open[key] = open[key] || kept[i].ActiveAt(now) || !ended[key]
			if err := known.follow(tx, key, kept[i]); err != nil {
				return err
			}
		}
	}
	for i := range kept {
		if key := (stay{user: kept[i].User, course: kept[i].Course}); named[key] && kept[i].EndedAt.Present {
			if known.bundled[kept[i].Sale.Value] { // it came with the collection or the tier, not by itself
				kept[i].Sale = lyceum.None[lyceum.SaleID]()
			}
			known.of(key).remember(kept[i], open[key])
		}
	}
	if err := known.save(tx); err != nil {
		return err
	}
	return known.align(tx, named, open)
}

// reasons are the entitlements of one user to one course itself, and the paid sales that reach
// it.
type reasons struct {
	now     time.Time
	all     []lyceum.Entitlement
	before  map[lyceum.EntitlementID]lyceum.Entitlement
	paid    []lyceum.SaleID
	dropped []lyceum.EntitlementID
}

// standing returns pointers to the entitlements that still stand: the imported ones or the
// others.
func (r *reasons) standing(imported bool) (found []*lyceum.Entitlement) {
	for i := range r.all {
		if e := &r.all[i]; e.Imported == imported && r.stands(e) && !slices.Contains(r.dropped, e.ID) {
			found = append(found, e)
		}
	}
	return found
}

// stands reports whether an import may change an entitlement: it has not been ended, and has not
// expired unless an import set its end.
func (r *reasons) stands(e *lyceum.Entitlement) bool {
	return e.OpenAt(r.now) || e.Imported && !e.EndedAt.Present
}

// follow makes the entitlements agree with an open enrollment, unless they already do together
// with what comes with a collection or a tier.
func (k *reasonsByStay) follow(tx lyceum.Tx, key stay, row lyceum.Enrollment) error {
	if k.blocked[key] {
		if _, err := unblock(tx, key.user, key.course.Product()); err != nil {
			return err
		}
	}
	r := k.of(key)
	if k.through[key.user] {
		all, err := unionOf(tx, k.now, key.user, key.course.Product())
		if err != nil {
			return err
		}
		if all.open && all.StartsAt.Equal(row.EnrolledAt) && sameTime(all.EndsAt, row.ExpiresAt) {
			r.link(row)
			return nil
		}
	}
	r.follow(row)
	return nil
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

// agree reports whether the union of the entitlements matches an enrollment.
func (r *reasons) agree(standing []*lyceum.Entitlement, row lyceum.Enrollment) bool {
	standing = slices.DeleteFunc(slices.Clone(standing), func(e *lyceum.Entitlement) bool { return !e.OpenAt(r.now) })
	if len(standing) == 0 {
		return false
	}
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

// link makes one imported entitlement for each paid sale that has none yet, or one without a
// sale if there is no other reason. New ones have the times of the enrollment.
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

// settled reports whether a sale has an entitlement that was not imported, or had one that was
// ended.
func (r *reasons) settled(sale lyceum.SaleID) bool {
	return slices.ContainsFunc(r.all, func(e lyceum.Entitlement) bool {
		return e.Sale == lyceum.Some(sale) && (!e.Imported || e.EndedAt.Present)
	})
}

// remember records a past enrollment as an entitlement, and ends the entitlements that
// represented it.
func (r *reasons) remember(row lyceum.Enrollment, open bool) {
	ended := row.EndedAt
	if row.ExpiresAt.Present && !ended.Value.Before(row.ExpiresAt.Value) {
		ended = lyceum.None[time.Time]() // it expired by itself
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
		same := e.StartsAt.Equal(row.EnrolledAt)
		known = known || same
		// An expired entitlement belongs to another enrollment, whose end has not been processed
		// yet.
		if !open && r.stands(e) && (same || e.OpenAt(r.now)) && !e.StartsAt.After(row.EndedAt.Value) {
			end(e)
		}
	}
	if !known {
		past := lyceum.Entitlement{Sale: row.Sale, Imported: true, StartsAt: row.EnrolledAt}
		end(&past)
		r.all = append(r.all, past)
	}
}

// reasonsByStay has the reasons of some users, by user and course.
type reasonsByStay struct {
	now     time.Time
	by      map[stay]*reasons
	through map[lyceum.UserID]bool // users who have an entitlement to a collection or a tier
	bundled map[lyceum.SaleID]bool // sales that gave a collection or a tier
	blocked map[stay]bool
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
	k := &reasonsByStay{
		now: now, by: map[stay]*reasons{}, through: map[lyceum.UserID]bool{},
		bundled: map[lyceum.SaleID]bool{}, blocked: map[stay]bool{},
	}
	all, err := ofUsers(users, func(part []lyceum.UserID) ([]lyceum.Entitlement, error) {
		return lyceum.All(tx.Entitlements, tx, lyceum.EntitlementFilter{Users: part})
	})
	if err != nil {
		return nil, err
	}
	for i := range all {
		e := &all[i]
		if e.Product.Kind != lyceum.CourseKind {
			k.through[e.User] = true
			k.bundled[e.Sale.Value] = true
			continue
		}
		r := k.of(stay{user: e.User, course: lyceum.CourseID(e.Product.ID)})
		r.all, r.before[e.ID] = append(r.all, *e), *e
	}
	blocks, err := ofUsers(users, func(part []lyceum.UserID) ([]lyceum.Block, error) {
		return lyceum.All(tx.Blocks, tx, lyceum.BlockFilter{Users: part})
	})
	if err != nil {
		return nil, err
	}
	for _, b := range blocks {
		if b.Product.Kind == lyceum.CourseKind {
			k.blocked[stay{user: b.User, course: lyceum.CourseID(b.Product.ID)}] = true
		}
	}
	return k, k.readPaid(tx, users)
}

// readPaid reads the paid sales of users, by the courses that they reach.
func (k *reasonsByStay) readPaid(tx lyceum.Tx, users []lyceum.UserID) error {
	paid, err := ofUsers(users, tx.FindPaidSales)
	if err != nil {
		return err
	}
	leads := map[lyceum.Product][]lyceum.Product{}
	for _, p := range paid {
		if k.bundled[p.Sale] {
			continue
		}
		if leads[p.Product] == nil {
			leads[p.Product] = []lyceum.Product{p.Product}
			if p.Product.Kind == lyceum.CollectionKind || p.Product.Kind == lyceum.TierKind {
				if leads[p.Product], err = reached(tx.Tables, tx, p.Product); err != nil {
					return err
				}
			}
		}
		for _, to := range leads[p.Product] {
			if to.Kind == lyceum.CourseKind {
				r := k.of(stay{user: p.User, course: lyceum.CourseID(to.ID)})
				r.paid = append(r.paid, p.Sale)
			}
		}
	}
	return nil
}

// align brings imported enrollments in line with the other entitlements of their users: the end
// of an enrollment takes precedence over a collection or a tier.
func (k *reasonsByStay) align(tx lyceum.Tx, named, open map[stay]bool) error {
	for _, key := range k.keys() {
		if !named[key] || !k.through[key.user] && !k.blocked[key] {
			continue
		}
		product := key.course.Product()
		access, err := hasAccess(tx.Tables, tx, key.user, product, k.now)
		if err == nil && access && !open[key] {
			err = block(tx, k.now, key.user, product)
		}
		if err == nil {
			err = settle(tx, k.now, k.now, key.user, product)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// save saves the entitlements that changed.
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
				e.Product = key.course.Product()
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

// keepAllLeft calls keepLeft for the users and courses of enrollments, if any product that left
// a collection is not settled.
func keepAllLeft(tx lyceum.Tx, rows []lyceum.Enrollment) error {
	_, pending, err := tx.CollectionProducts.First(tx, lyceum.InclusionFilter[lyceum.ProductCollectionID]{
		Leaving: true, Unsettled: true,
	})
	if err != nil || !pending {
		return err
	}
	for i := range rows {
		if err := keepLeft(tx, rows[i].User, rows[i].Course.Product()); err != nil {
			return err
		}
	}
	return nil
}
