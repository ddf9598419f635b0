package lyceum

import "time"

// Frequency is how often a pricing plan charges.
type Frequency string

// The frequencies of the contract.
const (
	Free           Frequency = "free"
	OneTimePayment Frequency = "one_time_payment"
	Subscription   Frequency = "subscription"
	PaymentPlan    Frequency = "payment_plan"
)

// PricingPlan is one way of paying for a product: a course, or another one. Of a
// plan that is known from transactions alone the product is unknown.
type PricingPlan struct {
	ID                   PricingPlanID
	CourseID             Opt[CourseID]
	Other                Opt[Product] // what it sells, where that is not a course
	Name                 string
	Price                Minor // in Currency
	Currency             Currency
	Frequency            Frequency
	BillingInterval      Opt[string] // day, week, month or year
	BillingIntervalCount Opt[int32]
	Description          Opt[string]
	FreeTrialLength      Opt[int32] // days
	EnrollmentCap        Opt[int32]
	AccessLimitDate      Opt[time.Time]
	AccessLimitInterval  Opt[string] // day, week, month or year
	AccessLimitDuration  Opt[int32]  // of that interval
	CreatedAt            time.Time
	UpdatedAt            time.Time
}

// PricingPlanFilter narrows pricing plans.
type PricingPlanFilter struct {
	OfCourses bool // only plans that sell a course
}

// Product returns what the plan sells, if that is known.
func (p *PricingPlan) Product() Opt[Product] {
	if p.CourseID.Present {
		return Some(Product{CourseKind, int32(p.CourseID.Value)})
	}
	return p.Other
}

// Recurring reports whether the plan charges again and again.
func (p *PricingPlan) Recurring() bool {
	return p.Frequency == Subscription || p.Frequency == PaymentPlan
}
