package lyceum

import "time"

// EntitlementID identifies an entitlement.
type EntitlementID int32

// EntitlementSequence numbers entitlements.
const EntitlementSequence Sequence = "entitlement_id"

// BlockSequence numbers blocks.
const BlockSequence Sequence = "block_id"

// Entitlement is one reason why one user may use one product: a sale, an enrollment by hand, or
// an imported enrollment. Access is the union of a user's entitlements, except where blocks
// apply.
type Entitlement struct {
	ID      EntitlementID
	User    UserID
	Product Product
	Sale    Opt[SaleID] // the sale it came with; absent: granted by hand, or imported
	// Imported means that it represents an enrollment that came from a file or another server.
	// It has the times of that enrollment, and is linked to a sale again after each import.
	Imported  bool
	KeptFrom  Opt[EntitlementID] // the entitlement to a collection that the product was removed from
	StartsAt  time.Time
	EndsAt    Opt[time.Time] // when access ends by itself
	EndedAt   Opt[time.Time] // when an act ended it
	EndReason Opt[EntitlementEnd]
}

// EntitlementEnd is the act that ended an entitlement.
type EntitlementEnd string

// The acts that end entitlements.
const (
	EndedByRefund       EntitlementEnd = "refunded"     // of its sale
	EndedByChargeback   EntitlementEnd = "charged_back" // of its sale
	EndedByCancellation EntitlementEnd = "canceled"     // of its sale
	EndedByVoiding      EntitlementEnd = "voided"       // of its sale
	EndedByChange       EntitlementEnd = "changed"      // of its sale's plan
	EndedByLapse        EntitlementEnd = "lapsed"       // of its sale
	EndedByUnenrollment EntitlementEnd = "unenrolled"
	EndedByImport       EntitlementEnd = "imported" // the enrollment had already ended when it was imported
)

// EntitlementEnds lists every act that ends entitlements.
func EntitlementEnds() []EntitlementEnd {
	return []EntitlementEnd{
		EndedByRefund, EndedByChargeback, EndedByCancellation, EndedByVoiding, EndedByChange, EndedByLapse,
		EndedByUnenrollment, EndedByImport,
	}
}

// EntitlementKind is where an entitlement comes from.
type EntitlementKind string

// The kinds of entitlement.
const (
	FromSale   EntitlementKind = "sale"
	FromHand   EntitlementKind = "manual"
	FromImport EntitlementKind = "import" // without a known sale
)

// Kind returns where the entitlement comes from.
func (e *Entitlement) Kind() EntitlementKind {
	switch {
	case e.Sale.Present:
		return FromSale
	case e.Imported:
		return FromImport
	}
	return FromHand
}

// OpenAt reports whether the entitlement grants access at the given time.
func (e *Entitlement) OpenAt(now time.Time) bool {
	return !e.EndedAt.Present && (!e.EndsAt.Present || now.Before(e.EndsAt.Value))
}

// Outlasts reports whether the entitlement, by itself, ends after other. An absent other never
// ends, so nothing outlasts it.
func (e *Entitlement) Outlasts(other Opt[time.Time]) bool {
	return other.Present && (!e.EndsAt.Present || e.EndsAt.Value.After(other.Value))
}

// EntitlementFilter narrows entitlements; absent fields match everything. With Users they are
// listed by user, then id.
type EntitlementFilter struct {
	User     Opt[UserID]
	Users    []UserID // any of these, at most MaxUsers; nil: all
	Products []Product
	Sale     Opt[SaleID]
	Open     bool               // only those that no act ended, whether or not their time is over
	OpenAt   Opt[time.Time]     // only those that granted access at that time
	Blocked  bool               // for those that reach a product: also where a block takes precedence
	After    Opt[EntitlementID] // only greater ids; such a list has no total
}

// BlockID identifies a block.
type BlockID int32

// Block keeps a user out of a product that also comes with a collection or a tier, until the
// user is enrolled in it or buys it again.
type Block struct {
	ID        BlockID
	User      UserID
	Product   Product
	CreatedAt time.Time
}

// BlockFilter narrows blocks; absent fields match everything.
type BlockFilter struct {
	User    Opt[UserID]
	Users   []UserID // any of these, at most MaxUsers; nil: all
	Product Opt[Product]
}

// PaidSale is a sale with a payment that was neither fully refunded nor charged back.
type PaidSale struct {
	Sale    SaleID
	User    UserID
	Product Product // what its plan sells
}
