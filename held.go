package lyceum

import "time"

// Held is a product that a user has access to, with what products of every kind have in common.
type Held struct {
	Product     Product
	Name        string
	Description Opt[string] // the heading, for a course
	ImageURL    Opt[string] // for a tier, that of its membership
	Since       time.Time   // beginning of the oldest open entitlement
	Until       Opt[time.Time]
	Sale        Opt[SaleID]         // the latest sale that grants access
	Membership  Opt[HeldMembership] // only for a tier
	// Visible means that the product is published and the user has access to it. Only FindNamed
	// returns products that are not visible.
	Visible     bool
	IsPublished bool
	ArchivedAt  Opt[time.Time] // for a tier, also set if its membership was archived
}

// Info returns what products of every kind have in common.
func (h *Held) Info() ProductInfo {
	return ProductInfo{Product: h.Product, Name: h.Name, IsPublished: h.IsPublished, ArchivedAt: h.ArchivedAt}
}

// HeldMembership is the membership of a tier.
type HeldMembership struct {
	ID          MembershipID
	Name        string
	Description Opt[string]
}

// HeldFilter narrows the published products that a user has access to at a given time; absent
// fields match everything.
type HeldFilter struct {
	User UserID
	At   time.Time
	Kind Opt[ProductKind]
	ID   Opt[int32]   // only together with Kind
	In   Opt[Product] // only what is in this collection or tier
	// Membership selects only the tiers of this membership, and Newest only the tier of each
	// membership that the user got last.
	Membership Opt[MembershipID]
	Newest     bool
}
