package apilyceum

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) pricingPlans() []wire.Operation {
	const all, each, name = "/lyceum/v1/pricing_plans", "/lyceum/v1/pricing_plans/{pricing_plan_id}", "pricing_plan"
	l := f.Learning
	return []wire.Operation{
		wire.Many("listPricingPlans", all, perPage, bindPlans, l.PricingPlans, "pricing_plans", pricingPlan),
		one("createPricingPlan", wire.Create, all, bindNewPlan, l.CreatePricingPlan, name, pricingPlan).Long(),
		one("showPricingPlan", wire.Get, each, byPlan, l.PricingPlan, name, pricingPlan),
		one("updatePricingPlan", wire.Patch, each, bindPlanChange, l.UpdatePricingPlan, name, pricingPlan).Long(),
		one("archivePricingPlan", wire.Run, each+"/archive", wire.NoBody(byPlan), l.ArchivePricingPlan, name, pricingPlan),
	}
}

var byPlan = wire.ByID[lyceum.PricingPlanID]("pricing_plan_id")

func bindPlans(in *wire.Input) lyceum.PricingPlanFilter {
	kind := wire.OneOf(in.Query("product_type"), lyceum.ProductKinds()...)
	return lyceum.PricingPlanFilter{
		Product: pairOf(kind, in.Query), Published: in.Query("is_published").Bool(),
	}
}

func bindNewPlan(in *wire.Input) learning.PricingPlanChange {
	for _, name := range []string{"name", "price", "currency", "product_type", "product_id"} {
		if !in.Body(name).Given() || in.Body(name).Null() {
			in.Refuse(name, "is required")
		}
	}
	return bindPlan(in)
}

func bindPlanChange(in *wire.Input) learning.PricingPlanChange {
	q := bindPlan(in)
	q.ID = byPlan(in)
	return q
}

func bindPlan(in *wire.Input) learning.PricingPlanChange {
	b := in.Body
	kind := wire.OneOf(b("product_type"), lyceum.ProductKinds()...)
	return learning.PricingPlanChange{
		Product:  pairOf(kind, b),
		Name:     b("name").Text(1, lyceum.MaxShopName),
		Price:    wire.Amount[lyceum.Minor](b("price"), 0),
		Currency: wire.Parsed(b("currency"), lyceum.ParseCurrency),
		Frequency: wire.OneOf(
			b("frequency"), lyceum.Free, lyceum.OneTimePayment, lyceum.Subscription, lyceum.PaymentPlan,
		),
		BillingInterval:      bindInterval(b("billing_interval")),
		BillingIntervalCount: bindCount(b("billing_interval_count"), 1, maxInterval),
		Payments:             wire.Nullable(b("num_payments_required"), wire.Amount[int32](b("num_payments_required"), 1)),
		FreeTrialLength:      bindCount(b("free_trial_length"), 0, maxDays),
		Description:          bindText(in, "description", maxDescription),
		DetailedDescription:  bindText(in, "detailed_description", maxDescription),
		StatementText:        bindText(in, "cc_statement_description", lyceum.MaxShopName),
		AccessLimitDate:      wire.Nullable(b("access_limit_date"), b("access_limit_date").Time()),
		AccessLimitInterval:  bindInterval(b("access_limit_interval")),
		AccessLimitDuration:  bindCount(b("access_limit_duration"), 1, maxDays),
		EnrollmentCap:        wire.Nullable(b("enrollment_cap"), wire.Amount[int32](b("enrollment_cap"), 0)),
		CapExpiresAt:         wire.Nullable(b("enrollment_cap_expires_at"), b("enrollment_cap_expires_at").Time()),
		CapPriority:          bindText(in, "enrollment_cap_display_priority", lyceum.MaxShopName),
		CapVisible:           b("enrollment_cap_visible").Bool(),
		AuthorShare:          wire.Nullable(b("author_revenue_share"), b("author_revenue_share").Fraction(0)),
		Published:            b("is_published").Bool(),
		Position:             wire.Amount[int32](b("position"), 0),
	}
}

func bindInterval(f wire.Field) lyceum.Opt[lyceum.Opt[string]] {
	return wire.Nullable(f, wire.OneOfOrNull(f, "day", "week", "month", "year"))
}

func bindCount(f wire.Field, least, most int32) lyceum.Opt[lyceum.Opt[int32]] {
	return wire.Nullable(f, wire.Int(f, least, most))
}

func pricingPlan(p learning.SoldPlan) gen.PricingPlan {
	kind, id := product(p.Product())
	return gen.PricingPlan{
		ID: int32(p.ID), ProductType: (*gen.PricingPlanProductType)(kind), ProductID: id, CourseID: wire.Number(p.CourseID),
		Name: p.Name, Price: int32(p.Price), Currency: string(p.Currency),
		Frequency:            gen.PricingPlanFrequency(p.Frequency),
		BillingInterval:      (*gen.PricingPlanBillingInterval)(text(p.BillingInterval)),
		BillingIntervalCount: wire.Number(p.BillingIntervalCount), NumPaymentsRequired: wire.Number(p.Payments),
		FreeTrialLength: wire.Number(p.FreeTrialLength), Description: wire.Optional(p.Description),
		DetailedDescription:    wire.Optional(p.DetailedDescription),
		CcStatementDescription: wire.Optional(p.StatementText), AccessLimitDate: wire.OptMoment(p.AccessLimitDate),
		AccessLimitInterval: (*gen.PricingPlanAccessLimitInterval)(text(p.AccessLimitInterval)),
		AccessLimitDuration: wire.Number(p.AccessLimitDuration), EnrollmentCap: wire.Number(p.EnrollmentCap),
		EnrollmentCapFulfillmentCount: int32(p.Seats), EnrollmentCapExpiresAt: wire.OptMoment(p.CapExpiresAt),
		EnrollmentCapDisplayPriority: wire.Optional(p.CapPriority), EnrollmentCapVisible: p.CapVisible.Value,
		AuthorRevenueShare: wire.Optional(p.AuthorShare), IsPublished: !p.Archived(), Position: p.Position.Value,
		CreatedAt: wire.Moment(p.CreatedAt), UpdatedAt: wire.Moment(p.UpdatedAt),
	}
}
