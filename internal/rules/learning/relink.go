package learning

import (
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

const (
	// relinkSize is how many transactions one write links again at most, so that it
	// does not hold up others.
	relinkSize = 100
	// relinkPlans is of how many pricing plans one write does so.
	relinkPlans = 500
)

// relinkBuyers lets the sales of pricing plans be linked again, after what the
// plans lead to has changed. The writes of Settle do it.
func relinkBuyers(tx lyceum.Tx, plans []lyceum.PricingPlanID) error {
	rows := make([]lyceum.Relinking, len(plans))
	for i, id := range plans {
		rows[i].Plan = id
	}
	_, err := tx.Relinkings.Save(tx, rows...)
	return err
}

// relinkNext links the next buyers of pricing plans again, and reports whether
// there was such a plan. Plans that changed together are gone through together: each
// pass reads all that the school has sold.
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
