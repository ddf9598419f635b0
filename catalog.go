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
