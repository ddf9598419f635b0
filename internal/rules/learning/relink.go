package learning

import (
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// relinkBuyers links the sales of pricing plans again, after what the plans lead
// to has changed.
func relinkBuyers(tx lyceum.Tx, now time.Time, plans []lyceum.PricingPlanID) error {
	if len(plans) == 0 {
		return nil
	}
	buyers, err := tx.FindBuyers(plans)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(buyers, lyceum.MaxUsers) {
		if err := LinkSales(tx, now, part); err != nil {
			return err
		}
	}
	return nil
}

// relink links the sales of the collections or tiers of rows again, and those of
// the tiers that the collections come with.
func (i Inclusions[ID, In]) relink(tx lyceum.Tx, now time.Time, rows []lyceum.Inclusion[ID, In]) error {
	seen := map[In]bool{}
	var plans []lyceum.PricingPlanID
	for n := range rows {
		in := rows[n].In
		if seen[in] {
			continue
		}
		seen[in] = true
		with, err := i.with(tx.Tables, tx, in)
		if err != nil {
			return err
		}
		for _, p := range with {
			err := tx.PricingPlans.Each(tx, lyceum.PricingPlanFilter{Product: lyceum.Some(p)},
				func(plan *lyceum.PricingPlan) error {
					plans = append(plans, plan.ID)
					return nil
				})
			if err != nil {
				return err
			}
		}
	}
	slices.Sort(plans)
	return relinkBuyers(tx, now, slices.Compact(plans))
}
