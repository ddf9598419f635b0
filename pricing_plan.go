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

// PricingPlan is one way of paying for a product. A plan without a course
// sells another kind of product.
type PricingPlan struct {
	ID                   PricingPlanID
	CourseID             Opt[CourseID]
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
