package sales

import (
	"context"

	"github.com/lyceum-school/lyceum"
)

// Outlook is what a change of a sale would do as things stand now.
type Outlook struct {
	Sale lyceum.Sale
	Plan lyceum.PricingPlan
	// EndsSale: the sale would end; Access is what that does to the access that
	// its learner has.
	EndsSale bool
	Access   lyceum.Consequence
}

// ForeseeCancel tells what Cancel would do, and refuses what it would refuse.
func (s *Service) ForeseeCancel(ctx context.Context, by lyceum.By, id lyceum.SaleID) (Outlook, error) {
	v := s.store.In(ctx, by.School)
	sale, err := v.Sales.Get(v, id)
	if err != nil {
		return Outlook{}, err
	}
	o, policy, err := s.outlook(ctx, by, sale)
	if err != nil {
		return o, err
	}
	if err := recurring(&o.Sale, &o.Plan); err != nil {
		return o, err
	}
	o.EndsSale, o.Access = true, effect(s.clock(), &o.Sale, &o.Plan, policy.OnCancellation)
	return o, nil
}

// outlook gives a sale with its plan and the school's policy; nothing ends yet.
func (s *Service) outlook(
	ctx context.Context, by lyceum.By, sale lyceum.Sale,
) (Outlook, lyceum.SalePolicy, error) {
	o := Outlook{Sale: sale, Access: lyceum.Keep}
	v := s.store.In(ctx, by.School)
	plans, err := v.PricingPlans.Find(v, sale.PricingPlanID.Value)
	if err != nil {
		return o, lyceum.SalePolicy{}, err
	}
	if o.Plan, err = planAmong(plans, &sale); err != nil {
		return o, lyceum.SalePolicy{}, err
	}
	kept, err := s.store.In(ctx, by.School).GetSchool()
	return o, kept.Policy, err
}
