package sales

import (
	"context"
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// conflict returns the error for a change that the state of a sale does not allow.
func conflict(code, format string, args ...any) error {
	return &lyceum.Error{Kind: lyceum.Conflict, Code: code, Detail: fmt.Sprintf(format, args...)}
}

// planOfSale returns a sale's pricing plan with the terms of the sale, or fails with Conflict if
// it is unknown.
func planOfSale(t *lyceum.Tables, from lyceum.Source, sale *lyceum.Sale) (lyceum.PricingPlan, error) {
	plans, err := t.PricingPlans.Find(from, sale.PricingPlanID.Value)
	plan, there := plans[sale.PricingPlanID.Value]
	if err == nil && !there {
		err = conflict("unknown_plan", "the pricing plan of sale %d is unknown", sale.ID)
	}
	return plan.For(sale), err
}

// planCharged is planOfSale for a sale that is charged again. If it was paid once, it is charged
// repeatedly after all, by the terms that its plan got since.
func planCharged(t *lyceum.Tables, from lyceum.Source, sale *lyceum.Sale) (lyceum.PricingPlan, error) {
	again := *sale
	again.BillingAnchor = again.BillingAnchor.Or(sale.CreatedAt)
	return planOfSale(t, from, &again)
}

// running returns a sale for which more is to be paid, with its plan. It fails with Conflict
// for other sales.
func running(
	t *lyceum.Tables, from lyceum.Source, id lyceum.SaleID,
) (lyceum.Sale, lyceum.PricingPlan, error) {
	sale, err := t.Sales.Get(from, id)
	if err != nil {
		return sale, lyceum.PricingPlan{}, err
	}
	plan, err := planOfSale(t, from, &sale)
	if err == nil {
		err = ongoing(&sale, &plan)
	}
	return sale, plan, err
}

// ongoing rejects a sale for which nothing more is to be paid.
func ongoing(sale *lyceum.Sale, plan *lyceum.PricingPlan) error {
	if err := recurring(sale, plan); err != nil {
		return err
	}
	return refuse(overdone(sale))
}

// recurring rejects a sale that is paid once.
func recurring(sale *lyceum.Sale, plan *lyceum.PricingPlan) error {
	if !plan.Recurring() {
		return conflict("not_recurring", "sale %d is a single payment: its pricing plan is %s", sale.ID, plan.Frequency)
	}
	return nil
}

func ended(sale *lyceum.Sale) *lyceum.Error {
	text := fmt.Sprintf("sale %d has ended: %s", sale.ID, sale.EndReason.Value)
	if sale.ReplacedBy.Present {
		text += fmt.Sprintf(", and sale %d followed", sale.ReplacedBy.Value)
	}
	return &lyceum.Error{Kind: lyceum.Conflict, Code: "sale_ended", Detail: text}
}

// Renewal is the next payment of a sale.
type Renewal struct {
	Amounts

	Sale      lyceum.SaleID
	Reference lyceum.Opt[string] // of the payment, unique in the school
	// Cents returns the charge of a payment in another currency than USD whose Charge is not
	// given. If it is nil, that must be given.
	Cents func(paid lyceum.Minor, currency lyceum.Currency) lyceum.USDCents
}

// Renew records the next payment of a subscription or a payment plan. A payment with a
// reference is recorded even if the sale has ended or is paid in full: it buys nothing, and the
// sale gets a warning. A sale that lapsed is revived.
func (s *Service) Renew(ctx context.Context, by lyceum.By, r Renewal) (TransactionDetail, error) {
	return pay(ctx, s, by, r.Reference, func(tx lyceum.Tx, now time.Time) (TransactionDetail, error) {
		return s.renew(tx, now, r)
	}, func(tx lyceum.Tx, t lyceum.Transaction, of *repeated) (TransactionDetail, error) {
		return renewAgain(tx, r, t, of)
	})
}

func (s *Service) renew(tx lyceum.Tx, now time.Time, r Renewal) (TransactionDetail, error) {
	if err := tx.Reserve(1, lyceum.TransactionSequence); err != nil {
		return TransactionDetail{}, err
	}
	sale, plan, err := s.renewed(tx, now, r)
	if err != nil {
		return TransactionDetail{}, err
	}
	if wrong := r.feesOfNobody(sale.AffiliateID.Present, sale.AuthorID.Present); len(wrong) > 0 {
		return TransactionDetail{}, lyceum.InvalidFields(wrong...)
	}
	revived, before := sale.EndReason == lyceum.Some(lyceum.SaleLapsed), sale
	if revived {
		sale.Reopen()
	}
	misfits := overdone(&sale)
	if !r.Reference.Present {
		if err := refuse(misfits); err != nil {
			return TransactionDetail{}, err
		}
	}
	accounts, err := accountsOf(tx.Tables, tx, sale.ID)
	if err != nil {
		return TransactionDetail{}, err
	}
	at := lyceum.Second(now)
	if err := r.checkTime(at, r.Reference, earliestRenewal(&sale, accounts)); err != nil {
		return TransactionDetail{}, err
	}
	usual, over, err := renewalPrice(tx, &sale, &plan, accounts, r.OccurredAt.Else(now))
	if err != nil {
		return TransactionDetail{}, err
	}
	due := r.Amounts
	if len(accounts) > 0 && accounts[0].FinalPrice > 0 && !over {
		due = due.asBefore(&accounts[0].Transaction)
	}
	if currency := due.Currency.Else(plan.Currency); r.Cents != nil && currency != "USD" {
		due.Charge = due.Charge.Or(r.Cents(due.FinalPrice.Else(usual)+due.TaxCharge.Value, currency))
	}
	t, err := charge(tx, &sale, &plan, due, usual, at)
	if err != nil {
		return TransactionDetail{}, err
	}
	if err := s.take(tx, now, &t, r.Reference); err != nil {
		return TransactionDetail{}, err
	}
	if len(accounts) == 0 { // it followed another sale at the end of that one's period
		sale.FinalPrice, sale.Currency = lyceum.Some(t.FinalPrice), lyceum.Some(t.Currency)
	}
	b, err := boughtBy(tx, &sale, &plan, accounts)
	if err != nil {
		return TransactionDetail{}, err
	}
	sale.BillingAnchor = b.anchor // this payment does not move it
	accounts = byTime(append(accounts, account{Transaction: t, at: t.PurchasedAt}))
	b, err = boughtBy(tx, &sale, &plan, accounts)
	if err != nil {
		return TransactionDetail{}, err
	}
	b.apply(&sale)
	sale.Released, sale.BilledSince = released(accounts), sale.BilledSince.Or(t.CreatedAt)
	if revived {
		if err := s.revive(tx, now, &before, &sale, &plan); err != nil {
			return TransactionDetail{}, err
		}
	} else {
		taken, err := retaken(tx, &before, &sale, &plan)
		if misfits = append(misfits, taken...); err == nil {
			_, err = tx.Sales.Save(tx, sale)
		}
		if err != nil {
			return TransactionDetail{}, err
		}
	}
	_, err = warn(tx, t.CreatedAt, sale.ID, append(misfits, uncharged(&before, &sale, &plan)...))
	return TransactionDetail{Transaction: t, Reference: r.Reference, Period: periodIn(b.paid, t.ID)}, err
}

// renewedEarly is how long before the end of a period a payment counts for the next one:
// payment systems charge a little before the paid period is over.
const renewedEarly = 24 * time.Hour

// renewed returns the sale that a payment renews, with its plan. If the sale changes its plan
// with this period, that is the sale that follows, unless its plan is free.
func (s *Service) renewed(
	tx lyceum.Tx, now time.Time, r Renewal,
) (sale lyceum.Sale, plan lyceum.PricingPlan, err error) {
	if sale, err = tx.Sales.Get(tx, r.Sale); err == nil {
		plan, err = planCharged(tx.Tables, tx, &sale)
	}
	if err == nil {
		err = recurring(&sale, &plan)
	}
	if err != nil || !sale.NextPlan.Present {
		return sale, plan, err
	}
	next, err := tx.PricingPlans.Find(tx, sale.NextPlan.Value)
	if err != nil {
		return sale, plan, err
	}
	free, at := next[sale.NextPlan.Value].Frequency == lyceum.Free, r.OccurredAt.Else(now)
	if !free {
		at = at.Add(renewedEarly)
	}
	if !sale.DueAt(at) {
		return sale, plan, nil
	}
	if err := s.endPeriod(tx, now, &sale); err != nil {
		return sale, plan, err
	}
	if free {
		return saleWithPlan(tx, r.Sale)
	}
	return saleWithPlan(tx, sale.ReplacedBy.Else(r.Sale))
}

// overdone returns why nothing more was to be paid for a sale, or nil.
func overdone(sale *lyceum.Sale) []misfit {
	switch {
	case sale.EndedAt.Present:
		e := ended(sale)
		return []misfit{{e.Code, e.Detail}}
	case sale.PaidInFull:
		return []misfit{paidInFull(sale)}
	}
	return nil
}

func paidInFull(sale *lyceum.Sale) misfit {
	return misfitf("paid_in_full", "each payment of sale %d was made: nothing more is charged", sale.ID)
}

// asBefore fills in absent amounts from an earlier payment.
func (a Amounts) asBefore(t *lyceum.Transaction) Amounts {
	if !a.FinalPrice.Present && !a.Currency.Present {
		a.TaxCharge = a.TaxCharge.Or(t.TaxCharge)
		a.AffiliateFees = a.AffiliateFees.Or(t.AffiliateFees)
		a.AuthorFees = a.AuthorFees.Or(t.AuthorFees)
	}
	a.FinalPrice, a.Currency = a.FinalPrice.Or(t.FinalPrice), a.Currency.Or(t.Currency)
	return a
}

// Cancel ends a subscription or a payment plan. The school's policy determines what happens to
// the learner's access.
func (s *Service) Cancel(ctx context.Context, by lyceum.By, e Ending) (lyceum.Sale, error) {
	return perform(ctx, s, by, e, s.cancel)
}

// PreviewCancel returns what Cancel would do.
func (s *Service) PreviewCancel(ctx context.Context, by lyceum.By, e Ending, p lyceum.Page) (Preview, error) {
	return preview(ctx, s, by, p, e, ofSale(e.Sale), s.cancel)
}

func (s *Service) cancel(tx lyceum.Tx, now time.Time, e Ending) (lyceum.Sale, error) {
	sale, plan, err := running(tx.Tables, tx, e.Sale)
	if err != nil {
		return sale, err
	}
	school, err := tx.GetSchool()
	if err == nil {
		err = s.enroller.Relink(tx, now, sale.UserID.Value)
	}
	if err != nil {
		return sale, err
	}
	e.begin(&sale, &plan, now, lyceum.SaleCanceled)
	err = s.end(tx, now, &sale, &plan, lyceum.SaleCanceled, school.Policy.OnCancellation)
	return sale, err
}

// CheckCancel returns the error with which Cancel would fail now.
func (s *Service) CheckCancel(ctx context.Context, by lyceum.By, id lyceum.SaleID) error {
	v := s.store.In(ctx, by.School)
	_, _, err := running(v.Tables, v, id)
	return err
}

// end ends a sale, with the consequence for its learner. A sale that has ended already keeps
// its reason, but returned money ends what is left of its access.
func (s *Service) end(
	tx lyceum.Tx, now time.Time, sale *lyceum.Sale, plan *lyceum.PricingPlan, why lyceum.SaleEnd, then lyceum.Consequence,
) error {
	sale.End(plan, now, why)
	at := now
	if then = effect(now, sale, plan, then); then == lyceum.AtPeriodEnd {
		at = sale.PaidUntil.Value
	}
	if err := stop(tx, now, sale, plan, at); err != nil || then == lyceum.Keep {
		return err
	}
	return s.revoke(tx, now, sale, at, why.Entitlement())
}

// stop saves a sale that ended. A recurring sale stops being active at the given time and is
// announced then.
func stop(tx lyceum.Tx, now time.Time, sale *lyceum.Sale, plan *lyceum.PricingPlan, at time.Time) error {
	// A sale that was to stop later was recurring when it ended.
	announce := (plan.Recurring() || sale.StopsAt.Present) && sale.StopAt(at, now)
	if _, err := tx.Sales.Save(tx, *sale); err != nil {
		return err
	}
	if announce {
		tx.Announce(lyceum.SaleUpdated, int32(sale.ID), lyceum.SubscriptionCanceledEvent, "")
	}
	return nil
}

// EndNow ends a sale that has not ended, whatever it sold, along with its access.
func (s *Service) EndNow(ctx context.Context, by lyceum.By, e Ending) (lyceum.Sale, error) {
	return perform(ctx, s, by, e, s.endNow)
}

// PreviewEndNow returns what EndNow would do.
func (s *Service) PreviewEndNow(ctx context.Context, by lyceum.By, e Ending, p lyceum.Page) (Preview, error) {
	return preview(ctx, s, by, p, e, ofSale(e.Sale), s.endNow)
}

func (s *Service) endNow(tx lyceum.Tx, now time.Time, e Ending) (lyceum.Sale, error) {
	sale, plan, err := saleWithPlan(tx, e.Sale)
	if err != nil {
		return sale, err
	}
	if sale.EndedAt.Present {
		return sale, ended(&sale)
	}
	if err := s.enroller.Relink(tx, now, sale.UserID.Value); err != nil {
		return sale, err
	}
	e.begin(&sale, &plan, now, lyceum.SaleVoided)
	return sale, s.end(tx, now, &sale, &plan, lyceum.SaleVoided, lyceum.Unenroll)
}

// effect returns the consequence as it applies to a sale: Keep if the sale gave access to
// nothing, and Unenroll if the paid period is already over.
func effect(now time.Time, sale *lyceum.Sale, plan *lyceum.PricingPlan, then lyceum.Consequence) lyceum.Consequence {
	switch {
	case !plan.Product().Present:
		return lyceum.Keep
	case then == lyceum.AtPeriodEnd && (!sale.PaidUntil.Present || !sale.PaidUntil.Value.After(now)):
		return lyceum.Unenroll
	}
	return then
}
