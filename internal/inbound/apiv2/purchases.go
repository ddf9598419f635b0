package apiv2

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

const purchasesPath = "/v2/purchases"

func (f *Face) purchases() []wire.Operation {
	return []wire.Operation{
		many("listPurchases", purchasesPath, 25, bindPurchases, f.sales.Purchases, purchase),
		one("showPurchase", wire.Get, purchasesPath+"/{purchase_id}", bindPurchase, f.sales.Purchase, purchase),
		many("listUserPurchases", "/v2/users/{user_id}/purchases", 25, bindUserPurchases, f.sales.PurchasesOf, purchase),
	}
}

func bindPurchase(in *wire.Input) sales.PurchaseQuery {
	return sales.PurchaseQuery{
		Sale: wire.PathID[lyceum.SaleID](in, "purchase_id"), User: wire.AnyInt[lyceum.UserID](in.Query("user_id")),
	}
}

func bindUserPurchases(in *wire.Input) lyceum.PurchaseFilter {
	f := bindPurchases(in)
	f.User = lyceum.Some(wire.PathID[lyceum.UserID](in, "user_id"))
	return f
}

func bindPurchases(in *wire.Input) lyceum.PurchaseFilter {
	f := lyceum.PurchaseFilter{
		Purchased: wire.Period(in.Query("purchased_after"), in.Query("purchased_before")),
		Product:   wire.AnyInt[int32](in.Query("product_id")),
		Method:    wire.OneOf(in.Query("payment_method"), lyceum.PaymentMethods()...),
		Active:    in.Query("is_active").Bool(),
		Recurring: in.Query("is_recurring").Bool(),
	}
	var words []string
	kinds := map[string]lyceum.ProductKind{}
	for _, kind := range lyceum.ProductKinds() {
		words = append(words, kind.Purchase())
		kinds[kind.Purchase()] = kind
	}
	word := wire.OneOf(in.Query("product_type"), words...)
	f.Kind = lyceum.Opt[lyceum.ProductKind]{Value: kinds[word.Value], Present: word.Present}
	if f.Product.Present && !sent(in, "product_type") {
		in.Query("product_id").Refuse("must be sent together with product_type")
	}
	return f
}

func purchase(p sales.Purchase) gen.Purchase {
	shown := gen.Purchase{
		ID: int32(p.ID), Pricing: planReference(&p.Plan), Product: purchasedProduct(p.Plan.Product().Value),
		Coupon: couponReference(p.CouponID), PaymentMethod: string(p.PaidBy()),
		Currency: string(p.Currency.Else(p.Plan.Currency)), IsRecurring: p.Plan.Recurring(), IsActive: p.Active,
		PurchasedAt: wire.Moment(p.PurchasedAt), CreatedAt: wire.Moment(p.CreatedAt), UpdatedAt: wire.Moment(p.UpdatedAt),
		FinalPrice: int64(p.FinalPrice.Else(p.Plan.Price)),
	}
	if p.Plan.Recurring() {
		shown.BillingInterval = wire.Optional(p.Plan.BillingInterval)
		shown.BillingIntervalCount = wire.Optional(p.Plan.BillingIntervalCount)
	}
	return shown
}

// productPaths are the paths at which products are shown, by kind: those of the Lyceum API for
// the kinds that v2 does not show.
var productPaths = map[lyceum.ProductKind]string{
	lyceum.CourseKind:     "/v2/products/courses",
	lyceum.DownloadKind:   "/v2/products/digital-downloads",
	lyceum.CollectionKind: "/v2/products/product-collections",
	lyceum.TierKind:       "/lyceum/v1/membership_tiers",
	lyceum.CoachingKind:   "/lyceum/v1/coaching",
}

// purchasedProduct refers to the purchased product. It is empty for a plan that is known
// only from transactions.
func purchasedProduct(p lyceum.Product) gen.PurchasedProduct {
	if !p.Kind.Known() {
		return gen.PurchasedProduct{}
	}
	to := reference(productPaths[p.Kind], p.ID)
	return gen.PurchasedProduct{ID: to.ID, Type: p.Kind.Purchase(), Href: to.Href}
}
