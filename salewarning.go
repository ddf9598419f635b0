package lyceum

import "time"

// SaleWarningID identifies a warning about a sale.
type SaleWarningID int32

// SaleWarning is something that did not fit about a sale that was recorded all the same,
// because its money had already been taken. Somebody needs to look at it.
type SaleWarning struct {
	ID          SaleWarningID
	SaleID      SaleID
	Code        string
	Message     string // a sentence
	CreatedAt   time.Time
	DismissedAt Opt[time.Time] // when somebody dismissed it
}

// SaleWarningFilter narrows and orders warnings; absent fields match everything.
type SaleWarningFilter struct {
	Sale      Opt[SaleID]
	Dismissed Opt[bool]
	Newest    bool // newest first
}

// Offer is a pricing plan with the state of what a sale of it depends on.
type Offer struct {
	Plan           Opt[PricingPlan]
	UserKnown      bool
	UserErased     bool // the user exists but was erased
	CourseArchived bool // the course that the plan sells is archived
}
