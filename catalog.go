package lyceum

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
