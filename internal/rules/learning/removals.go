package learning

import (
	"context"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Removal is a product to remove from a collection or a tier.
type Removal[In ~int32] struct {
	ProductIn[In]

	EndAccess bool // also of those who bought the collection
}

// Remove removes a product from a collection or a tier. Buyers of a collection keep what was in
// it, unless EndAccess is set; members of a tier do not. It fails with NotFound for an unknown
// collection, tier or product. Removing a product that is not in changes nothing.
func (i Inclusions[ID, In]) Remove(ctx context.Context, by lyceum.By, q Removal[In]) error {
	now := i.service.clock()
	return i.service.store.Write(ctx, by.Stamp(now), func(tx lyceum.Tx) error {
		row, there, err := i.find(tx.Tables, tx, q.ProductIn)
		if err != nil || !there {
			return err
		}
		return i.leave(tx, now, row, i.endsAll(q))
	})
}

// PreviewRemove returns a page of what Remove does to access. Enrollments follow access when
// they are settled. It reads the holders of the collection or tier in parts, each from one
// snapshot and in its own turn. It keeps the ids of all of them in memory, but only one page of
// their access.
func (i Inclusions[ID, In]) PreviewRemove(
	ctx context.Context, by lyceum.By, q Removal[In], p lyceum.Page,
) (lyceum.AccessPreview, error) {
	now := i.service.clock()
	change := removed{
		from: i.named(q.In), product: q.Product, endAccess: i.endsAll(q), read: i.service.inTurns(ctx, by.School), now: now,
	}
	err := change.read(func(v lyceum.View) error {
		row, there, err := i.find(v.Tables, v, q.ProductIn)
		if err == nil && there {
			err = i.open(v, &change, row)
		}
		return err
	})
	if err == nil {
		err = change.find()
	}
	if err != nil {
		return lyceum.AccessPreview{}, err
	}
	return survey(i.service.store.In(ctx, by.School), now, p, change.each)
}

// inTurns returns a function that reads a school from one snapshot, in its own turn. Other
// readers that wait get their turn between two calls.
func (s *Service) inTurns(ctx context.Context, school lyceum.SchoolID) func(func(lyceum.View) error) error {
	allowance := lyceum.AllowanceOf(ctx)
	return func(read func(lyceum.View) error) error {
		if allowance != nil {
			allowance.Pause()
			if err := allowance.Resume(); err != nil {
				return err
			}
		}
		return s.store.AtOnce(lyceum.Passing(ctx), school, read)
	}
}

// endsAll reports whether a removal also ends the access of present holders of the collection or
// tier.
func (i Inclusions[ID, In]) endsAll(q Removal[In]) bool {
	return q.EndAccess || i.kind == lyceum.TierKind
}

// find returns the row of a product in a collection or a tier, if it is in. It fails with
// NotFound.
func (i Inclusions[ID, In]) find(
	t *lyceum.Tables, from lyceum.Source, q ProductIn[In],
) (row lyceum.Inclusion[ID, In], there bool, err error) {
	if err = i.there(t, from, q.In); err != nil {
		return row, false, err
	}
	row, there, err = i.rows(t).First(from, lyceum.InclusionFilter[In]{
		In: lyceum.Some(q.In), Product: lyceum.Some(q.Product),
	})
	if err != nil || there {
		return row, there, err
	}
	found, err := lyceum.FindProducts(t, from, q.Product)
	if err == nil && len(found) == 0 {
		err = lyceum.Errorf(lyceum.NotFound, "there is no %s", q.Product)
	}
	return row, false, err
}

// removed is the effect of a product's removal on the holders of what it is in.
type removed struct {
	from, product lyceum.Product
	endAccess     bool
	read          func(func(lyceum.View) error) error
	now           time.Time
	holding       []lyceum.Product        // what the product comes with: from, and tiers with that
	reached       map[lyceum.Product]bool // the product, and what comes with it
	products      []lyceum.Product        // these, and what may be on the way to them
	users         []lyceum.UserID         // who hold one of the products in holding
}

// open finds what a removal affects.
func (i Inclusions[ID, In]) open(v lyceum.View, r *removed, row lyceum.Inclusion[ID, In]) (err error) {
	if r.holding, err = i.with(v.Tables, v, row.In); err != nil {
		return err
	}
	if r.products, err = reached(v.Tables, v, r.product); err != nil {
		return err
	}
	r.reached = map[lyceum.Product]bool{}
	for _, p := range r.products {
		r.reached[p] = true
	}
	if len(r.holding) > 1 {
		r.products = append(r.products, r.from)
	}
	return nil
}

// heldAtOnce is how many holders are read in one turn.
const heldAtOnce = 1000

// find finds the holders of what the product comes with.
func (r *removed) find() error {
	for _, p := range r.holding {
		of := lyceum.EntitlementFilter{
			Products: []lyceum.Product{p}, OpenAt: lyceum.Some(r.now), After: lyceum.Some[lyceum.EntitlementID](0),
		}
		for more := true; more; {
			err := r.read(func(v lyceum.View) error {
				part, err := v.Entitlements.List(v, of, lyceum.Page{Number: 1, Size: heldAtOnce})
				for n := range part.Rows {
					r.users = append(r.users, part.Rows[n].User)
					of.After = lyceum.Some(part.Rows[n].ID)
				}
				more = len(part.Rows) == heldAtOnce
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	slices.Sort(r.users)
	r.users = slices.Compact(r.users)
	return nil
}

// each visits the changes that the removal makes, by user and product.
func (r *removed) each(visit func(*lyceum.AccessChange) error) error {
	for users := range slices.Chunk(r.users, lyceum.MaxUsers) {
		var was uses
		err := r.read(func(v lyceum.View) (err error) {
			was, err = usesOf(v.Tables, v, users, r.products, r.now)
			return err
		})
		if err != nil {
			return err
		}
		made := compare(was, r.without(was))
		for n := range made {
			if err := visit(&made[n]); err != nil {
				return err
			}
		}
	}
	return nil
}

// without returns what users may use after the removal.
func (r *removed) without(was uses) uses {
	is := uses{}
	for at, open := range was {
		var last lyceum.EntitlementID
		for _, e := range open {
			ends := e.ID != last && r.leads(was, at, &e) // each product is reached in one way
			last = e.ID
			switch {
			case ends && (r.endAccess || e.Product != r.from):
				continue
			case ends: // it is kept as a separate entitlement
				e.Product = r.product
			}
			is[at] = append(is[at], e)
		}
	}
	return is
}

// leads reports whether an entitlement reaches a product by way of the removed one. A block of a
// collection on the way takes precedence.
func (r *removed) leads(was uses, to use, e *lyceum.Entitlement) bool {
	var by lyceum.Product
	switch {
	case !slices.Contains(r.holding, e.Product), !r.reached[to.product]:
		return false
	case e.Product != r.from:
		by = r.from // a collection in a tier
	case to.product != r.product:
		by = r.product // a collection that is removed from a tier
	default:
		return true
	}
	return slices.ContainsFunc(was[use{to.user, by}], func(x lyceum.Entitlement) bool { return x.ID == e.ID })
}

// leave begins the removal of a product. It takes effect immediately for future holders, and for
// present ones if their access ends.
func (i Inclusions[ID, In]) leave(
	tx lyceum.Tx, now time.Time, row lyceum.Inclusion[ID, In], endAccess bool,
) error {
	row.LeftAt = lyceum.Some(lyceum.Second(now))
	row.Leaving, row.Settled = lyceum.Some[lyceum.EntitlementID](0), lyceum.Some[lyceum.EntitlementID](0)
	if !endAccess {
		last, err := tx.Entitlements.NextID(tx)
		if err != nil {
			return err
		}
		row.Leaving = lyceum.Some(last)
	}
	unheld, err := i.unheld(tx, row)
	switch {
	case err != nil:
		return err
	case unheld:
		return i.rows(tx.Tables).Delete(tx, row.ID)
	}
	_, err = i.rows(tx.Tables).Save(tx, row)
	return err
}
