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

// reach returns a product and what comes with it now, and if leaving what left it
// and may still be followed by enrollments.
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

// settleAll settles a user and everything that comes with a product, or just left
// it: what closes there is announced now, and no longer later on.
func settleAll(tx lyceum.Tx, now time.Time, user lyceum.UserID, p lyceum.Product) error {
	return settleSince(tx, now, now, user, p)
}

// settleSince is settleAll when something ended at a moment that has passed.
func settleSince(tx lyceum.Tx, now, since time.Time, user lyceum.UserID, p lyceum.Product) error {
	all, err := reach(tx.Tables, tx, p, true)
	if err != nil {
		return err
	}
	return settleEach(tx, now, since, user, all)
}

// unblock lets a user into a product again, and what comes with it.
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
