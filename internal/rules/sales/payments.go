package sales

import (
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// ending decides what happens to a sale after money was returned: Keep, or what the end of the
// sale does to the learner's access. unenroll takes precedence over the school's policy.
func ending(
	accounts []account, why lyceum.SaleEnd, policy lyceum.SalePolicy, unenroll lyceum.Opt[bool],
) lyceum.Consequence {
	switch {
	case unenroll.Present && unenroll.Value:
		return lyceum.Unenroll
	case unenroll.Present:
		return lyceum.Keep
	case why == lyceum.SaleChargedBack && slices.ContainsFunc(accounts, lostWhole):
		return policy.OnChargeback
	case why == lyceum.SaleRefunded && refundedInFull(accounts):
		return policy.OnRefund
	}
	return lyceum.Keep
}

// refundedInFull reports whether every payment of a sale was returned. Payments of nothing do
// not count.
func refundedInFull(accounts []account) bool {
	paid := slices.DeleteFunc(slices.Clone(accounts), func(a account) bool { return !a.charged() })
	return len(paid) > 0 && !slices.ContainsFunc(paid, func(a account) bool { return !a.gone() })
}

// lostWhole reports whether all of a payment was returned, the last of it by a dispute.
func lostWhole(a account) bool {
	return a.gone() && a.disputed(lyceum.DisputeLost).Price > 0
}

// settle updates a sale after one of its payments was returned, for a reason that may end the
// sale.
func (s *Service) settle(
	tx lyceum.Tx, now time.Time, e Ending, why lyceum.SaleEnd, unenroll lyceum.Opt[bool],
) error {
	accounts, err := accountsOf(tx.Tables, tx, e.Sale)
	if err != nil {
		return err
	}
	sale, plan, err := saleWithPlan(tx, e.Sale)
	if err != nil {
		return err
	}
	school, err := tx.GetSchool()
	if err != nil {
		return err
	}
	b, err := boughtBy(tx, &sale, &plan, accounts)
	if err != nil {
		return err
	}
	b.apply(&sale)
	sale.Released = released(accounts)
	if then := ending(accounts, why, school.Policy, unenroll); then != lyceum.Keep {
		if why == lyceum.SaleRefunded && refundedInFull(accounts) {
			err = s.reopenReplaced(tx, now, &sale)
		}
		if err != nil {
			return err
		}
		e.begin(&sale, &plan, now, why)
		return s.end(tx, now, &sale, &plan, why, then)
	}
	// A canceled sale stops sooner if less is paid for.
	if !sale.StopsAt.Present || refundedInFull(accounts) || unenroll.Present {
		if _, err := tx.Sales.Save(tx, sale); err != nil {
			return err
		}
		sale.UpdatedAt = now
		return s.lapse(tx, now, &sale, e)
	}
	at := sale.PaidUntil.Else(now)
	if at.Before(now) {
		at = now
	}
	if err := stop(tx, now, &sale, &plan, at); err != nil {
		return err
	}
	return s.revoke(tx, now, &sale, at, lyceum.EndedByCancellation)
}

// restore updates a sale after a payment came back to the school. A sale that ended because
// that payment was lost is reopened.
func (s *Service) restore(tx lyceum.Tx, now time.Time, id lyceum.SaleID) error {
	accounts, err := accountsOf(tx.Tables, tx, id)
	if err != nil {
		return err
	}
	sale, plan, err := saleWithPlan(tx, id)
	if err != nil {
		return err
	}
	stillLost, before := slices.ContainsFunc(accounts, lostWhole), sale
	var misfits []misfit
	if sale.EndReason == lyceum.Some(lyceum.SaleChargedBack) && !stillLost {
		sale.Reopen()
		if misfits, err = reopening(tx, &before, &sale, &plan); err != nil {
			return err
		}
	}
	b, err := boughtBy(tx, &sale, &plan, accounts)
	if err != nil {
		return err
	}
	b.apply(&sale)
	if _, err := tx.Sales.Save(tx, sale); err != nil || stillLost {
		return err
	}
	misfits = append(misfits, uncharged(&before, &sale, &plan)...)
	if _, err := warn(tx, lyceum.Second(now), id, misfits); err != nil {
		return err
	}
	if sale.ReplacedBy.Present {
		return s.restoreReplaced(tx, now, sale.ReplacedBy.Value)
	}
	until, err := s.enroller.Restore(tx, now, &sale, lyceum.EndedByChargeback)
	if err != nil {
		return err
	}
	if sale.EndReason == lyceum.Some(lyceum.SaleCanceled) && until.Present { // it gives access until then again
		return stop(tx, now, &sale, &plan, until.Value)
	}
	sale.UpdatedAt = now
	return s.lapse(tx, now, &sale, Ending{Sale: id})
}

// restoreReplaced reopens a sale whose payment came back and that another one had followed, if
// the follower was fully refunded in the meantime, and each sale that followed that one.
func (s *Service) restoreReplaced(tx lyceum.Tx, now time.Time, follower lyceum.SaleID) error {
	fresh, err := tx.Sales.Get(tx, follower)
	if err != nil {
		return err
	}
	accounts, err := accountsOf(tx.Tables, tx, follower)
	switch {
	case err != nil || !refundedInFull(accounts):
		return err
	case fresh.ReplacedBy.Present:
		return s.restoreReplaced(tx, now, fresh.ReplacedBy.Value)
	case fresh.EndReason != lyceum.Some(lyceum.SaleRefunded):
		return nil
	}
	return s.reopenReplaced(tx, now, &fresh)
}

// saleWithPlan returns a sale and its pricing plan.
func saleWithPlan(tx lyceum.Tx, id lyceum.SaleID) (lyceum.Sale, lyceum.PricingPlan, error) {
	sale, err := tx.Sales.Get(tx, id)
	if err != nil {
		return sale, lyceum.PricingPlan{}, err
	}
	plan, err := planOfSale(tx.Tables, tx, &sale)
	return sale, plan, err
}
