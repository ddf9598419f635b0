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
	o.EndsSale = true
	o.Access, err = s.loss(v, &o, policy.OnCancellation)
	return o, err
}

// loss returns what a consequence comes to for the learner of a sale: nothing, if
// the sale gives no access any more, or something else gives it as long.
func (s *Service) loss(v lyceum.View, o *Outlook, then lyceum.Consequence) (lyceum.Consequence, error) {
	now := s.clock()
	then = effect(now, &o.Sale, &o.Plan, then)
	if then == lyceum.Keep {
		return then, nil
	}
	until := lyceum.Some(now)
	if then == lyceum.AtPeriodEnd {
		until = o.Sale.PaidUntil
	}
	loses, keeps := false, false
	err := v.Access.Each(v, lyceum.EntitlementFilter{
		User: o.Sale.UserID, Products: []lyceum.Product{o.Plan.Product().Value}, OpenAt: lyceum.Some(now),
	}, func(e *lyceum.Entitlement) error {
		longer := e.Outlasts(until)
		if e.Sale == lyceum.Some(o.Sale.ID) {
			loses = loses || longer
		} else {
			keeps = keeps || longer
		}
		return nil
	})
	if keeps || !loses {
		then = lyceum.Keep
	}
	return then, err
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
