package lyceum

import "time"

// Relinking is a pricing plan whose product, or what comes with the product, has changed, so
// that the imported enrollments of its buyers must be linked to their sales again. This has
// been done for the plan's transactions up to After and ID, oldest first.
type Relinking struct {
	Plan  PricingPlanID
	After time.Time
	ID    TransactionID
}

// BuyerQuery selects the buyers of pricing plans in the transactions after a position, oldest
// first.
type BuyerQuery struct {
	Plans []PricingPlanID
	After time.Time
	ID    TransactionID
	Limit int // maximum number of transactions found
}

// BuyerListing is the next part of the buyers of pricing plans.
type BuyerListing struct {
	Users []UserID // the buyer of each transaction found
	// After and ID are those of the last transaction examined. They are set if More is, which
	// means that there may be more transactions after it.
	After time.Time
	ID    TransactionID
	More  bool
}
