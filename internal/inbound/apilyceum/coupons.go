package apilyceum

import (
	"regexp"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) coupons() []wire.Operation {
	const all, each, name = "/lyceum/v1/coupons", "/lyceum/v1/coupons/{coupon_id}", "coupon"
	l := f.Learning
	return []wire.Operation{
		wire.Many("listCoupons", all, perPage, bindCoupons, l.Coupons, "coupons", coupon),
		one("createCoupon", wire.Create, all, bindNewCoupon, l.CreateCoupon, name, coupon),
		one("showCoupon", wire.Get, each, byCoupon, l.Coupon, name, coupon),
		one("updateCoupon", wire.Patch, each, bindCouponChange, l.UpdateCoupon, name, coupon),
		one("archiveCoupon", wire.Run, each+"/archive", wire.NoBody(byCoupon), l.ArchiveCoupon, name, coupon),
	}
}

// The limits of coupons, plans and orders (contract/lyceum/coupons.yaml and others):
// strings in characters, times in their own unit.
const (
	maxFriendlyURL = 100
	maxMonths      = 1200
	maxCookieDays  = 3650
	maxInterval    = 1000
	maxDays        = 36_500
	leastPercent   = 0.0001
)

var byCoupon = wire.ByID[lyceum.CouponID]("coupon_id")

func bindCoupons(in *wire.Input) lyceum.CouponFilter {
	return lyceum.CouponFilter{
		Code: in.Query("code").Text(1, wire.Unbounded), IsArchived: in.Query("is_archived").Bool(),
	}
}

func bindNewCoupon(in *wire.Input) learning.CouponChange {
	return bindCoupon(in, in.Body("code").Required())
}

func bindCouponChange(in *wire.Input) learning.CouponChange {
	q := bindCoupon(in, in.Body("code"))
	q.ID = byCoupon(in)
	return q
}

func bindCoupon(in *wire.Input, code wire.Field) learning.CouponChange {
	b := in.Body
	return learning.CouponChange{
		Code:       code.Text(1, lyceum.MaxCouponCode),
		Name:       bindText(in, "name", lyceum.MaxShopName),
		Percent:    wire.Nullable(b("discount_percent"), b("discount_percent").Fraction(leastPercent)),
		Amount:     wire.Nullable(b("discount_amount"), wire.Amount[lyceum.Minor](b("discount_amount"), 1)),
		Currency:   wire.Nullable(b("discount_currency"), wire.Parsed(b("discount_currency"), lyceum.ParseCurrency)),
		Duration:   wire.OneOf(b("duration_kind"), lyceum.ForOnce, lyceum.ForMonths, lyceum.ForForever),
		Months:     wire.Nullable(b("discount_in_months"), wire.Int[int32](b("discount_in_months"), 1, maxMonths)),
		Available:  wire.Nullable(b("number_available"), wire.Amount[int32](b("number_available"), 1)),
		ExpiresAt:  wire.Nullable(b("expiration_date"), b("expiration_date").Time()),
		Scope:      wire.Nullable(b("scope_type"), wire.OneOfOrNull(b("scope_type"), lyceum.CouponScopes()...)),
		Product:    bindCouponProduct(in),
		Plan:       wire.Nullable(b("pricing_plan_id"), wire.ID[lyceum.PricingPlanID](b("pricing_plan_id"))),
		CapVisible: b("cap_visible").Bool(),
		Priority:   wire.OneOf(b("display_priority"), lyceum.ShowTime, lyceum.ShowUses),
		FriendlyURL: wire.Nullable(b("friendly_url"), wire.Parsed(b("friendly_url"), func(s string) (string, error) {
			if len(s) > maxFriendlyURL || !friendly.MatchString(s) {
				return "", lyceum.Invalidf("must be letters, digits, - and _, of at most %d characters", maxFriendlyURL)
			}
			return s, nil
		})),
	}
}

var friendly = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// bindCouponProduct binds the two members that name a product together. A null in either of them
// removes the product.
func bindCouponProduct(in *wire.Input) lyceum.Opt[lyceum.Opt[lyceum.Product]] {
	kind := wire.OneOfOrNull(in.Body("product_type"), lyceum.CouponWords()...)
	product := pairOf(kind, in.Body)
	if product.Present {
		product.Value.Kind = lyceum.KindOfCoupon(kind.Value)
	}
	return lyceum.Opt[lyceum.Opt[lyceum.Product]]{
		Value: product, Present: in.Body("product_type").Given() || in.Body("product_id").Given(),
	}
}

// pairOf binds product_id and pairs it with the kind of the product. Neither is allowed without
// the other.
func pairOf[K ~string](kind lyceum.Opt[K], field func(string) wire.Field) lyceum.Opt[lyceum.Product] {
	id := wire.ID[int32](field("product_id"))
	switch {
	case kind.Present && !id.Present:
		field("product_id").Refuse("is required when product_type is used")
	case id.Present && !kind.Present:
		field("product_type").Refuse("is required when product_id is used")
	}
	return lyceum.Opt[lyceum.Product]{
		Value: lyceum.Product{Kind: lyceum.ProductKind(kind.Value), ID: id.Value}, Present: kind.Present && id.Present,
	}
}

func coupon(c learning.UsedCoupon) gen.Coupon {
	kind, id := product(c.Product)
	return gen.Coupon{
		ID: int32(c.ID), Code: wire.Optional(c.Code), Name: wire.Optional(c.Name),
		DiscountPercent: wire.Optional(c.Percent), DiscountAmount: amount(c.Amount),
		DiscountCurrency: text(c.Currency), DurationKind: (*gen.CouponDurationKind)(text(c.Duration)),
		DiscountInMonths: wire.Number(c.Months), NumberAvailable: wire.Number(c.Available), NumberOfUses: int32(c.Uses),
		ExpirationDate: wire.OptMoment(c.ExpiresAt), ScopeType: (*gen.CouponScopeType)(text(c.Scope)),
		ProductType: (*gen.CouponProductType)(kind), ProductID: id, PricingPlanID: wire.Number(c.Plan),
		CapVisible: c.CapVisible, DisplayPriority: (*gen.CouponDisplayPriority)(text(c.Priority)),
		FriendlyURL: wire.Optional(c.FriendlyURL), CreatedAt: wire.OptMoment(c.CreatedAt),
		UpdatedAt: wire.OptMoment(c.UpdatedAt), ArchivedAt: wire.OptMoment(c.ArchivedAt),
	}
}

// product returns the kind and the id of a product, nil if there is none.
func product(p lyceum.Opt[lyceum.Product]) (kind *string, id *int32) {
	if !p.Present {
		return nil, nil
	}
	word := string(p.Value.Kind)
	return &word, &p.Value.ID
}
