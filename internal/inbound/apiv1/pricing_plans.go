package apiv1

import (
	"cmp"
	"context"
	"fmt"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

func (f *Face) pricingPlans() []wire.Operation {
	const all, each = "/v1/pricing_plans", "/v1/pricing_plans/{pricing_plan_id}"
	return []wire.Operation{
		many("ListPricingPlans", all, pricingPlansPer, wire.Anything, f.listPlans, "pricing_plans", plan),
		one("ShowPricingPlans", wire.Get, each, bindPlan, f.showPlan, "pricing_plan", planDetail),
	}
}

// pricingPlansPer is the page size without per.
const pricingPlansPer = 5

func bindPlan(in *wire.Input) lyceum.PricingPlanID {
	return wire.PathID[lyceum.PricingPlanID](in, "pricing_plan_id")
}

func (f *Face) listPlans(
	ctx context.Context, by lyceum.By, _ struct{}, p lyceum.Page,
) (lyceum.Listing[lyceum.PricingPlan], error) {
	l, err := f.Learning.CoursePlans(ctx, by, p)
	for i := range l.Rows {
		err = cmp.Or(err, priceFits(&l.Rows[i]))
	}
	return l, err
}

func (f *Face) showPlan(ctx context.Context, by lyceum.By, id lyceum.PricingPlanID) (lyceum.PricingPlan, error) {
	p, err := f.Learning.CoursePlan(ctx, by, id)
	return p, cmp.Or(err, priceFits(&p))
}

// priceFits returns an error if the price does not fit the contract's int32.
func priceFits(p *lyceum.PricingPlan) error {
	if int64(p.Price) != int64(int32(p.Price)) {
		return fmt.Errorf("pricing plan %d: price %d does not fit the contract's int32", p.ID, p.Price)
	}
	return nil
}

func plan(p lyceum.PricingPlan) gen.PricingPlanSummary {
	return gen.PricingPlanSummary{
		ID: int32(p.ID), CreatedAt: wire.Moment(p.CreatedAt), UpdatedAt: wire.Moment(p.UpdatedAt), Name: p.Name,
		Price: int32(p.Price), Currency: string(p.Currency), CourseID: int32(p.CourseID.Value),
	}
}

func planDetail(p lyceum.PricingPlan) gen.PricingPlanDetail {
	frequency := gen.PricingPlanFrequency{
		Type:                 gen.PricingPlanFrequencyType(p.Frequency),
		BillingInterval:      (*gen.PricingPlanFrequencyBillingInterval)(wire.Optional(p.BillingInterval)),
		BillingIntervalCount: wire.Number(p.BillingIntervalCount),
		AccessLimitDate:      wire.OptMoment(p.AccessLimitDate),
		AccessLimitInterval:  (*gen.PricingPlanFrequencyAccessLimitInterval)(wire.Optional(p.AccessLimitInterval)),
		AccessLimitDuration:  wire.Number(p.AccessLimitDuration),
	}
	if frequency.BillingInterval == nil { // plans that do not recur have month as a placeholder
		month := gen.PricingPlanFrequencyBillingInterval("month")
		frequency.BillingInterval = &month
	}
	return gen.PricingPlanDetail{
		ID: int32(p.ID), CreatedAt: wire.Moment(p.CreatedAt), UpdatedAt: wire.Moment(p.UpdatedAt), Name: p.Name,
		Price: int32(p.Price), Currency: string(p.Currency), CourseID: int32(p.CourseID.Value),
		Description: wire.Optional(p.Description), FreeTrialLength: wire.Number(p.FreeTrialLength),
		EnrollmentCap: wire.Number(p.EnrollmentCap), Frequency: frequency,
	}
}
