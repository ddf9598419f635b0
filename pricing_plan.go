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

// PricingPlan is one way to pay for a product: a course or another product. The product of a
// plan known only from transactions is unknown.
type PricingPlan struct {
	ID                   PricingPlanID
	CourseID             Opt[CourseID]
	Other                Opt[Product] // the product, if it is not a course
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
	AccessLimitDuration  Opt[int32]  // number of those intervals
	CreatedAt            time.Time
	UpdatedAt            time.Time

	Payments            Opt[int32] // total number, for a payment plan
	Published           Opt[bool]  // false: archived; absent: published
	Position            Opt[int32] // among the plans of its product
	DetailedDescription Opt[string]
	StatementText       Opt[string]    // text on the buyer's card statement
	CapExpiresAt        Opt[time.Time] // when the offer ends
	CapPriority         Opt[string]    // what a page shows first of the cap
	CapVisible          Opt[bool]
	AuthorShare         Opt[float64] // of the price, from 0 to 1
	EarlierTerms        Opt[EarlierTerms]
}

// PricingPlanFilter narrows and orders pricing plans; absent fields match everything.
type PricingPlanFilter struct {
	OfCourses bool // only plans that sell a course
	Product   Opt[Product]
	Published Opt[bool]
	Order     CourseOrder // by id, creation or last update
}

// Archived reports whether the plan is no longer sold.
func (p *PricingPlan) Archived() bool { return p.Published == Some(false) }

// Product returns what the plan sells, if known.
func (p *PricingPlan) Product() Opt[Product] {
	if p.CourseID.Present {
		return Some(Product{CourseKind, int32(p.CourseID.Value)})
	}
	return p.Other
}

// Recurring reports whether the plan charges repeatedly.
func (p *PricingPlan) Recurring() bool {
	return p.Frequency == Subscription || p.Frequency == PaymentPlan
}

// Problems returns the fields of the plan that contradict each other.
func (p *PricingPlan) Problems() (wrong []FieldError) {
	refuse := func(field, message string) { wrong = append(wrong, FieldError{Field: field, Message: message}) }
	if p.Frequency == Free && p.Price != 0 {
		refuse("price", "must be 0 when frequency is free")
	}
	if p.Recurring() && !p.BillingInterval.Present {
		refuse("billing_interval", "is required when frequency is subscription or payment_plan")
	}
	if p.Frequency == PaymentPlan && !p.Payments.Present {
		refuse("num_payments_required", "is required when frequency is payment_plan")
	}
	if p.Frequency != PaymentPlan && p.Payments.Present {
		refuse("num_payments_required", "must be null unless frequency is payment_plan")
	}
	if p.AccessLimitInterval.Present != p.AccessLimitDuration.Present {
		refuse("access_limit_duration", "must be used together with access_limit_interval")
	}
	if p.AccessLimitDate.Present && p.AccessLimitDuration.Present {
		refuse("access_limit_date", "must not be used together with access_limit_duration")
	}
	return wrong
}
