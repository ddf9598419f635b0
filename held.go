package lyceum

import "time"

// Held is a product that a user has access to, with what products of every kind
// have in common.
type Held struct {
	Product     Product
	Name        string
	Description Opt[string] // the heading of a course
	ImageURL    Opt[string] // of a tier, that of its membership
	Since       time.Time   // of the oldest entitlement that is open
	Until       Opt[time.Time]
	Sale        Opt[SaleID]         // the latest that gives access
	Membership  Opt[HeldMembership] // of a tier
	// Visible: the product is published, and the user has access to it. Only
	// FindNamed returns others.
	Visible     bool
	IsPublished bool
	ArchivedAt  Opt[time.Time] // of a tier, also when its membership was
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

// HeldFilter narrows the published products that a user has access to at a moment;
// an absent part holds always.
type HeldFilter struct {
	User UserID
	At   time.Time
	Kind Opt[ProductKind]
	ID   Opt[int32]   // of Kind
	In   Opt[Product] // what is in a collection or a tier
	// Membership keeps the tiers of a membership, and Newest of each membership the
	// tier that the user got last.
	Membership Opt[MembershipID]
	Newest     bool
}
