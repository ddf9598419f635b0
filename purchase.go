package lyceum

// PaymentMethod is how a purchase was paid (contract/v2.yaml, Purchase).
type PaymentMethod string

// The payment methods of the contract.
const (
	ByStripe            PaymentMethod = "stripe"
	ByPaypal            PaymentMethod = "paypal"
	ForFree             PaymentMethod = "free"
	ByCoupon            PaymentMethod = "coupon" // a coupon made it free
	ByExternal          PaymentMethod = "external"
	ByAdmin             PaymentMethod = "admin"
	ByMultiSchoolBundle PaymentMethod = "multi_school_bundle"
	ByVoucher           PaymentMethod = "voucher"
	ByExternalAPI       PaymentMethod = "external-api"
)

// PaymentMethods lists every payment method.
func PaymentMethods() []PaymentMethod {
	return []PaymentMethod{
		ByStripe, ByPaypal, ForFree, ByCoupon, ByExternal, ByAdmin, ByMultiSchoolBundle, ByVoucher, ByExternalAPI,
	}
}

// Means is how something was paid, as far as the program that recorded it said.
type Means struct {
	Method  Opt[PaymentMethod]
	Gateway Opt[string] // the payment system
}

// PaidBy returns how the sale was paid. If the program that recorded it did not say, a sale
// that cost nothing was free, or free by a coupon, and any other sale was paid externally.
func (s *Sale) PaidBy() PaymentMethod {
	switch {
	case s.Method.Present:
		return s.Method.Value
	case s.FinalPrice != Some[Minor](0):
		return ByExternal
	case s.CouponID.Present:
		return ByCoupon
	}
	return ForFree
}

// PaymentGateway returns the payment system of the sale, or the result of PaidBy if the program
// that recorded it did not name one.
func (s *Sale) PaymentGateway() string { return s.Gateway.Else(string(s.PaidBy())) }

// PurchaseFilter narrows purchases; absent fields match everything.
type PurchaseFilter struct {
	User      Opt[UserID]
	Purchased Period // by PurchasedAt
	Kind      Opt[ProductKind]
	Product   Opt[int32] // only together with Kind
	Method    Opt[PaymentMethod]
	Active    Opt[bool]
	Recurring Opt[bool]
}
