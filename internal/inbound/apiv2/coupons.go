package apiv2

import (
	"math"
	"strconv"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) coupons() []wire.Operation {
	const all, each = "/v2/products/coupons", "/v2/products/coupons/{coupon_id}"
	l := f.learning
	return []wire.Operation{
		many("listProductCoupons", all, perPage, bindCoupons, l.ScopedCoupons, coupon),
		one("createProductCoupon", wire.Create, all, bindNewCoupon, l.CreateScopedCoupon, coupon),
		one("showProductCoupon", wire.Get, each, byCoupon, l.ScopedCoupon, coupon),
		one("updateProductCoupon", wire.Patch, each, bindCouponChange, l.UpdateScopedCoupon, coupon),
		wire.None("deleteProductCoupon", wire.Delete, each, byCoupon, l.RetireCoupon),
	}
}

// maxMonths is the maximum duration of a repeating coupon (contract/v2/coupons.yaml).
const maxMonths = 1200

var byCoupon = wire.ByID[lyceum.CouponID]("coupon_id")

func bindCoupons(in *wire.Input) lyceum.CouponFilter {
	q := lyceum.CouponFilter{
		Plan:    wire.ID[lyceum.PricingPlanID](in.Query("pricing_plan_id")),
		Created: wire.Period(in.Query("created_after"), in.Query("created_before")),
		Order:   bindOrder(in, "created_at", "updated_at"),
	}
	if published := in.Query("is_published").Bool(); published.Present {
		q.IsArchived = lyceum.Some(!published.Value)
	}
	kind := wire.OneOf(in.Query("product_type"), lyceum.CouponWords()...)
	id := wire.ID[int32](in.Query("product_id"))
	switch {
	case kind.Present && id.Present:
		q.Product = lyceum.Some(lyceum.Product{Kind: lyceum.KindOfCoupon(kind.Value), ID: id.Value})
	case kind.Present && !sent(in, "product_id"):
		in.Query("product_id").Refuse("is required when product_type is used")
	case id.Present && !sent(in, "product_type"):
		in.Query("product_type").Refuse("is required when product_id is used")
	}
	q.OfKinds = !q.Plan.Present && !q.Product.Present
	return q
}

// sent reports whether the query has a parameter, even an invalid one.
func sent(in *wire.Input, name string) bool {
	return in.Query(name).Text(0, wire.Unbounded).Present
}

func bindNewCoupon(in *wire.Input) learning.CouponChange {
	b, q := in.Body, bindCoupon(in)
	q.Code = b("code").Required().Text(1, lyceum.MaxCouponCode)
	q.Name = lyceum.Some(b("name").Required().Text(1, lyceum.MaxShopName))
	q.Percent = lyceum.Some(b("discount_percent").Fraction(0))
	q.Amount = lyceum.Some(wire.Amount[lyceum.Minor](b("discount_amount"), 1))
	q.Currency = lyceum.Some(wire.Parsed(b("discount_currency"), lyceum.ParseCurrency))
	q.Duration = wire.OneOf(b("duration_kind").Required(), lyceum.ForForever, lyceum.ForOnce, lyceum.ForMonths)
	q.Months = lyceum.Some(wire.Int[int32](b("discount_in_months"), 1, maxMonths))
	q.Scope = lyceum.Some(wire.OneOfOrNull(b("scope_type"), lyceum.CouponScopes()...))
	q.Plan = lyceum.Some(wire.ID[lyceum.PricingPlanID](b("pricing_plan_id")))
	kind := wire.OneOfOrNull(b("product_type"), lyceum.CouponWords()...)
	id := wire.ID[int32](b("product_id"))
	q.Product = lyceum.Some(lyceum.Opt[lyceum.Product]{
		Value:   lyceum.Product{Kind: lyceum.KindOfCoupon(kind.Value), ID: id.Value},
		Present: kind.Present || id.Present, // a kind without an id, or the reverse, is rejected
	})
	return q
}

func bindCouponChange(in *wire.Input) learning.CouponChange {
	q := bindCoupon(in)
	q.ID = byCoupon(in)
	if name := in.Body("name").Text(1, lyceum.MaxShopName); name.Present {
		q.Name = lyceum.Some(name)
	}
	return q
}

// bindCoupon binds the members that creating and updating a coupon share.
func bindCoupon(in *wire.Input) learning.CouponChange {
	b := in.Body
	return learning.CouponChange{
		Available:  wire.Nullable(b("number_available"), wire.Amount[int32](b("number_available"), 1)),
		ExpiresAt:  wire.Nullable(b("expiration_date"), b("expiration_date").Time()),
		CapVisible: b("cap_visible").Bool(),
		Priority:   wire.OneOfOrNull(b("display_priority"), lyceum.ShowTime, lyceum.ShowUses),
	}
}

func coupon(c learning.ScopedCoupon) gen.Coupon {
	uses, shown := int32(c.Uses), gen.Coupon{
		ID: int32(c.ID), Code: c.Code.Value, Name: c.Name.Value, DiscountPercent: wire.Optional(c.Percent),
		DiscountCurrency: currency(c.Currency), DiscountInMonths: wire.Number(c.Months),
		NumberAvailable: wire.Number(c.Available), ExpirationDate: wire.OptMoment(c.ExpiresAt),
		FormattedDiscount: discount(&c.Coupon), Currency: currency(c.Currency),
		DurationKind: string(c.Duration.Else(lyceum.ForOnce)), CapVisible: &c.CapVisible,
		DisplayPriority: string(c.Priority.Else(lyceum.ShowTime)), FriendlyURL: wire.Optional(c.FriendlyURL),
	}
	shown.NumberOfUses = &uses
	if c.Amount.Present {
		amount := int32(c.Amount.Value)
		shown.DiscountAmount = &amount
	}
	if c.Scope.Present {
		scope := string(c.Scope.Value)
		shown.ScopeType = &scope
	}
	if plan := c.For.Value; c.For.Present {
		lowered, _ := c.Lower(plan.Price, plan.Currency)
		price, recurring, published := lowered.Text(plan.Currency), plan.Recurring(), !plan.Archived()
		shown.FormattedPrice, shown.Currency = &price, currency(lyceum.Some(plan.Currency))
		full := plan.Price.Text(plan.Currency)
		shown.Product = &gen.CouponProduct{
			ID: int32(plan.ID), Name: &plan.Name, IsRecurring: &recurring, FormattedPrice: &full, IsPublished: &published,
		}
	}
	if p := c.Product.Value; c.Product.Present {
		shown.Product = &gen.CouponProduct{ID: p.Product.ID, Name: &p.Name, IsPublished: &p.IsPublished}
	}
	return shown
}

func currency(c lyceum.Opt[lyceum.Currency]) *string {
	return wire.Optional(lyceum.Opt[string]{Value: string(c.Value), Present: c.Present})
}

// discount returns the discount of a coupon in human-readable form, or nil if it has none.
func discount(c *lyceum.Coupon) *string {
	text := ""
	switch {
	case c.Percent.Present:
		text = strconv.FormatFloat(math.Round(c.Percent.Value*1e6)/1e4, 'f', -1, 64) + "%"
	case c.Amount.Present:
		text = c.Amount.Value.Text(c.Currency.Value)
	default:
		return nil
	}
	return &text
}
