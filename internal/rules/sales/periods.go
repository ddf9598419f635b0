package sales

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// changeLater schedules a change of plan for the end of the paid period. It replaces an earlier
// one.
func (s *Service) changeLater(tx lyceum.Tx, now time.Time, c PlanChange) (SaleDetail, error) {
	if err := c.unpaid(); err != nil {
		return SaleDetail{}, err
	}
	old, plan, err := running(tx.Tables, tx, c.Sale)
	if err != nil {
		return SaleDetail{}, err
	}
	if !old.PaidUntil.Present || !old.PaidUntil.Value.After(now) {
		return SaleDetail{}, conflict("no_period", "sale %d has no time paid ahead: change its plan now", old.ID)
	}
	_, misfits, err := upcoming(tx, now, &old, &plan, c.Plan)
	if err == nil {
		err = refuse(misfits)
	}
	if err != nil {
		return SaleDetail{}, err
	}
	old.NextPlan = lyceum.Some(c.Plan)
	if _, err := tx.Sales.Save(tx, old); err != nil {
		return SaleDetail{}, err
	}
	return s.saleDetail(tx.Tables, tx, old.ID)
}

// unpaid rejects fields about a payment, which a change at the end of the period does not have.
func (c *PlanChange) unpaid() error {
	var wrong []lyceum.FieldError
	for _, part := range []struct {
		field string
		sent  bool
	}{
		{"charging_stopped", c.ChargingStopped},
		{"coupon_id", c.Coupon.Present},
		{"affiliate_id", c.Affiliate.Present},
		{"author_id", c.Author.Present},
		{"final_price", c.FinalPrice.Present},
		{"currency", c.Currency.Present},
		{"tax_charge", c.TaxCharge.Present},
		{"charge", c.Charge.Present},
		{"affiliate_fees", c.AffiliateFees.Present},
		{"author_fees", c.AuthorFees.Present},
		{"payment_method", c.Method.Present},
		{"payment_gateway", c.Gateway.Present},
		{"reference", c.Reference.Present},
		{"occurred_at", c.OccurredAt.Present},
	} {
		if part.sent {
			wrong = append(wrong, lyceum.FieldError{
				Field:   part.field,
				Message: "must not be sent with at_period_end: the payment comes later, as a renewal of the sale that follows",
			})
		}
	}
	if len(wrong) > 0 {
		return lyceum.InvalidFields(wrong...)
	}
	return nil
}

// upcoming returns the plan that a sale changes to without a payment, and what does not fit
// about it.
func upcoming(
	tx lyceum.Tx, now time.Time, old *lyceum.Sale, plan *lyceum.PricingPlan, id lyceum.PricingPlanID,
) (lyceum.PricingPlan, []misfit, error) {
	if err := mayFollow(tx, old, plan, id); err != nil {
		return lyceum.PricingPlan{}, nil, err
	}
	d, err := offered(tx, NewSale{User: old.UserID.Value, Plan: id})
	if err != nil {
		return d.plan, nil, err
	}
	if !d.plan.Recurring() && d.plan.Frequency != lyceum.Free {
		return d.plan, nil, conflict("paid_once", "pricing plan %d is paid once: change to it when that is paid", id)
	}
	usedUp, err := d.usedUp(tx)
	if err != nil {
		return d.plan, nil, err
	}
	tier, err := secondTier(tx, &d.plan, old.UserID.Value, lyceum.Some(old.ID), now)
	return d.plan, slices.Concat(d.ended(now), usedUp, tier), err
}

// DropChange cancels a scheduled change of plan. If there is none, it does nothing. It fails
// with Conflict if the change was made already.
func (s *Service) DropChange(ctx context.Context, by lyceum.By, id lyceum.SaleID) error {
	return s.store.Write(ctx, by.Stamp(s.clock()), func(tx lyceum.Tx) error {
		sale, err := tx.Sales.Get(tx, id)
		if err != nil {
			return err
		}
		if sale.ReplacedBy.Present {
			return ended(&sale)
		}
		sale.NextPlan = lyceum.None[lyceum.PricingPlanID]()
		_, err = tx.Sales.Save(tx, sale)
		return err
	})
}

// periodSize is the most sales that one write processes, so that it does not hold up others.
const periodSize = 20

// EndPeriods announces a school's canceled sales whose paid period is over, and makes the
// changes of plan that are due then. A sale that fails does not hold up the others.
func (s *Service) EndPeriods(ctx context.Context, school lyceum.SchoolID) error {
	due := lyceum.SaleFilter{DueAt: lyceum.Some(s.clock())}
	return s.whenDue(ctx, school, due, "end the period", func(tx lyceum.Tx, now time.Time, sale *lyceum.Sale) error {
		if !sale.DueAt(now) {
			return nil
		}
		return s.endPeriod(tx, now, sale)
	})
}

