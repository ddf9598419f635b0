package lyceum

import "time"

// EntitlementID names one reason why a learner may use a product.
type EntitlementID int32

// EntitlementSequence numbers entitlements.
const EntitlementSequence Sequence = "entitlement_id"

// BlockSequence numbers blocks.
const BlockSequence Sequence = "block_id"

// Entitlement is one reason why one user may use one product: a sale, an
// enrollment by hand, or an imported enrollment. Access is the union of a
// user's entitlements, less blocks.
type Entitlement struct {
	ID      EntitlementID
	User    UserID
	Product Product
	Sale    Opt[SaleID] // that it came with; none: given by hand, or imported
	// Imported: it stands for an enrollment that came in by a file or from
	// another server. Its times are the enrollment's, and which sale it belongs
	// to is found again after each import.
	Imported  bool
	KeptFrom  Opt[EntitlementID] // to a collection that the product has left
	StartsAt  time.Time
	EndsAt    Opt[time.Time] // access ends at that moment by itself
	EndedAt   Opt[time.Time] // an act ended it
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
	EndedByImport       EntitlementEnd = "imported" // the enrollment came in as ended
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

// OpenAt reports whether the entitlement gives access at a moment.
func (e *Entitlement) OpenAt(now time.Time) bool {
	return !e.EndedAt.Present && (!e.EndsAt.Present || now.Before(e.EndsAt.Value))
}

// Outlasts reports whether the entitlement would end after other by itself.
func (e *Entitlement) Outlasts(other Opt[time.Time]) bool {
	return other.Present && (!e.EndsAt.Present || e.EndsAt.Value.After(other.Value))
}

// EntitlementFilter narrows entitlements; an absent part holds always. Those of
// Users come by user, then id.
type EntitlementFilter struct {
	User     Opt[UserID]
	Users    []UserID // those of any of them, at most MaxUsers; nil: of all
	Products []Product
	Sale     Opt[SaleID]
	Open     bool               // no act ended it, whether its time is over or not
	OpenAt   Opt[time.Time]     // it gave access at that moment
	Blocked  bool               // of those that reach a product: also where a block outranks them
	After    Opt[EntitlementID] // those with a higher id; their list has no total
}

// BlockID names a block.
type BlockID int32

// Block keeps a user out of a product that also comes with a collection or a
// tier, until the user is enrolled in it or buys it again.
type Block struct {
	ID        BlockID
	User      UserID
	Product   Product
	CreatedAt time.Time
}

// BlockFilter narrows blocks; an absent part holds always.
type BlockFilter struct {
	User    Opt[UserID]
	Users   []UserID // those of any of them, at most MaxUsers; nil: of all
	Product Opt[Product]
}

// PaidSale is a sale with a payment that was neither refunded in full nor charged
// back.
type PaidSale struct {
	Sale    SaleID
	User    UserID
	Product Product // what its plan sells
}
