package lyceum

import (
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Coupon lowers a price. Of one that is known from transactions alone only the
// id is known; the rest can be added later.
type Coupon struct {
	ID         CouponID
	Code       Opt[string] // unique among those not archived, whatever its case
	Name       Opt[string]
	Percent    Opt[float64]  // of the price, above 0 and at most 1
	Amount     Opt[Minor]    // in Currency
	Currency   Opt[Currency] // present together with Amount
	Duration   Opt[CouponDuration]
	Months     Opt[int32] // of a repeating one
	Available  Opt[int32] // how often it can be used in all
	ExpiresAt  Opt[time.Time]
	Scope      Opt[CouponScope] // a kind of products; absent together with Product and Plan: unknown
	Product    Opt[Product]
	Plan       Opt[PricingPlanID]
	CapVisible bool
	Priority   Opt[DisplayPriority]
	// FriendlyURL is the last part of an address under which it is offered.
	FriendlyURL Opt[string]
	CreatedAt   Opt[time.Time]
	UpdatedAt   Opt[time.Time]
	ArchivedAt  Opt[time.Time]
}

// CouponDuration is how many payments of a sale a coupon lowers.
type CouponDuration string

// The durations of coupons.
const (
	ForOnce    CouponDuration = "once"      // the first
	ForMonths  CouponDuration = "repeating" // those of some months
	ForForever CouponDuration = "forever"
)

// DisplayPriority is what a page shows of a coupon or a plan first: the time or
// the number that is left.
type DisplayPriority string

// The priorities.
const (
	ShowTime DisplayPriority = "time"
	ShowUses DisplayPriority = "uses"
)

// CouponScope is a kind of products that a coupon is for, in the contract's
// words.
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

// kind is that of the products in the scope; empty where it is every kind.
func (s CouponScope) kind() ProductKind {
	return map[CouponScope]ProductKind{
		AllCourses: CourseKind, AllCollections: CollectionKind, AllBundles: CollectionKind, AllDownloads: DownloadKind,
		AllTiers: TierKind,
	}[s]
}

// CouponFilter narrows and orders coupons; an absent part holds always.
type CouponFilter struct {
	Code       Opt[string] // whatever its case
	Codes      []string    // one of them, whatever its case
	IsArchived Opt[bool]
	Plan       Opt[PricingPlanID]
	Product    Opt[Product]
	OfKinds    bool // only those for a kind of products, or for all
	Created    Period
	Order      CourseOrder // by id, created or updated
}

// Fits reports whether the coupon is for what a plan sells. One whose scope is
// unknown is for everything.
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

// perMillion is the exactness of a percent: millionths.
const perMillion = 1_000_000

// Lower returns a price less the coupon, at least 0. A percent is rounded to the
// nearest unit. It reports false where that is unknown: the coupon has no
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

// Lowers reports whether the coupon lowers a payment of a sale at a moment. Its months
// are those of a calendar in a zone, as periods are.
func (c *Coupon) Lowers(sold, at time.Time, zone *time.Location) bool {
	switch {
	case c.Duration == Some(ForForever):
		return true
	case c.Duration == Some(ForMonths):
		months := Billing{Anchor: sold, Interval: "month", Count: 1, Zone: zone}
		return at.Before(months.Begin(int(c.Months.Value)))
	}
	return !at.After(sold)
}

// The bounds of a coupon's texts, in characters.
const (
	MaxCouponCode = 64
	MaxShopName   = 255
)

// Problems says what of a coupon does not go together.
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
