package learning

import (
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

const (
	// relinkSize is the maximum number of transactions that one write relinks, so that it does
	// not hold up other writes.
	relinkSize = 100
	// relinkPlans is the maximum number of pricing plans of which one write relinks sales.
	relinkPlans = 500
)

// relinkBuyers schedules the sales of pricing plans to be linked again, after the products that
// the plans reach have changed. Settle does it.
func relinkBuyers(tx lyceum.Tx, plans []lyceum.PricingPlanID) error {
	rows := make([]lyceum.Relinking, len(plans))
	for i, id := range plans {
		rows[i].Plan = id
	}
	_, err := tx.Relinkings.Save(tx, rows...)
	return err
}

// relinkNext links the next buyers of pricing plans again, and reports whether there was such a
// plan. Plans that changed together are processed together, since each pass reads all that the
// school has sold.
func relinkNext(tx lyceum.Tx, now time.Time) (bool, error) {
	next, err := lyceum.All(tx.Relinkings, tx, struct{}{})
	if err != nil || len(next) == 0 {
		return false, err
	}
	after, id := next[0].After, next[0].ID
	next = slices.DeleteFunc(next, func(r lyceum.Relinking) bool { return !r.After.Equal(after) || r.ID != id })
	next = next[:min(len(next), relinkPlans)]
	q := lyceum.BuyerQuery{Plans: make([]lyceum.PricingPlanID, len(next)), After: after, ID: id, Limit: relinkSize}
	for i := range next {
		q.Plans[i] = next[i].Plan
	}
	buyers, err := tx.FindBuyers(q)
	if err != nil {
		return false, err
	}
	users := usersOf(buyers.Users, func(id *lyceum.UserID) lyceum.UserID { return *id })
	if err := LinkSales(tx, now, users); err != nil {
		return false, err
	}
	if !buyers.More {
		for _, plan := range q.Plans {
			if err := tx.Relinkings.Delete(tx, plan); err != nil {
				return false, err
			}
		}
		return true, nil
	}
	for i := range next {
		next[i].After, next[i].ID = buyers.After, buyers.ID
	}
	_, err = tx.Relinkings.Save(tx, next...)
	return true, err
}

// Relink links the sales of a user before an action that depends on them, if any sales are still
// to be relinked.
func (s *Service) Relink(tx lyceum.Tx, now time.Time, user lyceum.UserID) error {
	_, pending, err := tx.Relinkings.First(tx, struct{}{})
	if err != nil || !pending {
		return err
	}
	return LinkSales(tx, now, []lyceum.UserID{user})
}

// relink schedules the sales of collections or tiers to be linked again, and the sales of tiers
// that contain the collections.
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
