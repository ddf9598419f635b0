package learning

import (
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// reached returns a product and what comes with it now.
func reached(t *lyceum.Tables, from lyceum.Source, p lyceum.Product) ([]lyceum.Product, error) {
	return reach(t, from, p, false)
}

// reach returns a product and what comes with it now and, if leaving is set, what left it and
// may still have enrollments to settle.
func reach(t *lyceum.Tables, from lyceum.Source, p lyceum.Product, leaving bool) ([]lyceum.Product, error) {
	all := []lyceum.Product{p}
	if p.Kind == lyceum.TierKind {
		in := lyceum.InclusionFilter[lyceum.MembershipTierID]{
			In: lyceum.Some(lyceum.MembershipTierID(p.ID)), Leaving: leaving,
		}
		err := t.TierProducts.Each(from, in, func(i *lyceum.TierProduct) error {
			all = append(all, i.Product)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for _, p := range slices.Clone(all) {
		if p.Kind != lyceum.CollectionKind {
			continue
		}
		in := lyceum.InclusionFilter[lyceum.ProductCollectionID]{
			In: lyceum.Some(lyceum.ProductCollectionID(p.ID)), Leaving: leaving,
		}
		err := t.CollectionProducts.Each(from, in, func(i *lyceum.CollectionProduct) error {
			all = append(all, i.Product)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// settleAll settles a user's access to a product and to everything that comes with it or just
// left it. Access that closes there is announced now rather than later.
func settleAll(tx lyceum.Tx, now time.Time, user lyceum.UserID, p lyceum.Product) error {
	return settleSince(tx, now, now, user, p)
}

// settleSince is settleAll for something that ended at a past time.
func settleSince(tx lyceum.Tx, now, since time.Time, user lyceum.UserID, p lyceum.Product) error {
	all, err := reach(tx.Tables, tx, p, true)
	if err != nil {
		return err
	}
	return settleEach(tx, now, since, user, all)
}

// unblock lifts the blocks of a user from a product and from what comes with it.
func unblock(tx lyceum.Tx, user lyceum.UserID, p lyceum.Product) (lifted int, err error) {
	if !p.Holds() {
		return tx.Blocks.Clear(tx, lyceum.BlockFilter{User: lyceum.Some(user), Product: lyceum.Some(p)})
	}
	_, blocked, err := tx.Blocks.First(tx, lyceum.BlockFilter{User: lyceum.Some(user)})
	if err != nil || !blocked {
		return 0, err
	}
	all, err := reached(tx.Tables, tx, p)
	if err != nil {
		return 0, err
	}
	for _, p := range all {
		n, err := tx.Blocks.Clear(tx, lyceum.BlockFilter{User: lyceum.Some(user), Product: lyceum.Some(p)})
		if err != nil {
			return lifted, err
		}
		lifted += n
	}
	return lifted, nil
}

// block keeps a user out of a product that also comes with another one.
func block(tx lyceum.Tx, now time.Time, user lyceum.UserID, p lyceum.Product) error {
	id, err := tx.Blocks.NextID(tx)
	if err != nil {
		return err
	}
	return tx.Blocks.Insert(tx, lyceum.Block{ID: id, User: user, Product: p, CreatedAt: lyceum.Second(now)})
}
