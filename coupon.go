package lyceum

import (
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Coupon lowers a price. A coupon known only from transactions has just an id; the rest can be
// added later.
type Coupon struct {
	ID         CouponID
	Code       Opt[string] // case-insensitive; unique among coupons that are not archived
	Name       Opt[string]
	Percent    Opt[float64]  // of the price, more than 0 and at most 1
	Amount     Opt[Minor]    // in Currency
	Currency   Opt[Currency] // present together with Amount
	Duration   Opt[CouponDuration]
	Months     Opt[int32] // of a repeating coupon
	Available  Opt[int32] // how often it can be used in total
	ExpiresAt  Opt[time.Time]
	Scope      Opt[CouponScope] // a kind of product; unknown if Product and Plan are absent too
	Product    Opt[Product]
	Plan       Opt[PricingPlanID]
	CapVisible bool
	Priority   Opt[DisplayPriority]
	// FriendlyURL is the last part of a URL at which the coupon is offered.
	FriendlyURL Opt[string]
	CreatedAt   Opt[time.Time]
	UpdatedAt   Opt[time.Time]
	ArchivedAt  Opt[time.Time]
}

// CouponDuration determines which payments of a sale a coupon lowers.
type CouponDuration string

// The durations of coupons.
const (
	ForOnce    CouponDuration = "once"      // the first payment
	ForMonths  CouponDuration = "repeating" // the payments of the first Months months
	ForForever CouponDuration = "forever"
)

// DisplayPriority is what a page shows first about a coupon or a plan: the time left or the
// number left.
type DisplayPriority string

// The display priorities.
const (
	ShowTime DisplayPriority = "time"
	ShowUses DisplayPriority = "uses"
)

// CouponScope is a kind of product that a coupon applies to, in the contract's words.
type CouponScope string

// The scopes of coupons.
const (
	AllProducts    CouponScope = "all_products"
	AllCourses     CouponScope = "courses"
	AllCollections CouponScope = "product_collections"
	AllBundles     CouponScope = "creator_products"
	AllDownloads   CouponScope = "digital_products"
	AllTiers       CouponScope = "membership_tiers"
)

// CouponScopes lists every scope.
func CouponScopes() []CouponScope {
	return []CouponScope{AllProducts, AllCourses, AllCollections, AllBundles, AllDownloads, AllTiers}
}

// kind returns the kind of the products in the scope, or "" if it includes every kind.
func (s CouponScope) kind() ProductKind {
	return map[CouponScope]ProductKind{
		AllCourses: CourseKind, AllCollections: CollectionKind, AllBundles: CollectionKind, AllDownloads: DownloadKind,
		AllTiers: TierKind,
	}[s]
}

// CouponFilter narrows and orders coupons; absent fields match everything.
type CouponFilter struct {
	Code       Opt[string] // case-insensitive
	Codes      []string    // any of these, case-insensitive
	IsArchived Opt[bool]
	Plan       Opt[PricingPlanID]
	Product    Opt[Product]
	OfKinds    bool // only coupons for a kind of product, or for all products
	Created    Period
	Order      CourseOrder // by id, creation or last update
}

// Fits reports whether the coupon applies to what a plan sells. A coupon of unknown scope
// applies to everything.
func (c *Coupon) Fits(plan *PricingPlan) bool {
	product := plan.Product()
	switch {
	case c.Plan.Present:
		return c.Plan.Value == plan.ID
	case c.Product.Present:
		return c.Product == product
	}
	kind := c.Scope.Value.kind()
	return kind == "" || product.Present && product.Value.Kind == kind
}

// perMillion is the precision of percentages: millionths.
const perMillion = 1_000_000

// Lower returns the price after the coupon is applied, at least 0. Percentages are rounded to
// the nearest unit. It returns false if the new price is unknown because the coupon has no
// discount, or one in another currency.
func (c *Coupon) Lower(price Minor, currency Currency) (Minor, bool) {
	switch {
	case c.Percent.Present:
		part := Minor(math.Round(c.Percent.Value * perMillion))
		return max(0, price-(price*part+perMillion/2)/perMillion), true
	case c.Amount.Present && c.Currency.Value == currency:
		return max(0, price-c.Amount.Value), true
	}
	return price, false
}

// Lowers reports whether the coupon of a sale made at sold lowers a later payment, at the given
// time. Its months are counted in the time zone, as billing periods are.
func (c *Coupon) Lowers(sold, at time.Time, zone *time.Location) bool {
	switch {
	case c.Duration == Some(ForForever):
		return true
	case c.Duration == Some(ForMonths):
		months := Billing{Anchor: sold, Interval: "month", Count: 1, Zone: zone}
		return at.Before(months.Begin(int(c.Months.Value)))
	}
	return false
}

// The maximum lengths of a coupon's texts, in characters.
const (
	MaxCouponCode = 64
	MaxShopName   = 255
)

// Problems returns the fields of the coupon that are invalid or contradict each other.
func (c *Coupon) Problems() (wrong []FieldError) {
	refuse := func(field, message string) { wrong = append(wrong, FieldError{Field: field, Message: message}) }
	if c.Code.Present && !isCode(c.Code.Value) {
		refuse("code", "must be 1 to 64 characters long, without white space")
	}
	switch {
	case c.Percent.Present && c.Amount.Present:
		refuse("discount_amount", "must not be used together with discount_percent")
	case c.Percent.Present && c.Currency.Present:
		refuse("discount_currency", "must not be used together with discount_percent")
	case c.Amount.Present != c.Currency.Present:
		refuse("discount_currency", "must be used together with discount_amount")
	}
	if c.Percent.Present && c.Percent.Value <= 0 || c.Amount.Present && c.Amount.Value <= 0 {
		refuse("discount_percent", "and discount_amount must be more than 0")
	}
	if p := c.Product.Value; c.Product.Present && (p.Kind == "" || p.ID == 0) {
		refuse("product_type", "must be used together with product_id")
	}
	switch repeats := c.Duration == Some(ForMonths); {
	case repeats && !c.Months.Present:
		refuse("discount_in_months", "is required when duration_kind is repeating")
	case !repeats && c.Months.Present:
		refuse("discount_in_months", "must be null unless duration_kind is repeating")
	}
	scopes := 0
	for _, given := range []bool{c.Scope.Present, c.Product.Present, c.Plan.Present} {
		if given {
			scopes++
		}
	}
	if scopes > 1 {
		refuse("scope_type", "must be the only scope: use scope_type, pricing_plan_id, or product_type and product_id")
	}
	return wrong
}

func isCode(code string) bool {
	length := utf8.RuneCountInString(code)
	return IsText(code) && length >= 1 && length <= MaxCouponCode &&
		!strings.ContainsFunc(code, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}
