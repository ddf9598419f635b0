package sales_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// noon returns noon of a day in 2026.
func noon(t *testing.T, monthDay string) lyceum.Opt[time.Time] {
	t.Helper()
	at, err := time.Parse(time.RFC3339, "2026-"+monthDay+"T12:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	return some(at)
}

// paid returns a payment for a plan that was made on a given day, and is recorded later.
func paid(t *testing.T, plan lyceum.PricingPlanID, monthDay string) sales.Amounts {
	a := charged(plan)
	a.OccurredAt = noon(t, monthDay)
	return a
}

// TestPaymentsRecordedLate checks that the periods are those of the days on which the payments
// were made, in whatever order they are recorded. The test starts on 31 January at noon.
func TestPaymentsRecordedLate(t *testing.T) {
	stores := engines(t)
	for _, tc := range []struct {
		name     string
		plan     lyceum.PricingPlanID
		sold     string
		renewals []string
		anchor   string
		until    string
		periods  []string // by transaction
	}{
		{name: "the sale", plan: 2, sold: "01-10", anchor: "01-10", until: "02-10", periods: []string{"01-10 02-10"}},
		{name: "long ago", plan: 2, sold: "01-31", renewals: nil, anchor: "01-31", until: "02-28", periods: []string{"01-31 02-28"}},
		{name: "a renewal of the period before", plan: 2, sold: "01-31", renewals: []string{"02-27"}, anchor: "01-31", until: "03-31", periods: []string{"01-31 02-28", "02-28 03-31"}},
		{name: "in order", plan: 2, sold: "01-31", renewals: []string{"02-28", "03-31"}, anchor: "01-31", until: "04-30", periods: []string{"01-31 02-28", "02-28 03-31", "03-31 04-30"}},
		{name: "the other way round", plan: 2, sold: "01-31", renewals: []string{"03-31", "02-28"}, anchor: "01-31", until: "04-30", periods: []string{"01-31 02-28", "03-31 04-30", "02-28 03-31"}},
		{name: "a trial", plan: 6, sold: "01-10", renewals: []string{"01-24"}, anchor: "01-24", until: "02-24", periods: []string{"01-10 01-24", "01-24 02-24"}},
	} {
		for engine, store := range stores {
			t.Run(tc.name+", "+engine, func(t *testing.T) {
				b := openBooks(t, store)
				b.now = b.now.AddDate(0, 2, 3) // 3 April
				before := b.last(t)
				sale := b.sell(t, sales.NewSale{User: 1, Plan: tc.plan, Amounts: paid(t, tc.plan, tc.sold), Reference: some("ch_0")})
				for i, day := range tc.renewals {
					b.now = b.now.Add(time.Minute)
					amounts := paid(t, tc.plan, day)
					if tc.plan == 6 {
						amounts.FinalPrice = some(lyceum.Minor(700))
					}
					r := sales.Renewal{Sale: sale.ID, Amounts: amounts, Reference: some(fmt.Sprint("ch_", i+1))}
					for range 2 { // the second delivery returns the first payment
						x, err := b.service.Renew(t.Context(), b.by(), r)
						if err != nil || !x.CreatedAt.Equal(b.now) || !x.PurchasedAt.Equal(r.OccurredAt.Value) {
							t.Fatalf("%+v, %v", x, err)
						}
					}
				}
				d := b.show(t, sale.ID)
				if !d.CreatedAt.Equal(d.Transactions[0].CreatedAt) || d.BillingAnchor != noon(t, tc.anchor) || d.PaidUntil != noon(t, tc.until) {
					t.Errorf("%+v, want anchor %s, paid until %s", d.Sale, tc.anchor, tc.until)
				}
				var periods []string
				for i := range d.Transactions {
					p := d.Period(d.Transactions[i].ID).Value
					periods = append(periods, p.Start.Format("01-02 ")+p.End.Format("01-02"))
					one, err := b.service.ShowTransaction(t.Context(), b.by(), d.Transactions[i].ID)
					if err != nil || one.Period != d.Period(one.ID) {
						t.Errorf("%+v, %v", one, err)
					}
				}
				if diff := cmp.Diff(tc.periods, periods); diff != "" {
					t.Error(diff)
				}
				entries, err := storetest.FindEntries(t.Context(), b.store, b.school, before, 100)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range entries { // when it was recorded
					if e.At.Before(noon(t, "04-03").Value) {
						t.Errorf("%+v", e)
					}
				}
				b.healthy(t, b.store)
			})
		}
	}
}

// TestPurchasedAtOfAnImport checks that it has a different meaning: periods are those of
// created_at.
func TestPurchasedAtOfAnImport(t *testing.T) {
	b := newBooks(t)
	storetest.Write(t, b.store, b.school, func(tx lyceum.Tx) error {
		x := lyceum.Transaction{
			ID: 1, UserID: 1, PricingPlanID: 2, SaleID: 1, CreatedAt: noon(t, "01-10").Value, PurchasedAt: noon(t, "01-01").Value,
			Charge: 550, FinalPrice: 500, Currency: "EUR", Revenue: 550, Paid: true,
		}
		_, e1 := tx.Sales.Save(tx, lyceum.SaleOf(&x))
		_, e2 := tx.Transactions.Save(tx, x)
		return errors.Join(e1, e2)
	})
	if d := b.show(t, 1); d.PaidUntil != noon(t, "02-10") {
		t.Errorf("paid until %v", d.PaidUntil)
	}
	b.now = b.now.AddDate(0, 0, 20)
	r := sales.Renewal{Sale: 1, Amounts: paid(t, 2, "02-10"), Reference: some("ch_1")}
	if _, err := b.service.Renew(t.Context(), b.by(), r); err != nil {
		t.Fatal(err)
	}
	if d := b.show(t, 1); d.BillingAnchor != noon(t, "01-10") || d.PaidUntil != noon(t, "03-10") {
		t.Errorf("%+v", d.Sale)
	}
}

// TestMoneyBackRecordedLate checks that refunds and disputes have the day on which they
// happened. A refund that is recorded last but was made first does not change refunded_at.
func TestMoneyBackRecordedLate(t *testing.T) {
	for engine, store := range engines(t) {
		b := openBooks(t, store)
		b.sell(t, sales.NewSale{User: 1, Plan: 1, Reference: some("ch_1")})
		b.pass(20)
		refund := func(reference, day string) {
			t.Helper()
			r := sales.Refund{Transaction: 1, Amount: some(lyceum.Minor(100)), Reference: some(reference), OccurredAt: noon(t, day)}
			for range 2 {
				d, err := b.service.Refund(t.Context(), b.by(), r)
				if err != nil || d.RefundedAt != noon(t, "02-10") || !d.Movements[0].At.Equal(r.OccurredAt.Value) {
					t.Errorf("%s: %+v, %v", engine, d, err)
				}
			}
			if r.OccurredAt = noon(t, "02-11"); codeOf(b.service.Refund(t.Context(), b.by(), r)) != "reference_taken" {
				t.Errorf("%s: another day", engine)
			}
		}
		refund("re_2", "02-10")
		refund("re_1", "02-05")
		d, err := b.service.OpenDispute(t.Context(), b.by(), sales.NewDispute{Transaction: 1, OccurredAt: noon(t, "02-12"), Reference: some("dp_1")})
		if err != nil || !d.OpenedAt.Equal(noon(t, "02-12").Value) {
			t.Fatalf("%s: %+v, %v", engine, d, err)
		}
		d, err = b.service.CloseDispute(t.Context(), b.by(), sales.DisputeOutcome{Dispute: d.ID, State: lyceum.DisputeLost, OccurredAt: noon(t, "02-15")})
		if err != nil || d.ClosedAt != noon(t, "02-15") {
			t.Fatalf("%s: %+v, %v", engine, d, err)
		}
		if sale := b.show(t, 1); sale.EndedAt != some(b.now) {
			t.Errorf("%s: the sale ended at %v, want now", engine, sale.EndedAt)
		}
		b.healthy(t, store)
	}
}

// codeOf returns the code of an error, ignoring the result.
func codeOf[T any](_ T, err error) string { return code(err) }

// TestImpossibleTimes checks that they are rejected, each with a sentence that says why.
func TestImpossibleTimes(t *testing.T) {
	b := newBooks(t)
	b.sell(t, sales.NewSale{User: 1, Plan: 2, Amounts: charged(2), Reference: some("ch_0")}) // 31 January
	b.pass(10)                                                                               // 10 February
	if _, err := b.service.OpenDispute(t.Context(), b.by(), sales.NewDispute{Transaction: 1, OccurredAt: noon(t, "02-05"), Amount: some(lyceum.Minor(10))}); err != nil {
		t.Fatal(err)
	}
	before := b.last(t)
	future, early := noon(t, "02-11"), noon(t, "01-30")
	amounts := func(at lyceum.Opt[time.Time]) sales.Amounts { a := charged(2); a.OccurredAt = at; return a }
	sell := func(at lyceum.Opt[time.Time], reference lyceum.Opt[string]) error {
		_, err := b.service.Record(t.Context(), b.by(), sales.NewSale{User: 2, Plan: 2, Amounts: amounts(at), Reference: reference})
		return err
	}
	renew := func(at lyceum.Opt[time.Time], reference lyceum.Opt[string]) error {
		_, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: 1, Amounts: amounts(at), Reference: reference})
		return err
	}
	refund := func(at lyceum.Opt[time.Time]) error {
		_, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: 1, Amount: some(lyceum.Minor(10)), OccurredAt: at})
		return err
	}
	open := func(at lyceum.Opt[time.Time]) error {
		_, err := b.service.OpenDispute(t.Context(), b.by(), sales.NewDispute{Transaction: 1, Amount: some(lyceum.Minor(10)), OccurredAt: at})
		return err
	}
	closed := func(at lyceum.Opt[time.Time]) error {
		_, err := b.service.CloseDispute(t.Context(), b.by(), sales.DisputeOutcome{Dispute: 1, State: lyceum.DisputeWon, OccurredAt: at})
		return err
	}
	for what, row := range map[string]struct {
		err  error
		says string
	}{
		"a sale in the future":             {sell(future, some("ch_1")), "must not be in the future"},
		"a sale without a reference":       {sell(early, lyceum.None[string]()), "must be sent together with reference"},
		"a renewal in the future":          {renew(future, some("ch_1")), "must not be in the future"},
		"a renewal before the sale":        {renew(early, some("ch_1")), "must not be before the sale (2026-01-31T12:00:00Z)"},
		"a renewal without a reference":    {renew(noon(t, "02-01"), lyceum.None[string]()), "must be sent together with reference"},
		"a refund in the future":           {refund(future), "must not be in the future"},
		"a refund before the payment":      {refund(early), "must not be before the payment (2026-01-31T12:00:00Z)"},
		"a dispute in the future":          {open(future), "must not be in the future"},
		"a dispute before the payment":     {open(early), "must not be before the payment (2026-01-31T12:00:00Z)"},
		"an outcome in the future":         {closed(future), "must not be in the future"},
		"an outcome before it was opened":  {closed(noon(t, "02-04")), "must not be before the dispute was opened, or last closed (2026-02-05T12:00:00Z)"},
		"a change of plan before the sale": {errorOf(b.service.ChangePlan(t.Context(), b.by(), sales.PlanChange{Ending: sales.Ending{Sale: 1}, NewSale: sales.NewSale{Plan: 6, Amounts: amounts(early), Reference: some("ch_1")}})), "must not be before the sale (2026-01-31T12:00:00Z)"},
	} {
		if lyceum.KindOf(row.err) != lyceum.Invalid || !strings.Contains(fmt.Sprint(row.err), "occurred_at "+row.says) {
			t.Errorf("%s: %v, want occurred_at %s", what, row.err, row.says)
		}
	}
	if b.last(t) != before {
		t.Error("something was recorded")
	}
}

// errorOf returns the error, ignoring the result.
func errorOf[T any](_ T, err error) error { return err }
