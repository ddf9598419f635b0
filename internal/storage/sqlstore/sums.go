package sqlstore

import (
	"context"
	"fmt"

	"github.com/lyceum-school/lyceum"
)

// SumSales reads every transaction of the school: whether one is a buyer's first or a renewal
// depends on those before it.
func (s *Store) SumSales(
	ctx context.Context, school lyceum.SchoolID, queries ...lyceum.SalesSumQuery,
) ([][]lyceum.SalesSum, error) {
	summers := make([]*lyceum.Summer, len(queries))
	for i := range queries {
		summers[i] = lyceum.NewSummer(queries[i])
	}
	err := s.AtOnce(ctx, school, func(v lyceum.View) error {
		courses := map[lyceum.PricingPlanID]lyceum.Opt[lyceum.CourseID]{}
		err := v.PricingPlans.Each(v, lyceum.PricingPlanFilter{}, func(p *lyceum.PricingPlan) error {
			courses[p.ID] = p.CourseID
			return nil
		})
		if err != nil {
			return err
		}
		marker := lyceum.NewSaleMarker()
		q := lyceum.TransactionQuery{Order: lyceum.OldestFirst}
		return v.Transactions.Each(v, q, func(t *lyceum.Transaction) error {
			marks := marker.Mark(t)
			for _, summer := range summers {
				summer.Add(t, courses[t.PricingPlanID], marks)
			}
			return nil
		})
	})
	if err != nil {
		return nil, s.public(fmt.Errorf("sum sales: %w", err))
	}
	all := make([][]lyceum.SalesSum, len(summers))
	for i, summer := range summers {
		if all[i], err = summer.Sums(); err != nil {
			return nil, err
		}
	}
	return all, nil
}
