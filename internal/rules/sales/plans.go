package sales

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// PlanChange moves the buyer of a sale to another pricing plan. The sale that follows is like
// any recorded sale: it is for the same user, and has the old sale's affiliate and author
// unless it names others.
type PlanChange struct {
	NewSale

	Ending

	AtPeriodEnd bool // at the end of the paid period: nothing was paid yet
}

// ChangePlan ends a recurring sale and records the one that follows, which it returns. With
// AtPeriodEnd, it returns the old sale, which has the plan that it will change to.
func (s *Service) ChangePlan(ctx context.Context, by lyceum.By, c PlanChange) (SaleDetail, error) {
	if c.AtPeriodEnd {
		return perform(ctx, s, by, c, s.changeLater)
	}
	return pay(ctx, s, by, c.Reference, func(tx lyceum.Tx, now time.Time) (SaleDetail, error) {
		return s.changeNow(tx, now, c)
	}, s.followAgain(c))
}

// PreviewChangePlan returns what ChangePlan would do.
func (s *Service) PreviewChangePlan(
	ctx context.Context, by lyceum.By, c PlanChange, p lyceum.Page,
) (Preview, error) {
	if c.AtPeriodEnd {
		return preview(ctx, s, by, p, c, c.about, s.changeLater)
	}
	var warnings []lyceum.SaleWarning
	out, err := preview(ctx, s, by, p, c, c.about, func(tx lyceum.Tx, now time.Time, c PlanChange) (SaleDetail, error) {
		fresh, refused := s.changeNow(tx, now, c)
		if warnings = fresh.Warnings; refused == nil || !c.Reference.Present || !changeable(refused) {
			return fresh, refused
		}
		return paidBefore(tx, c.Reference.Value, refused, s.followAgain(c))
	})
	out.Warnings = warnings
	return out, err
}

func (s *Service) changeNow(tx lyceum.Tx, now time.Time, c PlanChange) (SaleDetail, error) {
	old, plan, err := running(tx.Tables, tx, c.Sale)
	if err != nil {
		return SaleDetail{}, err
	}
	if err := mayFollow(tx, &old, &plan, c.Plan); err != nil {
		return SaleDetail{}, err
	}
	n := c.NewSale
	n.User, n.replaces = old.UserID.Value, &old
	if !n.Affiliate.Present {
		n.Affiliate = old.AffiliateID
	}
	if !n.Author.Present {
		n.Author = old.AuthorID
	}
	if n.Means == (lyceum.Means{}) {
		n.Means = paidLike(&old)
	}
	fresh, err := s.record(tx, now, n)
	if err != nil {
		return fresh, err
	}
	if err := s.enroller.Relink(tx, now, n.User); err != nil {
		return fresh, err
	}
	old.ReplacedBy = lyceum.Some(fresh.ID)
	c.begin(&old, &plan, now, lyceum.SaleChanged)
	return fresh, s.end(tx, now, &old, &plan, lyceum.SaleChanged, lyceum.Unenroll)
}

// replaced returns the sale whose plan changes with a purchase.
func (n *NewSale) replaced() lyceum.Opt[lyceum.SaleID] {
	if n.replaces == nil {
		return lyceum.None[lyceum.SaleID]()
	}
	return lyceum.Some(n.replaces.ID)
}

// mayFollow rejects a plan that a sale cannot change to: only another plan of its product, or
// of another tier of its membership, can follow. A plan that does not exist is left to offered
// to reject.
func mayFollow(tx lyceum.Tx, old *lyceum.Sale, plan *lyceum.PricingPlan, id lyceum.PricingPlanID) error {
	plans, err := tx.PricingPlans.Find(tx, id)
	next, there := plans[id]
	if err != nil || !there {
		return err
	}
	from, to := plan.Product(), next.Product()
	switch {
	case next.ID == plan.ID:
		return conflict("same_plan", "sale %d has pricing plan %d already", old.ID, plan.ID)
	case from.Present && from == to:
		return nil
	case !from.Present || !to.Present:
		return conflict("other_product", "the product of pricing plan %d or %d is unknown", plan.ID, next.ID)
	case from.Value.Kind == lyceum.TierKind && to.Value.Kind == lyceum.TierKind:
		left, entered := lyceum.MembershipTierID(from.Value.ID), lyceum.MembershipTierID(to.Value.ID)
		tiers, err := tx.MembershipTiers.Find(tx, left, entered)
		if err != nil || tiers[left].MembershipID == tiers[entered].MembershipID {
			return err
		}
	}
	return conflict("other_product", "pricing plan %d sells %s, and sale %d is of %s: only another plan of that, or of "+
		"another tier of its membership, can follow", next.ID, to.Value, old.ID, from.Value)
}

// about reads the state of the sale, and the product that the change leads to.
func (c PlanChange) about(tx lyceum.Tx) (standing, error) {
	s, err := ofSale(c.Sale)(tx)
	if err != nil {
		return s, err
	}
	plans, err := tx.PricingPlans.Find(tx, c.Plan)
	next := plans[c.Plan]
	if to := next.Product(); to.Present {
		s.next = append(s.next, to.Value)
	}
	return s, err
}