// whenDue runs do for each sale that matches a filter; do must check that the sale is still
// due. A sale that fails does not hold up the others.
func (s *Service) whenDue(
	ctx context.Context, school lyceum.SchoolID, f lyceum.SaleFilter, what string,
	do func(lyceum.Tx, time.Time, *lyceum.Sale) error,
) error {
	var due []lyceum.SaleID
	v := s.store.In(ctx, school)
	err := v.Sales.Each(v, f, func(sale *lyceum.Sale) error {
		due = append(due, sale.ID)
		return nil
	})
	if err != nil {
		return err
	}
	each := func(ids []lyceum.SaleID) error {
		now := s.clock()
		return s.store.Write(ctx, lyceum.Stamp{School: school, At: now, Actor: "clock"}, func(tx lyceum.Tx) error {
			kept, err := tx.Sales.Find(tx, ids...)
			for _, id := range ids {
				if sale := kept[id]; err == nil {
					err = do(tx, now, &sale)
				}
			}
			return err
		})
	}
	var failed error
	for part := range slices.Chunk(due, periodSize) {
		err := each(part)
		for n := 0; err != nil && n < len(part); n++ {
			if lyceum.KindOf(err) == lyceum.Unavailable || ctx.Err() != nil {
				return err
			}
			if one := each(part[n : n+1]); one != nil {
				failed = cmp.Or(failed, fmt.Errorf("%s of sale %d: %w", what, part[n], one))
			}
		}
	}
	return failed
}

func (s *Service) endPeriod(tx lyceum.Tx, now time.Time, sale *lyceum.Sale) error {
	plan, err := planOfSale(tx.Tables, tx, sale)
	if err != nil {
		return err
	}
	if sale.EndedAt.Present {
		over := sale.StopsAt.Else(now)
		if err := stop(tx, now, sale, &plan, now); err != nil {
			return err
		}
		return s.since(over, now).accessEnded(tx, now, sale)
	}
	if sale.PaidInFull { // the buyer keeps what they have paid for
		return stay(tx, sale, now, paidInFull(sale).message)
	}
	id, begin := sale.NextPlan.Value, sale.PaidUntil.Else(lyceum.Second(now))
	due := begin
	if due.After(now) { // its next payment came a little early
		due = lyceum.Second(now)
	}
	next, misfits, err := upcoming(tx, now, sale, &plan, id)
	if kind := lyceum.KindOf(err); kind == lyceum.Invalid || kind == lyceum.Conflict {
		return stay(tx, sale, now, lyceum.Public(err).Detail)
	}
	if err != nil {
		return err
	}
	fresh, err := s.follow(tx, now, due, begin, sale, &next)
	if err != nil {
		return err
	}
	if _, err := warn(tx, lyceum.Second(now), fresh, misfits); err != nil {
		return err
	}
	if err := s.enroller.Relink(tx, now, sale.UserID.Value); err != nil {
		return err
	}
	sale.ReplacedBy = lyceum.Some(fresh)
	sale.End(&plan, due, lyceum.SaleChanged)
	if err := stop(tx, now, sale, &plan, now); err != nil {
		return err
	}
	return s.revoke(tx, now, sale, due, lyceum.EndedByChange)
}

// stay drops a change of plan that can no longer be made, and adds a warning to the sale.
func stay(tx lyceum.Tx, sale *lyceum.Sale, now time.Time, why string) error {
	sale.NextPlan = lyceum.None[lyceum.PricingPlanID]()
	if _, err := tx.Sales.Save(tx, *sale); err != nil {
		return err
	}
	reason := misfitf("plan_not_changed", "the plan was not changed: %s", why)
	_, err := warn(tx, lyceum.Second(now), sale.ID, []misfit{reason})
	return err
}

// follow creates the sale that follows another one without a payment, because the old one's
// paid period is over. Its first period begins at begin, which is not before due.
func (s *Service) follow(
	tx lyceum.Tx, now, due, begin time.Time, old *lyceum.Sale, plan *lyceum.PricingPlan,
) (lyceum.SaleID, error) {
	id, err := tx.Sales.NextID(tx)
	if err != nil {
		return id, err
	}
	sale := lyceum.Sale{
		ID: id, CreatedAt: lyceum.Second(now), UserID: old.UserID, PricingPlanID: lyceum.Some(plan.ID),
		AffiliateID: old.AffiliateID, AuthorID: old.AuthorID, Replaces: lyceum.Some(old.ID), BilledSince: lyceum.Some(due),
		PurchasedAt: due,
	}
	if plan.Recurring() {
		anchor, err := nextAnchor(tx, old, plan, begin)
		if err != nil {
			return id, err
		}
		sale.BillingAnchor, sale.PaidUntil, sale.Means = lyceum.Some(anchor), lyceum.Some(begin), paidLike(old)
	} else { // free: no later payment will set the price
		sale.FinalPrice, sale.Currency = lyceum.Some[lyceum.Minor](0), lyceum.Some(plan.Currency)
	}
	if _, err := tx.Sales.Save(tx, sale); err != nil {
		return id, err
	}
	until, err := accessUntil(tx, plan, due)
	if err != nil {
		return id, err
	}
	tx.Announce(lyceum.SaleCreated, int32(id), lyceum.SaleCreatedEvent, "")
	return id, s.enroller.Grant(tx, now, lyceum.Entitlement{
		User: old.UserID.Value, Product: plan.Product().Value, Sale: lyceum.Some(id), StartsAt: due, EndsAt: until,
	})
}
