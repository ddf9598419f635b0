package lyceum

import "time"

// MembershipID names a membership.
type MembershipID int32

// MembershipSequence numbers memberships.
const MembershipSequence Sequence = "membership_id"

var _ = product("membership")

// Membership is the name and picture of several tiers, which are what is sold.
type Membership struct {
	ID          MembershipID
	Name        string
	Description Opt[string]
	ImageURL    Opt[string]
	IsPublished bool
	CreatedAt   time.Time
	UpdatedAt   time.Time
	ArchivedAt  Opt[time.Time]
}

// MembershipTierID names a tier of a membership.
type MembershipTierID int32

// MembershipTierSequence numbers the tiers of all memberships.
const MembershipTierSequence Sequence = "membership_tier_id"

var _ = product("membership_tier")

// MembershipTier is one way to be a member. It stays in its membership.
type MembershipTier struct {
	ID           MembershipTierID
	MembershipID MembershipID
	Name         string
	Description  Opt[string]
	Position     int32 // from 1; ties are ordered by id
	IsPublished  bool
	CreatedAt    time.Time
	UpdatedAt    time.Time
	ArchivedAt   Opt[time.Time]
}

// MembershipTierFilter narrows tiers, which are listed by position.
type MembershipTierFilter struct {
	MembershipID Opt[MembershipID]
	IsArchived   Opt[bool]
}

// TierProductID names the fact that a product is in a tier.
type TierProductID int32

var _ = product("tier_product")

// TierProduct is a product in a tier.
type TierProduct = Inclusion[TierProductID, MembershipTierID]
