package intake

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

// Memberships returns the kind of memberships, which tiers belong to. A file must have id, name
// and is_published; description and image_url may be null.
func Memberships() Kind[lyceum.Membership] {
	type row = lyceum.Membership
	return Kind[row]{
		name: "memberships", list: "memberships",
		id: func(m *row) int32 { return int32(m.ID) },
		columns: []column[row]{
			idColumn("id", func(m *row) *lyceum.MembershipID { return &m.ID }),
			textColumn("name", func(m *row) *string { return &m.Name }),
			optTextColumn("description", func(m *row) *lyceum.Opt[string] { return &m.Description }).always().long(),
			optTextColumn("image_url", func(m *row) *lyceum.Opt[string] { return &m.ImageURL }).always(),
			booleanColumn("is_published", func(m *row) *bool { return &m.IsPublished }),
			timeColumn("created_at", func(m *row) *time.Time { return &m.CreatedAt }).optional(),
			timeColumn("updated_at", func(m *row) *time.Time { return &m.UpdatedAt }).optional(),
			optTimeColumn("archived_at", func(m *row) *lyceum.Opt[time.Time] { return &m.ArchivedAt }),
		},
	}
}

// MembershipTiers returns the kind of the tiers of memberships. A file must have id,
// membership_id, name, position and is_published; description may be null.
func MembershipTiers() Kind[lyceum.MembershipTier] {
	type row = lyceum.MembershipTier
	return Kind[row]{
		name: "membership-tiers", list: "membership_tiers",
		id: func(t *row) int32 { return int32(t.ID) },
		columns: []column[row]{
			idColumn("id", func(t *row) *lyceum.MembershipTierID { return &t.ID }),
			idColumn("membership_id", func(t *row) *lyceum.MembershipID { return &t.MembershipID }),
			textColumn("name", func(t *row) *string { return &t.Name }),
			optTextColumn("description", func(t *row) *lyceum.Opt[string] { return &t.Description }).always().long(),
			idColumn("position", func(t *row) *int32 { return &t.Position }),
			booleanColumn("is_published", func(t *row) *bool { return &t.IsPublished }),
			timeColumn("created_at", func(t *row) *time.Time { return &t.CreatedAt }).optional(),
			timeColumn("updated_at", func(t *row) *time.Time { return &t.UpdatedAt }).optional(),
			optTimeColumn("archived_at", func(t *row) *lyceum.Opt[time.Time] { return &t.ArchivedAt }),
		},
	}
}

// TierProducts returns the kind of the products in tiers.
func TierProducts() Kind[lyceum.TierProduct] {
	return inclusions[lyceum.TierProductID, lyceum.MembershipTierID](
		"tier-products", "membership_tier_id", lyceum.TierKinds(),
	)
}
