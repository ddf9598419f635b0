package learning

import (
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// relinkSize is how many transactions one write links again at most, so that it
// does not hold up others.
const relinkSize = 100

// relinkBuyers lets the sales of pricing plans be linked again, after what the
// plans lead to has changed. The writes of Settle do it.
func relinkBuyers(tx lyceum.Tx, plans []lyceum.PricingPlanID) error {
	for _, id := range plans {
		from := lyceum.Relinking{Plan: id}
		buyers, err := tx.FindBuyers(from, 1)
		if err != nil {
			return err
		}
		if len(buyers) == 0 {
			continue
		}
		if _, err := tx.Relinkings.Save(tx, from); err != nil {
			return err
		}
	}
	return nil
}

// relinkNext links the next buyers of a pricing plan again, and reports whether
// there was such a plan.
func relinkNext(tx lyceum.Tx, now time.Time) (bool, error) {
	next, found, err := tx.Relinkings.First(tx, struct{}{})
	if err != nil || !found {
		return false, err
	}
	buyers, err := tx.FindBuyers(next, relinkSize)
	if err != nil {
		return false, err
	}
	users := usersOf(buyers, func(b *lyceum.Buyer) lyceum.UserID { return b.User })
	if err := LinkSales(tx, now, users); err != nil {
		return false, err
	}
	if len(buyers) < relinkSize {
		return true, tx.Relinkings.Delete(tx, next.Plan)
	}
	last := buyers[len(buyers)-1]
	next.After, next.ID = last.At, last.Transaction
	_, err = tx.Relinkings.Save(tx, next)
	return true, err
}

// Relink links the sales of a user before an act that depends on them, if some
// are to be linked again.
func (s *Service) Relink(tx lyceum.Tx, now time.Time, user lyceum.UserID) error {
	_, pending, err := tx.Relinkings.First(tx, struct{}{})
	if err != nil || !pending {
		return err
	}
	return LinkSales(tx, now, []lyceum.UserID{user})
}

// relink lets the sales of the collections or tiers of rows be linked again, and
// those of the tiers that the collections come with.
func (i Inclusions[ID, In]) relink(tx lyceum.Tx, rows []lyceum.Inclusion[ID, In]) error {
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
	return relinkBuyers(tx, slices.Compact(plans))
}
