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
	LastSignInAt Opt[time.Time]
	LastSignInIP Opt[string]
	// MustChangePassword: the password lets them choose another one and nothing
	// else.
	MustChangePassword bool
}

// UserFilter narrows users; an absent part holds always.
type UserFilter struct {
	Email Opt[string] // whatever its case
	After Opt[UserID] // ids above this one
}

// UserListing is a page of users by ascending id and the exact total. With
// After the total is that of the school, and More tells whether users come
// after the page.
type UserListing struct {
	Page  Page
	Total int64
	More  bool
	Users []User
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
	UpdatedAt   time.Time
	AuthorID    Opt[AuthorID] // whose bio the course shows
	IsListed    bool
	// LectureOrder: a lecture can be completed only after all published ones
	// before it.
	LectureOrder bool
	// Certificate: who completes the course gets one, made from this page.
	Certificate Opt[int32]
}

// CourseFilter narrows courses; an absent part holds always.
type CourseFilter struct {
	Name        Opt[string] // a part of the name, whatever its case
	Search      Opt[string] // a part of the name or of the description, whatever its case
	IsPublished Opt[bool]
	IsListed    Opt[bool]
	AuthorID    Opt[AuthorID]
	Created     Period
	// EnrolledUser: only courses that this user is actively enrolled in at
	// EnrolledAt.
	EnrolledUser Opt[UserID]
	EnrolledAt   time.Time
	Order        CourseOrder
}

// CourseOrder is the order of a list of courses. Ties are broken by id, in the
// same direction.
type CourseOrder struct {
	By         CourseKey
	Descending bool
}

// CourseKey is what courses are ordered by.
type CourseKey uint8

// The keys of courses.
const (
	CourseByID CourseKey = iota
	CourseByName
	CourseByCreated
	CourseByUpdated
)

// CourseListing is a page of courses and the exact total.
type CourseListing struct {
	Page    Page
	Total   int64
	Courses []Course
}

// PricingPlanListing is a page of pricing plans by ascending id and the exact
// total.
type PricingPlanListing struct {
	Page         Page
	Total        int64
	PricingPlans []PricingPlan
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

// AuthorProfile is who a course is by and who is paid for a product. One that
// is known from transactions alone has no name.
type AuthorProfile struct {
	ID              AuthorID
	Name            Opt[string]
	Bio             Opt[string] // HTML
	ProfileImageURL Opt[string]
	UserID          Opt[UserID]
}
