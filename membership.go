package lyceum

import "time"

// MembershipID identifies a membership.
type MembershipID int32

// MembershipSequence numbers memberships.
const MembershipSequence Sequence = "membership_id"

var _ = product("membership")

// Membership is a name and a picture for several tiers, which are what is sold.
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

// MembershipTierID identifies a tier of a membership.
type MembershipTierID int32

// MembershipTierSequence numbers the tiers of all memberships.
const MembershipTierSequence Sequence = "membership_tier_id"

var _ = product("membership_tier")

// MembershipTier is what a member buys. It never moves to another membership.
type MembershipTier struct {
	ID           MembershipTierID
	MembershipID MembershipID
	Name         string
	Description  Opt[string]
	Position     int32 // from 1; ties are broken by id
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

// TierProductID identifies the inclusion of a product in a tier.
type TierProductID int32

var _ = product("tier_product")

// TierProduct is a product in a tier.
type TierProduct = Inclusion[TierProductID, MembershipTierID]
