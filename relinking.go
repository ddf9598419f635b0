package lyceum

import "time"

// Relinking is a pricing plan whose product, or what comes with it, has changed:
// the imported enrollments of its buyers are to be linked to their sales again.
// Those of its transactions up to After and ID, oldest first, have been.
type Relinking struct {
	Plan  PricingPlanID
	After time.Time
	ID    TransactionID
}

// BuyerQuery asks who paid for pricing plans in the transactions after a place, oldest
// first.
type BuyerQuery struct {
	Plans []PricingPlanID
	After time.Time
	ID    TransactionID
	Limit int // of transactions that are found
}

// BuyerListing is the next part of the buyers of pricing plans.
type BuyerListing struct {
	Users []UserID // of each transaction that was found
	// After and ID are of the last transaction that was looked at, if More is set: there
	// may be others after it.
	After time.Time
	ID    TransactionID
	More  bool
}
