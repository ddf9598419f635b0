package lyceum

import "time"

// OrderState is how far an order has come.
type OrderState string

// The states of an order.
const (
	OrderOpen      OrderState = "open"
	OrderCompleted OrderState = "completed"
	OrderAbandoned OrderState = "abandoned"
)

// PurchaseOrder is a checkout that somebody began.
type PurchaseOrder struct {
	ID            OrderID
	Email         string
	Name          Opt[string]
	UserID        Opt[UserID] // once the address belongs to a user
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
	ReturnURL     Opt[string] // where the buyer can continue it
}

// OrderFilter narrows orders; an absent part holds always.
type OrderFilter struct {
	// StaleAt keeps the open orders that are to be abandoned by then, those that
	// have waited longest first.
	StaleAt Opt[time.Time]
}
