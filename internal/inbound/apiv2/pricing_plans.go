package apiv2

import (
	"cmp"
	"fmt"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) pricingPlans() []wire.Operation {
	const all = "/v2/products/{product_types}/{product_id}/pricing-plans"
	const each = all + "/{pricing_plan_id}"
	l := f.learning
	return []wire.Operation{
		many("listProductPricingPlans", all, perPage, bindPlans, l.PlansOfProduct, pricingPlan),
		one("createProductPricingPlan", wire.Create, all, bindNewPlan, l.CreatePricingPlan, pricingPlan).Long(),
		one("showProductPricingPlan", wire.Get, each, byPlan, l.PlanOfProduct, pricingPlan),
		one("updateProductPricingPlan", wire.Patch, each, bindPlanChange, l.UpdatePricingPlan, pricingPlan).Long(),
		one("deleteProductPricingPlan", wire.Delete, each, bindPlanArchive, l.UpdatePricingPlan, pricingPlan),
	}
}

// The limits of a pricing plan (contract/v2/pricing_plans.yaml).
const (
	maxInterval = 1000
	maxDays     = 36_500
)

// bindProduct binds the product in the path of its pricing plans.
func bindProduct(in *wire.Input) lyceum.Product {
	kinds := map[string]lyceum.ProductKind{}
	words := make([]string, 0, len(lyceum.ProductKinds()))
	for _, kind := range lyceum.ProductKinds() {
		kinds[kind.Path()] = kind
		words = append(words, kind.Path())
	}
	word := wire.PathWord(in, "product_types", words...)
	return lyceum.Product{Kind: kinds[word], ID: wire.PathID[int32](in, "product_id")}
}

func byPlan(in *wire.Input) learning.PlanOf {
	return learning.PlanOf{Product: bindProduct(in), ID: wire.PathID[lyceum.PricingPlanID](in, "pricing_plan_id")}
}

func bindPlans(in *wire.Input) lyceum.PricingPlanFilter {
	return lyceum.PricingPlanFilter{
		Product: lyceum.Some(bindProduct(in)), Published: in.Query("is_published").Bool(),
		Order: bindOrder(in, "created_at", "updated_at"),
	}
}

// bindPlan binds the members that creating and updating a plan share.
func bindPlan(in *wire.Input) learning.PricingPlanChange {
	b := in.Body
	wire.Amount[int32](b("enrollment_cap_fulfillment_count"), 0) // validated only: the seats in use are counted
	return learning.PricingPlanChange{
		Description:         bindText(in, "description", maxDescription),
		DetailedDescription: bindText(in, "detailed_description", maxDescription),
		AccessLimitDate:     wire.Nullable(b("access_limit_date"), b("access_limit_date").Time()),
		AccessLimitInterval: bindInterval(b("access_limit_interval")),
		AccessLimitDuration: bindCount(b("access_limit_duration"), 1, maxDays),
		EnrollmentCap:       wire.Nullable(b("enrollment_cap"), wire.Amount[int32](b("enrollment_cap"), 0)),
		CapExpiresAt:        wire.Nullable(b("enrollment_cap_expires_at"), b("enrollment_cap_expires_at").Time()),
		CapPriority:         bindText(in, "enrollment_cap_display_priority", lyceum.MaxShopName),
		CapVisible:          b("enrollment_cap_visible").Bool(),
		Published:           b("is_published").Bool(),
	}
}

func bindNewPlan(in *wire.Input) learning.PricingPlanChange {
	b, q := in.Body, bindPlan(in)
	product := bindProduct(in)
	q.Product, q.Of = lyceum.Some(product), lyceum.Some(product)
	q.Name = b("name").Required().Text(1, lyceum.MaxShopName)
	q.Currency = wire.Parsed(b("currency").Required(), lyceum.ParseCurrency)
	q.Price = wire.Amount[lyceum.Minor](b("price").Required(), 0)
	q.FreeTrialLength = bindCount(b("free_trial_length"), 0, maxDays)
	q.Position = wire.Amount[int32](b("position"), 0)
	bindBilling(in, &q, product.Kind == lyceum.TierKind)
	return q
}

// bindBilling binds the billing interval. Plans of a membership tier are billed by the
// month or by the year.
func bindBilling(in *wire.Input, q *learning.PricingPlanChange, ofTier bool) {
	b := in.Body
	intervals, most := []string{"day", "week", "month", "year"}, int32(maxInterval)
	if ofTier {
		intervals, most = intervals[2:], 1
	}
	recurring := b("is_recurring").Bool().Value
	var interval lyceum.Opt[string]
	if recurring {
		interval = wire.OneOf(b("billing_interval").Required(), intervals...)
	} else {
		interval = wire.OneOfOrNull(b("billing_interval"), intervals...)
	}
	count := wire.Int(b("billing_interval_count"), 1, most)
	payments := wire.Amount[int32](b("num_payments_required"), 1)
	switch {
	case recurring && payments.Present:
		q.Frequency = lyceum.Some(lyceum.PaymentPlan)
	case recurring:
		q.Frequency = lyceum.Some(lyceum.Subscription)
	case q.Price.Value == 0:
		q.Frequency = lyceum.Some(lyceum.Free)
	default:
		q.Frequency = lyceum.Some(lyceum.OneTimePayment)
	}
	for _, part := range []struct {
		name  string
		given bool
	}{
		{"billing_interval", interval.Present},
		{"billing_interval_count", count.Present},
		{"num_payments_required", payments.Present},
	} {
		if part.given && !recurring {
			in.Refuse(part.name, "must be null unless is_recurring is true")
		}
	}
	q.BillingInterval, q.BillingIntervalCount = lyceum.Some(interval), lyceum.Some(count)
	q.Payments = lyceum.Some(payments)
}

