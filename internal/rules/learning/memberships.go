package learning

import (
	"context"

	"github.com/lyceum-school/lyceum"
)

// Memberships returns the rules for memberships.
func (s *Service) Memberships() Products[lyceum.MembershipID, lyceum.Membership, lyceum.ProductFilter] {
	type row = lyceum.Membership
	return Products[lyceum.MembershipID, row, lyceum.ProductFilter]{
		service: s, what: "membership",
		rows: func(t *lyceum.Tables) lyceum.Table[lyceum.MembershipID, row, lyceum.ProductFilter] {
			return t.Memberships
		},
		parts: func(m *row) productParts[lyceum.MembershipID] {
			return productParts[lyceum.MembershipID]{&m.ID, &m.CreatedAt, &m.UpdatedAt, &m.ArchivedAt, nil, &m.ImageURL}
		},
	}
}

// MembershipTiers returns the rules for tiers, except for creating and listing them.
func (s *Service) MembershipTiers() Products[
	lyceum.MembershipTierID, lyceum.MembershipTier, lyceum.MembershipTierFilter,
] {
	type row = lyceum.MembershipTier
	return Products[lyceum.MembershipTierID, row, lyceum.MembershipTierFilter]{
		service: s, what: "membership tier",
		rows: func(t *lyceum.Tables) lyceum.Table[lyceum.MembershipTierID, row, lyceum.MembershipTierFilter] {
			return t.MembershipTiers
		},
		parts: func(m *row) productParts[lyceum.MembershipTierID] {
			return productParts[lyceum.MembershipTierID]{&m.ID, &m.CreatedAt, &m.UpdatedAt, &m.ArchivedAt, nil, nil}
		},
		names: []reference[row]{{
			"membership_id", "membership", lyceum.MembershipSequence, func(m *row) int32 { return int32(m.MembershipID) },
		}},
		look: tiersStay,
	}
}

// CreateMembershipTier creates a tier, the last of its membership unless it has a position. It
// fails with NotFound, and with Conflict if the membership is archived.
func (s *Service) CreateMembershipTier(
	ctx context.Context, by lyceum.By, tier lyceum.MembershipTier,
) (lyceum.MembershipTier, error) {
	return s.MembershipTiers().create(ctx, by, tier, func(tx lyceum.Tx, fresh *lyceum.MembershipTier) error {
		membership, err := tx.Memberships.Get(tx, fresh.MembershipID)
		switch {
		case err != nil:
			return err
		case membership.ArchivedAt.Present:
			return &lyceum.Error{Kind: lyceum.Conflict, Code: "archived", Detail: "this membership is archived"}
		case fresh.Position != 0:
			return nil
		}
		fresh.Position = 1
		return tx.MembershipTiers.Each(tx, lyceum.MembershipTierFilter{MembershipID: lyceum.Some(fresh.MembershipID)},
			func(other *lyceum.MembershipTier) error {
				fresh.Position = max(fresh.Position, min(other.Position, lyceum.MaxID-1)+1)
				return nil
			})
	})
}

// ListMembershipTiers returns a page of the tiers of a membership, by position.
// It fails with NotFound.
func (s *Service) ListMembershipTiers(
	ctx context.Context, by lyceum.By, f lyceum.MembershipTierFilter, p lyceum.Page,
) (lyceum.Listing[lyceum.MembershipTier], error) {
	if _, err := s.Memberships().Get(ctx, by, f.MembershipID.Value); err != nil {
		return lyceum.Listing[lyceum.MembershipTier]{}, err
	}
	return s.MembershipTiers().List(ctx, by, f, p)
}

// tiersStay returns a problem for each row that would move a tier to another membership.
func tiersStay(tx lyceum.Tx, rows []lyceum.MembershipTier) (problems []lyceum.RowProblem, err error) {
	ids := idsOf(rows, func(t *lyceum.MembershipTier) lyceum.MembershipTierID { return t.ID })
	kept, err := tx.MembershipTiers.Find(tx, ids...)
	in := map[lyceum.MembershipTierID]lyceum.MembershipID{}
	for id, tier := range kept {
		in[id] = tier.MembershipID
	}
	for i := range rows {
		other, known := in[rows[i].ID]
		if known && other != rows[i].MembershipID {
			problems = append(problems, problem(i, "membership_id", "must be %d, the membership of tier %d", other, rows[i].ID))
		}
		if !known {
			in[rows[i].ID] = rows[i].MembershipID
		}
	}
	return problems, err
}

// TierProducts returns the rules for the products in tiers.
func (s *Service) TierProducts() Inclusions[lyceum.TierProductID, lyceum.MembershipTierID] {
	type row = lyceum.TierProduct
	return Inclusions[lyceum.TierProductID, lyceum.MembershipTierID]{
		service: s, kind: lyceum.TierKind,
		rows: func(t *lyceum.Tables) lyceum.Table[
			lyceum.TierProductID, row, lyceum.InclusionFilter[lyceum.MembershipTierID],
		] {
			return t.TierProducts
		},
		there: func(t *lyceum.Tables, from lyceum.Source, id lyceum.MembershipTierID) error {
			_, err := t.MembershipTiers.Get(from, id)
			return err
		},
		in: reference[row]{
			"membership_tier_id", "membership tier", lyceum.MembershipTierSequence,
			func(i *row) int32 { return int32(i.In) },
		},
	}
}
