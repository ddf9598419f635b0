package sales

import (
	"context"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// SaleStatus is the status of a sale.
type SaleStatus string

// The statuses of a recurring sale. A sale that is paid once only ever has Ended.
const (
	Trialing   SaleStatus = "trialing"
	Active     SaleStatus = "active"
	PastDue    SaleStatus = "past_due"
	Canceled   SaleStatus = "canceled" // until the paid period is over
	Ended      SaleStatus = "ended"
	PaidInFull SaleStatus = "paid_in_full"
)

// MaxFailures is the most failures that a sale's detail has.
const MaxFailures = 100

// judge reads the failures of a sale and determines its status at a given time.
func (d *SaleDetail) judge(tables *lyceum.Tables, from lyceum.Reads, now time.Time) error {
	if d.FailedAt.Present {
		of := lyceum.PaymentFailureFilter{Sale: lyceum.Some(d.ID), Newest: true}
		newest, err := tables.PaymentFailures.List(from, of, lyceum.Page{Number: 1, Size: MaxFailures})
		if err != nil {
			return err
		}
		d.Failures = newest.Rows
		slices.Reverse(d.Failures)
	}
	if err := d.bill(tables, from); err != nil {
		return err
	}
	d.Status = d.statusAt(now)
	return nil
}

// bill determines which periods the payments of a recurring sale bought, and when it lapses. If
// nothing was recorded here for the sale, it also derives from the payments when the next one
// is due.
func (d *SaleDetail) bill(tables *lyceum.Tables, from lyceum.Reads) error {
	if !d.PricingPlanID.Present {
		return nil
	}
	plans, err := tables.PricingPlans.Find(from, d.PricingPlanID.Value)
	plan := plans[d.PricingPlanID.Value].For(&d.Sale)
	if err != nil || !plan.Recurring() {
		return err
	}
	school, err := from.GetSchool()
	if err != nil {
		return err
	}
	return d.count(&plan, &school)
}

// count is bill for a known school and plan, which has the terms of the sale.
func (d *SaleDetail) count(plan *lyceum.PricingPlan, school *lyceum.School) error {
	if !plan.Recurring() {
		return nil
	}
	zone, err := school.TimeZone.Location()
	if err != nil {
		return err
	}
	accounts := make([]account, len(d.Transactions))
	for i := range d.Transactions {
		accounts[i] = d.account(&d.Transactions[i])
	}
	b := periodsOf(&d.Sale, plan, zone, byTime(accounts))
	d.Periods = b.paid
	if !d.BilledSince.Present && !d.EndedAt.Present && !d.PaidUntil.Present {
		d.PaidUntil, d.PaidInFull = b.until, b.inFull
	}
	if !d.NextPlan.Present {
		d.LapsesAt = d.Sale.LapsesAt(school.Policy)
	}
	return nil
}

// Failures returns a page of a sale's failed payments, by id.
func (s *Service) Failures(
	ctx context.Context, by lyceum.By, id lyceum.SaleID, p lyceum.Page,
) (lyceum.Listing[lyceum.PaymentFailure], error) {
	v := s.store.In(ctx, by.School)
	if _, err := v.Sales.Get(v, id); err != nil {
		return lyceum.Listing[lyceum.PaymentFailure]{}, err
	}
	return v.PaymentFailures.List(v, lyceum.PaymentFailureFilter{Sale: lyceum.Some(id)}, p)
}

func (d *SaleDetail) statusAt(now time.Time) lyceum.Opt[SaleStatus] {
	switch {
	case d.EndReason == lyceum.Some(lyceum.SaleCanceled) && d.StopsAt.Present && d.StopsAt.Value.After(now):
		return lyceum.Some(Canceled)
	case d.EndedAt.Present:
		return lyceum.Some(Ended)
	case d.PaidInFull:
		return lyceum.Some(PaidInFull)
	case d.failing(), d.PaidUntil.Present && !d.PaidUntil.Value.After(now):
		return lyceum.Some(PastDue)
	case d.BillingAnchor.Value.After(now) && len(d.Transactions) > 0 && d.Transactions[0].FinalPrice == 0:
		return lyceum.Some(Trialing)
	case d.BillingAnchor.Present, d.PaidUntil.Present:
		return lyceum.Some(Active)
	}
	return lyceum.None[SaleStatus]()
}

// failing reports whether an attempt to charge the sale has failed since it was last paid.
func (d *SaleDetail) failing() bool {
	return d.FailedAt.Present && !slices.ContainsFunc(d.Transactions, func(t lyceum.Transaction) bool {
		return t.Paid && !paidAt(&t, d.References).Before(d.FailedAt.Value)
	})
}
