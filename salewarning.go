package lyceum

import "time"

// SaleWarningID names something that did not fit of a sale.
type SaleWarningID int32

// SaleWarning is something that did not fit of a sale that was recorded because
// its money was taken already. Somebody needs to look at it.
type SaleWarning struct {
	ID          SaleWarningID
	SaleID      SaleID
	Code        string
	Message     string // a sentence
	CreatedAt   time.Time
	DismissedAt Opt[time.Time] // somebody had a look
}

// SaleWarningFilter narrows and orders warnings; an absent part holds always.
type SaleWarningFilter struct {
	Sale      Opt[SaleID]
	Dismissed Opt[bool]
	Newest    bool // first
}

// Offer is a pricing plan as a sale finds it.
type Offer struct {
	Plan           Opt[PricingPlan]
	UserKnown      bool
	UserErased     bool // a user who is known
	CourseArchived bool // the course that the plan sells
}
