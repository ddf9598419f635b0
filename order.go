package lyceum

import "time"

// OrderState is the state of an order.
type OrderState string

// The states of an order.
const (
	OrderOpen      OrderState = "open"
	OrderCompleted OrderState = "completed"
	OrderAbandoned OrderState = "abandoned"
)

// PurchaseOrder is a checkout that was begun.
type PurchaseOrder struct {
	ID            OrderID
	Email         string
	Name          Opt[string]
	UserID        Opt[UserID] // present once the email address belongs to a user
	PricingPlanID PricingPlanID
	CouponID      Opt[CouponID]
	AffiliateID   Opt[AffiliateID]
	FinalPrice    Minor
	Currency      Currency
	State         OrderState
	CreatedAt     time.Time
	AbandonsAt    time.Time
	ClosedAt      Opt[time.Time]
	SaleID        Opt[SaleID] // of a completed order
	ReturnURL     Opt[string] // where the buyer can resume the order
}

// OrderFilter narrows orders; absent fields match everything.
type OrderFilter struct {
	// StaleAt selects the open orders that are due to be abandoned by then, longest-waiting
	// first.
	StaleAt Opt[time.Time]
}
