package lyceum

import "time"

// Role is what a user is in a school. Besides the four below a school may
// name roles of its own.
type Role string

// The roles every school has.
const (
	Student   Role = "student"
	Owner     Role = "owner"
	Author    Role = "author"
	Affiliate Role = "affiliate"
)

// User is a person known to a school.
type User struct {
	ID           UserID
	Email        string // as written by the person; unique in the school whatever its case
	Name         Opt[string]
	Role         Role
	Src          Opt[string] // where the person signed up
	PasswordHash Opt[string] // PHC string; absent: cannot sign in with a password
	CreatedAt    time.Time
	DisabledAt   Opt[time.Time] // present: cannot sign in, and apps cannot act for them
}

// Course is a product that learners work through.
type Course struct {
	ID          CourseID
	Name        string
	Heading     Opt[string]
	Description Opt[string]
	IsPublished bool
	ImageURL    Opt[string]
	CreatedAt   time.Time
}

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
	BillingInterval      Opt[string] // week, month or year
	BillingIntervalCount Opt[int32]
	CreatedAt            time.Time
	UpdatedAt            time.Time
}

// Coupon lowers a price. One that is known from transactions alone has no code.
type Coupon struct {
	ID   CouponID
	Code Opt[string]
}

// AffiliatePartner is paid for bringing a buyer. One that is known from
// transactions alone has no name.
type AffiliatePartner struct {
	ID   AffiliateID
	Name Opt[string]
}

// AuthorProfile is paid for a product. One that is known from transactions
// alone has no name.
type AuthorProfile struct {
	ID   AuthorID
	Name Opt[string]
}
