package lyceum

// PaymentMethod is how a purchase was paid (contract/v2.yaml, Purchase).
type PaymentMethod string

// The payment methods of the contract.
const (
	ByStripe            PaymentMethod = "stripe"
	ByPaypal            PaymentMethod = "paypal"
	ForFree             PaymentMethod = "free"
	ByCoupon            PaymentMethod = "coupon" // which made it free
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

// Means is how something was paid, as far as the program that recorded it said so.
type Means struct {
	Method  Opt[PaymentMethod]
	Gateway Opt[string] // the payment system
}

// PaidBy returns how the sale was paid. If the program that recorded it did not say
// so, one that cost nothing was free, or a coupon made it so, and any other one was
// paid outside.
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

// PaymentGateway returns through what the sale was paid, in the words of PaidBy if the
// program that recorded it named nothing.
func (s *Sale) PaymentGateway() string { return s.Gateway.Else(string(s.PaidBy())) }

// PurchaseFilter narrows purchases; an absent part holds always.
type PurchaseFilter struct {
	User      Opt[UserID]
	Purchased Period // of PurchasedAt
	Kind      Opt[ProductKind]
	Product   Opt[int32] // of Kind
	Method    Opt[PaymentMethod]
	Active    Opt[bool]
	Recurring Opt[bool]
}
