package learning

import (
	"context"

	"github.com/lyceum-school/lyceum"
)

// Held lists the published products that a learner has access to.
func (s *Service) Held(
	ctx context.Context, by lyceum.By, f lyceum.HeldFilter, p lyceum.Page,
) (lyceum.Listing[lyceum.Held], error) {
	f.User, f.At = by.Learner.Value, s.clock()
	return s.store.In(ctx, by.School).FindHeld(f, p)
}

// HeldProduct returns a published product that a learner has access to. It fails
// with NotFound.
func (s *Service) HeldProduct(ctx context.Context, by lyceum.By, product lyceum.Product) (lyceum.Held, error) {
	return s.oneHeld(s.store.In(ctx, by.School), by, product)
}

func (s *Service) oneHeld(v lyceum.View, by lyceum.By, product lyceum.Product) (lyceum.Held, error) {
	found, err := v.FindHeld(lyceum.HeldFilter{
		User: by.Learner.Value, At: s.clock(), Kind: lyceum.Some(product.Kind), ID: lyceum.Some(product.ID),
	}, lyceum.Page{Number: 1, Size: 1})
	switch {
	case err != nil:
		return lyceum.Held{}, err
	case len(found.Rows) == 0:
		return lyceum.Held{}, lyceum.Errorf(lyceum.NotFound, "there is no %s", product)
	}
	return found.Rows[0], nil
}

// HeldIn lists the published products that a learner has access to in a collection that they
// have. It fails with NotFound.
func (s *Service) HeldIn(
	ctx context.Context, by lyceum.By, collection lyceum.ProductCollectionID, p lyceum.Page,
) (listing lyceum.Listing[lyceum.Held], err error) {
	of := lyceum.Product{Kind: lyceum.CollectionKind, ID: int32(collection)}
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		if _, err := s.oneHeld(v, by, of); err != nil {
			return err
		}
		listing, err = v.FindHeld(lyceum.HeldFilter{
			User: by.Learner.Value, At: s.clock(), In: lyceum.Some(of),
		}, p)
		return err
	})
	return listing, err
}

// MembershipDetail is a learner's tier of a membership, and the products that come with it.
type MembershipDetail struct {
	lyceum.Held

	Products []lyceum.Held
}

// HeldMemberships lists the memberships of which a learner has a published tier, each with the
// tier that they got last.
func (s *Service) HeldMemberships(
	ctx context.Context, by lyceum.By, p lyceum.Page,
) (lyceum.Listing[lyceum.Held], error) {
	return s.Held(ctx, by, lyceum.HeldFilter{Kind: lyceum.Some(lyceum.TierKind), Newest: true}, p)
}

// HeldMembership returns a membership of which a learner has a published tier. It fails with
// NotFound.
func (s *Service) HeldMembership(
	ctx context.Context, by lyceum.By, id lyceum.MembershipID,
) (detail MembershipDetail, err error) {
	now := s.clock()
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		tiers, err := v.FindHeld(lyceum.HeldFilter{
			User: by.Learner.Value, At: now, Kind: lyceum.Some(lyceum.TierKind), Membership: lyceum.Some(id), Newest: true,
		}, lyceum.Page{Number: 1, Size: 1})
		switch {
		case err != nil:
			return err
		case len(tiers.Rows) == 0:
			return lyceum.Errorf(lyceum.NotFound, "there is no membership %d", id)
		}
		detail.Held = tiers.Rows[0]
		inside, err := v.FindHeld(lyceum.HeldFilter{
			User: by.Learner.Value, At: now, In: lyceum.Some(detail.Product),
		}, lyceum.Page{Number: 1, Size: lyceum.MaxIncluded})
		detail.Products = inside.Rows
		return err
	})
	return detail, err
}