func bindPlanChange(in *wire.Input) learning.PricingPlanChange {
	which, q := byPlan(in), bindPlan(in)
	q.ID, q.Of = which.ID, lyceum.Some(which.Product)
	q.Name = in.Body("name").Text(1, lyceum.MaxShopName)
	q.StatementText = bindText(in, "cc_statement_description", lyceum.MaxShopName)
	return q
}

func bindPlanArchive(in *wire.Input) learning.PricingPlanChange {
	which := byPlan(in)
	return learning.PricingPlanChange{
		ID: which.ID, Of: lyceum.Some(which.Product), Published: lyceum.Some(false),
	}
}

// bindText binds a nullable string.
func bindText(in *wire.Input, name string, most int) lyceum.Opt[lyceum.Opt[string]] {
	return wire.Nullable(in.Body(name), in.Body(name).Text(0, most))
}

func bindInterval(f wire.Field) lyceum.Opt[lyceum.Opt[string]] {
	return wire.Nullable(f, wire.OneOfOrNull(f, "day", "week", "month", "year"))
}

func bindCount(f wire.Field, least, most int32) lyceum.Opt[lyceum.Opt[int32]] {
	return wire.Nullable(f, wire.Int(f, least, most))
}

func pricingPlan(p learning.SoldPlan) gen.PricingPlan {
	each, period := p.Price.Text(p.Currency), planPeriod(&p.PricingPlan)
	return gen.PricingPlan{
		ID: int32(p.ID), FormattedPrice: planPrice(&p.PricingPlan), FormattedPeriodFullWords: wire.Optional(period),
		FormattedPriceNoPeriod: &each, Name: p.Name, Description: wire.Optional(p.Description),
		DetailedDescription: wire.Optional(p.DetailedDescription), BillingInterval: wire.Optional(p.BillingInterval),
		EnrollmentCap: wire.Number(p.EnrollmentCap), EnrollmentCapFulfillmentCount: int32(p.Seats),
		EnrollmentCapVisible: p.CapVisible.Value, EnrollmentCapExpiresAt: wire.OptMoment(p.CapExpiresAt),
		EnrollmentCapDisplayPriority: wire.Optional(p.CapPriority),
		DisplayEnrollmentCap:         p.EnrollmentCap.Present && p.CapVisible.Value,
		Currency:                     string(p.Currency), Position: p.Position.Value, Price: int32(p.Price),
		IsRecurring: p.Recurring(), IsPublished: !p.Archived(), BillingIntervalCount: p.BillingIntervalCount.Else(1),
		AuthorRevenueShare: wire.Optional(p.AuthorShare), NumPaymentsRequired: wire.Number(p.Payments),
		FreeTrialLength: wire.Number(p.FreeTrialLength), AccessLimitDuration: wire.Number(p.AccessLimitDuration),
		AccessLimitInterval: wire.Optional(p.AccessLimitInterval), AccessLimitDate: wire.OptMoment(p.AccessLimitDate),
		Product: product(p.Product().Value), CreatedAt: wire.Moment(p.CreatedAt), UpdatedAt: wire.Moment(p.UpdatedAt),
	}
}

// planPrice returns the price of a plan in human-readable form: "4 × €7.00 every 2 weeks".
func planPrice(p *lyceum.PricingPlan) string {
	price := p.Price.Text(p.Currency)
	if p.Price == 0 {
		return "Free"
	}
	if p.Payments.Present {
		price = fmt.Sprintf("%d × %s", p.Payments.Value, price)
	}
	if period := planPeriod(p); period.Present {
		price += " " + period.Value
	}
	return price
}

// planPeriod returns the billing interval of a plan in human-readable form.
func planPeriod(p *lyceum.PricingPlan) lyceum.Opt[string] {
	unit, n := p.BillingInterval.Value, p.BillingIntervalCount.Else(1)
	switch {
	case !p.Recurring() || unit == "":
		return lyceum.None[string]()
	case n == 1:
		return lyceum.Some("per " + unit)
	}
	return lyceum.Some(fmt.Sprintf("every %d %ss", n, unit))
}

// shownAt has the paths at which the Lyceum API shows products, for the kinds that v2 has no
// operation for.
var shownAt = map[lyceum.ProductKind]string{
	lyceum.TierKind: "/lyceum/v1/membership_tiers", lyceum.CoachingKind: "/lyceum/v1/coaching",
}

// hrefOf returns the path of the operation that shows a product.
func hrefOf(p lyceum.Product) string {
	return fmt.Sprintf("%s/%d", cmp.Or(shownAt[p.Kind], "/v2/products/"+p.Kind.Path()), p.ID)
}

func product(p lyceum.Product) gen.ProductReference {
	return gen.ProductReference{Type: string(p.Kind), ID: p.ID, Href: hrefOf(p)}
}