// followAgain returns the sale of a change of plan that is already recorded.
func (s *Service) followAgain(c PlanChange) func(lyceum.Tx, lyceum.Transaction, *repeated) (SaleDetail, error) {
	return func(tx lyceum.Tx, t lyceum.Transaction, r *repeated) (SaleDetail, error) {
		fresh, err := tx.Sales.Get(tx, t.SaleID)
		if err != nil {
			return SaleDetail{}, err
		}
		replaces := "null"
		if fresh.Replaces.Present {
			replaces = fmt.Sprint(fresh.Replaces.Value)
		}
		unlike(r, "replaces_sale_id", lyceum.Some(fmt.Sprint(c.Sale)), replaces)
		c.User = t.UserID
		return s.recordAgain(tx, c.NewSale, &t, r)
	}
}

// secondTier returns a misfit if the buyer of a tier already bought another tier of its
// membership, unless that sale has ended and runs out, or is replaced by this purchase.
func secondTier(
	tx lyceum.Tx, plan *lyceum.PricingPlan, user lyceum.UserID, replaced lyceum.Opt[lyceum.SaleID], now time.Time,
) ([]misfit, error) {
	if plan.Product().Value.Kind != lyceum.TierKind {
		return nil, nil
	}
	tier, err := tx.MembershipTiers.Get(tx, lyceum.MembershipTierID(plan.Product().Value.ID))
	if err != nil {
		return nil, err
	}
	var others []lyceum.Product
	err = tx.MembershipTiers.Each(tx, lyceum.MembershipTierFilter{MembershipID: lyceum.Some(tier.MembershipID)},
		func(t *lyceum.MembershipTier) error {
			if t.ID != tier.ID {
				others = append(others, lyceum.Product{Kind: lyceum.TierKind, ID: int32(t.ID)})
			}
			return nil
		})
	if err != nil || others == nil {
		return nil, err
	}
	of := lyceum.EntitlementFilter{User: lyceum.Some(user), Products: others, OpenAt: lyceum.Some(now)}
	open, err := lyceum.All(tx.Entitlements, tx, of)
	for i := range open {
		e := &open[i]
		if err != nil || !e.Sale.Present || e.Sale == replaced {
			continue
		}
		var sale lyceum.Sale
		if sale, err = tx.Sales.Get(tx, e.Sale.Value); err == nil && !sale.EndedAt.Present {
			return []misfit{misfitf("second_tier", "user %d already has %s of the same membership, by sale %d; to replace it, "+
				"change its plan", user, e.Product, sale.ID)}, nil
		}
	}
	return nil, err
}

// reopenReplaced reopens the sale that a refunded one had followed, if its paid period is not
// over. If that sale was refunded in full as well, the one that it had followed comes next.
func (s *Service) reopenReplaced(tx lyceum.Tx, now time.Time, refunded *lyceum.Sale) error {
	if why := refunded.EndReason; why.Present && why.Value != lyceum.SaleRefunded {
		return nil
	}
	for fresh := *refunded; fresh.Replaces.Present; {
		old, err := tx.Sales.Get(tx, fresh.Replaces.Value)
		if err != nil || old.ReplacedBy != lyceum.Some(fresh.ID) {
			return err
		}
		accounts, err := accountsOf(tx.Tables, tx, old.ID)
		if err != nil {
			return err
		}
		if !refundedInFull(accounts) {
			return s.reopenChanged(tx, now, old, accounts, refunded.ID)
		}
		fresh = old
	}
	return nil
}

// reopenChanged reopens a sale that changed its plan, if its paid period is not over. If it has the
// same plan as the sale that was refunded, it takes over that one's seat.
func (s *Service) reopenChanged(
	tx lyceum.Tx, now time.Time, old lyceum.Sale, accounts []account, refunded lyceum.SaleID,
) error {
	plan, err := planOfSale(tx.Tables, tx, &old)
	if err != nil {
		return err
	}
	reopened := old
	reopened.Reopen()
	b, err := boughtBy(tx, &reopened, &plan, accounts)
	if err != nil || !b.inFull && !b.until.Value.After(now) || slices.ContainsFunc(accounts, lostWhole) {
		return err
	}
	leaving, err := tx.Sales.Get(tx, refunded) // as it was before the refund
	if err != nil {
		return err
	}
	before := old
	if leaving.HoldsSeat() && leaving.PricingPlanID == old.PricingPlanID {
		before.EndedAt = lyceum.None[time.Time]()
	}
	misfits, err := reopening(tx, &before, &reopened, &plan)
	if err != nil {
		return err
	}
	over := old
	old.Reopen()
	b.apply(&old)
	if _, err := warn(tx, lyceum.Second(now), old.ID, append(misfits, uncharged(&over, &old, &plan)...)); err != nil {
		return err
	}
	if _, err := tx.Sales.Save(tx, old); err != nil {
		return err
	}
	_, err = s.enroller.Restore(tx, now, &old, lyceum.EndedByChange)
	return err
}
