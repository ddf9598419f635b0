package apiv1

import (
	"context"
	"fmt"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// pricingPlansPer is how many pricing plans a page has without per.
const pricingPlansPer = 5

func bindListPricingPlans(in *wire.Input) gen.ListPricingPlansParams {
	return gen.ListPricingPlansParams{Page: in.Int32From("page", 1), Per: in.Int32From("per", 1)}
}

// ListPricingPlans serves GET /v1/pricing_plans.
func (f *Face) ListPricingPlans(ctx context.Context, who wire.Principal, q gen.ListPricingPlansParams) (wire.JSON, error) {
	listing, err := f.learning.PricingPlans(ctx, who.Caller.School, pageOf(q.Page, q.Per, pricingPlansPer))
	if err != nil {
		return wire.JSON{}, err
	}
	list := gen.PricingPlanList{PricingPlans: []gen.PricingPlanSummary{}, Meta: metaOf(listing.Total, listing.Page, len(listing.Rows))}
	for i := range listing.Rows {
		p := &listing.Rows[i]
		price, err := priceOf(p)
		if err != nil {
			return wire.JSON{}, err
		}
		list.PricingPlans = append(list.PricingPlans, gen.PricingPlanSummary{
			ID: int32(p.ID), CreatedAt: wire.Moment(p.CreatedAt), UpdatedAt: wire.Moment(p.UpdatedAt), Name: p.Name, Price: price, Currency: string(p.Currency), CourseID: int32(p.CourseID.Value),
		})
	}
	return wire.JSON{Value: list}, nil
}

// priceOf makes sure that no price is cut to the contract's int32.
func priceOf(p *lyceum.PricingPlan) (int32, error) {
	price := int32(p.Price)
	if int64(price) != int64(p.Price) {
		return 0, fmt.Errorf("pricing plan %d: price %d does not fit the contract's int32", p.ID, p.Price)
	}
	return price, nil
}

func bindPricingPlan(in *wire.Input) lyceum.PricingPlanID {
	return lyceum.PricingPlanID(in.PathID("pricing_plan_id"))
}

// ShowPricingPlan serves GET /v1/pricing_plans/{pricing_plan_id}.
func (f *Face) ShowPricingPlan(ctx context.Context, who wire.Principal, id lyceum.PricingPlanID) (wire.JSON, error) {
	p, err := f.learning.PricingPlan(ctx, who.Caller.School, id)
	if err != nil {
		return wire.JSON{}, err
	}
	price, err := priceOf(&p)
	if err != nil {
		return wire.JSON{}, err
	}
	frequency := gen.PricingPlanFrequency{
		Type: gen.PricingPlanFrequencyType(p.Frequency), BillingInterval: (*gen.PricingPlanFrequencyBillingInterval)(wire.Optional(p.BillingInterval)),
		BillingIntervalCount: wire.Number(p.BillingIntervalCount), AccessLimitDate: wire.OptMoment(p.AccessLimitDate),
		AccessLimitInterval: (*gen.PricingPlanFrequencyAccessLimitInterval)(wire.Optional(p.AccessLimitInterval)), AccessLimitDuration: wire.Number(p.AccessLimitDuration),
	}
	if frequency.BillingInterval == nil { // it stands in for plans that do not recur
		month := gen.PricingPlanFrequencyBillingInterval("month")
		frequency.BillingInterval = &month
	}
	return wire.JSON{Value: gen.OnePricingPlan{PricingPlan: gen.PricingPlanDetail{
		ID: int32(p.ID), CreatedAt: wire.Moment(p.CreatedAt), UpdatedAt: wire.Moment(p.UpdatedAt), Name: p.Name, Price: price, Currency: string(p.Currency), CourseID: int32(p.CourseID.Value),
		Description: wire.Optional(p.Description), FreeTrialLength: wire.Number(p.FreeTrialLength), EnrollmentCap: wire.Number(p.EnrollmentCap), Frequency: frequency,
	}}}, nil
}
