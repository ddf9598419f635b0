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

// Buyer is who paid in a transaction.
type Buyer struct {
	User        UserID
	At          time.Time
	Transaction TransactionID
}
