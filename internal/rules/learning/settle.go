package learning

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// One write settles at most settleSize holders, and starts no other one after settleTime, so
// that it does not hold up other writes. A holder of a tier may have many products to settle.
const (
	settleSize = 50
	settleTime = 8 * time.Millisecond
)

// Settle brings the holders of collections and tiers in line with products that were added and
// removed. Access changes with the addition or removal; enrollments and their events follow
// here, in the order of the entitlements. Then it relinks the buyers of plans that now sell
// something else, and recounts the progress of learners whose courses have other lectures. It
// resumes where it stopped.
func (s *Service) Settle(ctx context.Context, school lyceum.SchoolID) error {
	for more := true; more; {
		now := s.clock()
		err := s.store.Write(ctx, lyceum.Stamp{School: school, At: now, Actor: "clock"}, func(tx lyceum.Tx) (err error) {
			for _, next := range []func(lyceum.Tx, time.Time) (bool, error){
				s.CollectionProducts().settle, s.TierProducts().settle, relinkNext, recountNext,
			} {
				if more, err = next(tx, now); err != nil || more {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// settle settles the next holders of a product that was added or removed, and reports whether
// there was such a product.
func (i Inclusions[ID, In]) settle(tx lyceum.Tx, now time.Time) (bool, error) {
	rows := i.rows(tx.Tables)
	row, found, err := rows.First(tx, lyceum.InclusionFilter[In]{Leaving: true, Unsettled: true})
	if err != nil || !found {
		return false, err
	}
	return true, i.settleNext(tx, now, row)
}

// settleNext settles the next holders of a product that was added or removed.
func (i Inclusions[ID, In]) settleNext(tx lyceum.Tx, now time.Time, row lyceum.Inclusion[ID, In]) error {
	rows, began := i.rows(tx.Tables), i.service.clock()
	holders, err := i.holders(tx, row)
	if err != nil {
		return err
	}
	more := len(holders) == settleSize
	products, err := reached(tx.Tables, tx, row.Product)
	if err != nil {
		return err
	}
	for n := range holders {
		if n > 0 && i.service.clock().Sub(began) > settleTime {
			more = true
			break
		}
		e := &holders[n]
		if err := keepLeaving(tx, row, i.named(row.In), e); err != nil {
			return err
		}
		if err := settleEach(tx, now, now, e.User, products); err != nil {
			return err
		}
		row.Settled = lyceum.Some(e.ID)
	}
	switch {
	case more:
		_, err = rows.Save(tx, row)
	case row.Leaving.Present:
		err = rows.Delete(tx, row.ID)
	default:
		row.Settled = lyceum.None[lyceum.EntitlementID]()
		_, err = rows.Save(tx, row)
	}
	return err
}

// holders returns the next entitlements with which a product came or comes.
func (i Inclusions[ID, In]) holders(
	tx lyceum.Tx, row lyceum.Inclusion[ID, In],
) (next []lyceum.Entitlement, err error) {
	with, err := i.with(tx.Tables, tx, row.In)
	if err != nil {
		return nil, err
	}
	for _, p := range with {
		of := lyceum.EntitlementFilter{Products: []lyceum.Product{p}, After: lyceum.Some(row.Settled.Value)}
		list, err := tx.Entitlements.List(tx, of, lyceum.Page{Number: 1, Size: settleSize})
		if err != nil {
			return nil, err
		}
		next = append(next, list.Rows...)
	}
	slices.SortFunc(next, func(a, b lyceum.Entitlement) int { return cmp.Compare(a.ID, b.ID) })
	return next[:min(len(next), settleSize)], nil
}

// with returns what contains a product in a collection or tier: that collection or tier, and the
// tiers that have the collection.
func (i Inclusions[ID, In]) with(t *lyceum.Tables, from lyceum.Source, in In) ([]lyceum.Product, error) {
	with := []lyceum.Product{i.named(in)}
	if i.kind != lyceum.CollectionKind {
		return with, nil
	}
	of := lyceum.InclusionFilter[lyceum.MembershipTierID]{Product: lyceum.Some(with[0])}
	err := t.TierProducts.Each(from, of, func(row *lyceum.TierProduct) error {
		with = append(with, lyceum.Product{Kind: lyceum.TierKind, ID: int32(row.In)})
		return nil
	})
	return with, err
}

// finishWrites is the maximum number of writes with which an addition finishes an earlier
// removal of the product.
const finishWrites = 20

// finishLeaving settles the users who keep a product that was removed before and is added again.
func (i Inclusions[ID, In]) finishLeaving(ctx context.Context, by lyceum.By, q ProductIn[In]) error {
	of := lyceum.InclusionFilter[In]{In: lyceum.Some(q.In), Product: lyceum.Some(q.Product), Leaving: true}
	v := i.service.store.In(ctx, by.School)
	for range finishWrites {
		row, there, err := i.rows(v.Tables).First(v, of)
		if err != nil || !there || !keeps(row) {
			return err
		}
		now := i.service.clock()
		err = i.service.store.Write(ctx, lyceum.Stamp{School: by.School, At: now, Actor: "clock"}, func(tx lyceum.Tx) error {
			row, there, err := i.rows(tx.Tables).First(tx, of)
			if err != nil || !there || !keeps(row) {
				return err
			}
			return i.settleNext(tx, now, row)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// keeps reports whether a product is leaving and its holders keep it.
func keeps[ID, In ~int32](row lyceum.Inclusion[ID, In]) bool { return row.Leaving.Value > 0 }

// unheld reports whether nobody holds what a product was added to or removed from, so that there
// is nothing to settle.
func (i Inclusions[ID, In]) unheld(tx lyceum.Tx, row lyceum.Inclusion[ID, In]) (bool, error) {
	holders, err := i.holders(tx, row)
	return len(holders) == 0, err
}

// keepLeaving gives a holder a separate entitlement to a leaving product, as they had it when it
// left, unless no holder keeps it.
func keepLeaving[ID, In ~int32](
	tx lyceum.Tx, row lyceum.Inclusion[ID, In], in lyceum.Product, e *lyceum.Entitlement,
) error {
	held := e.Product == in && e.ID <= row.Leaving.Value &&
		(!e.EndedAt.Present || !e.EndedAt.Value.Before(row.LeftAt.Value)) &&
		(!e.EndsAt.Present || row.LeftAt.Value.Before(e.EndsAt.Value))
	if !held {
		return nil
	}
	kept := *e
	kept.Product, kept.KeptFrom = row.Product, lyceum.Some(e.ID)
	of := lyceum.EntitlementFilter{User: lyceum.Some(e.User), Products: []lyceum.Product{row.Product}}
	again := false
	err := tx.Entitlements.Each(tx, of, func(x *lyceum.Entitlement) error {
		again = again || x.KeptFrom == kept.KeptFrom && x.ID > row.Leaving.Value // ids rise with time
		return nil
	})
	if err != nil || again {
		return err
	}
	if kept.ID, err = tx.Entitlements.NextID(tx); err != nil {
		return err
	}
	return tx.Entitlements.Insert(tx, kept)
}

// whatLeft selects the collections that a product left and that are not settled. For a
// collection, it selects what is in it and what left it, which settleAll queries as well.
func whatLeft(p lyceum.Product) lyceum.InclusionFilter[lyceum.ProductCollectionID] {
	if p.Kind == lyceum.CollectionKind {
		return lyceum.InclusionFilter[lyceum.ProductCollectionID]{
			In: lyceum.Some(lyceum.ProductCollectionID(p.ID)), Leaving: true,
		}
	}
	return lyceum.InclusionFilter[lyceum.ProductCollectionID]{
		Product: lyceum.Some(p), Leaving: true, Unsettled: true,
	}
}

// keepLeft gives a user what left a collection and was not given to them yet: a product, or
// everything that left the given collection.
func keepLeft(tx lyceum.Tx, user lyceum.UserID, product lyceum.Product) error {
	// This query can be prefetched along with others, and usually finds nothing.
	if _, found, err := tx.CollectionProducts.First(tx, whatLeft(product)); err != nil || !found {
		return err
	}
	left, err := lyceum.All(tx.CollectionProducts, tx, whatLeft(product))
	if err != nil {
		return err
	}
	for _, row := range left {
		if !row.Settled.Present {
			continue
		}
		in := lyceum.Product{Kind: lyceum.CollectionKind, ID: int32(row.In)}
		of := lyceum.EntitlementFilter{User: lyceum.Some(user), Products: []lyceum.Product{in}}
		held, err := lyceum.All(tx.Entitlements, tx, of)
		if err != nil {
			return err
		}
		for n := range held {
			if err := keepLeaving(tx, row, in, &held[n]); err != nil {
				return err
			}
		}
	}
	return nil
}
