package sales_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// inParts is a payment plan of course 2, three times 10 dollars.
const inParts lyceum.PricingPlanID = 41

func (b *books) sellInParts(t *testing.T) sales.SaleDetail {
	t.Helper()
	storetest.Write(t, b.store, b.school, func(tx lyceum.Tx) error {
		_, err := tx.PricingPlans.Save(tx, lyceum.PricingPlan{
			ID: inParts, Name: "In parts", CourseID: some(lyceum.CourseID(2)), Price: 1000, Currency: "USD",
			Frequency: lyceum.PaymentPlan, BillingInterval: some("month"), BillingIntervalCount: some(int32(1)), Payments: some(int32(3)),
		})
		return err
	})
	return b.sell(t, sales.NewSale{User: 1, Plan: inParts})
}

func (b *books) renew(t *testing.T, id lyceum.SaleID, reference string) lyceum.TransactionID {
	t.Helper()
	r := sales.Renewal{Sale: id}
	if reference != "" {
		r.Reference = some(reference)
	}
	d, err := b.service.Renew(t.Context(), b.by(), r)
	if err != nil {
		t.Fatal(err)
	}
	return d.ID
}

func (b *books) warnings(t *testing.T, id lyceum.SaleID) (codes []string) {
	t.Helper()
	for _, w := range b.show(t, id).Warnings {
		codes = append(codes, w.Code)
	}
	return codes
}

func code(err error) string {
	if err == nil {
		return ""
	}
	return lyceum.Public(err).Code
}

// TestAPaymentPlanEnds checks that after its last payment nothing more is due and the access
// remains. A further payment is recorded, but buys nothing.
func TestAPaymentPlanEnds(t *testing.T) {
	for engine, store := range engines(t) {
		b := openBooks(t, store)
		sale := b.sellInParts(t)
		for range 2 {
			b.now = b.show(t, sale.ID).PaidUntil.Value
			b.renew(t, sale.ID, "")
		}
		if s := b.show(t, sale.ID); !s.PaidInFull || s.PaidUntil.Present || s.EndedAt.Present {
			t.Errorf("%s: %+v", engine, s.Sale)
		}
		before := b.last(t)
		by, ctx := b.by(), t.Context()
		_, renewed := b.service.Renew(ctx, by, sales.Renewal{Sale: sale.ID})
		_, canceled := b.service.Cancel(ctx, by, sales.Ending{Sale: sale.ID})
		_, changed := b.service.ChangePlan(ctx, by, to(sale.ID, 3, "ch_other"))
		if got := fmt.Sprint(code(renewed), code(canceled), code(changed)); got != "paid_in_fullpaid_in_fullpaid_in_full" || b.last(t) != before {
			t.Errorf("%s: %v, %v, %v", engine, renewed, canceled, changed)
		}
		b.pass(90)
		fourth := b.renew(t, sale.ID, "ch_4")
		if again := b.renew(t, sale.ID, "ch_4"); again != fourth {
			t.Errorf("%s: delivered again, it is %d, not %d", engine, again, fourth)
		}
		if diff := cmp.Diff([]string{"paid_in_full"}, b.warnings(t, sale.ID)); diff != "" {
			t.Errorf("%s: warnings (-want +got):\n%s", engine, diff)
		}
		b.pass(1000)
		b.endPeriods(t)
		if diff := cmp.Diff([]string{"course 2"}, b.open(t, 1)); diff != "" {
			t.Errorf("%s: access (-want +got):\n%s", engine, diff)
		}
		if err := b.learning.Unenroll(ctx, by, learning.UserProduct{User: 1, Product: lyceum.CourseID(2).Product()}); err != nil || b.show(t, sale.ID).EndedAt.Present {
			t.Errorf("%s: unenrolled: %+v, %v", engine, b.show(t, sale.ID).Sale, err)
		}
		b.healthy(t, b.store)
	}
}

// TestTheLastPaymentDropsAChangeOfPlan checks that a buyer who has made all payments before a change
// of plan keeps what they have paid for, and is not asked to pay for another plan.
func TestTheLastPaymentDropsAChangeOfPlan(t *testing.T) {
	const monthly lyceum.PricingPlanID = 42
	for engine, store := range engines(t) {
		b := openBooks(t, store)
		sale := b.sellInParts(t)
		storetest.Write(t, b.store, b.school, func(tx lyceum.Tx) error {
			_, err := tx.PricingPlans.Save(tx, lyceum.PricingPlan{
				ID: monthly, Name: "Monthly", CourseID: some(lyceum.CourseID(2)), Price: 500, Currency: "USD", Frequency: lyceum.Subscription,
			})
			return err
		})
		c := to(sale.ID, monthly, "")
		c.AtPeriodEnd = true
		b.change(t, c)
		b.pass(3)
		b.renew(t, sale.ID, "")
		b.renew(t, sale.ID, "")
		if _, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: sale.ID}); code(err) != "paid_in_full" {
			t.Errorf("%s: another payment: %v", engine, err)
		}
		b.endPeriods(t)
		s := b.show(t, sale.ID)
		if !s.PaidInFull || s.EndedAt.Present || s.NextPlan.Present || s.ReplacedBy.Present {
			t.Errorf("%s: %+v", engine, s.Sale)
		}
		if diff := cmp.Diff([]string{"plan_not_changed"}, b.warnings(t, sale.ID)); diff != "" {
			t.Errorf("%s: warnings (-want +got):\n%s", engine, diff)
		}
		b.pass(1000)
		b.endPeriods(t)
		if diff := cmp.Diff([]string{"course 2"}, b.open(t, 1)); diff != "" {
			t.Errorf("%s: access (-want +got):\n%s", engine, diff)
		}
		b.healthy(t, b.store)
	}
}

// TestAPaymentAfterTheEnd checks that such a payment is recorded if it has a reference, because
// its money was already taken.
func TestAPaymentAfterTheEnd(t *testing.T) {
	stores := engines(t)
	for _, tc := range []struct {
		name string
		end  func(*testing.T, *books, sales.SaleDetail) error
	}{
		{"canceled", func(t *testing.T, b *books, s sales.SaleDetail) error {
			_, err := b.service.Cancel(t.Context(), b.by(), sales.Ending{Sale: s.ID})
			return err
		}},
		{"refunded", func(t *testing.T, b *books, s sales.SaleDetail) error {
			_, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: s.Transactions[0].ID})
			return err
		}},
		{"voided", func(t *testing.T, b *books, s sales.SaleDetail) error {
			_, err := b.service.EndNow(t.Context(), b.by(), sales.Ending{Sale: s.ID})
			return err
		}},
	} {
		for engine, store := range stores {
			name := engine + ", " + tc.name
			b := openBooks(t, store)
			sale := b.sellInParts(t)
			if err := tc.end(t, b, sale); err != nil {
				t.Fatal(name, err)
			}
			b.pass(40)
			b.endPeriods(t)
			ended, before, access := b.show(t, sale.ID), b.last(t), b.open(t, 1)
			if _, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: sale.ID}); code(err) != "sale_ended" || b.last(t) != before {
				t.Errorf("%s: without a reference: %v", name, err)
			}
			b.renew(t, sale.ID, "ch_late")
			after := b.show(t, sale.ID)
			if after.EndedAt != ended.EndedAt || after.EndReason != ended.EndReason || after.PaidUntil != ended.PaidUntil {
				t.Errorf("%s: %+v, and after the payment %+v", name, ended.Sale, after.Sale)
			}
			if diff := cmp.Diff([]string{"sale_ended"}, b.warnings(t, sale.ID)); diff != "" {
				t.Errorf("%s: warnings (-want +got):\n%s", name, diff)
			}
			if diff := cmp.Diff(access, b.open(t, 1)); diff != "" {
				t.Errorf("%s: access (-before +after):\n%s", name, diff)
			}
			b.healthy(t, b.store)
		}
	}
}

// TestBillingInTheZoneOfTheSchool checks that the billing day is a day in the school's time
// zone.
func TestBillingInTheZoneOfTheSchool(t *testing.T) {
	b := openBooks(t, openStore(t))
	if err := b.configure(t.Context(), lyceum.DefaultSalePolicy(), "Europe/Berlin"); err != nil {
		t.Fatal(err)
	}
	b.now = time.Date(2026, 1, 30, 23, 30, 0, 0, time.UTC) // 31 January there
	sale := b.sellInParts(t)
	for _, want := range []time.Time{time.Date(2026, 2, 27, 23, 30, 0, 0, time.UTC), time.Date(2026, 3, 30, 22, 30, 0, 0, time.UTC)} {
		if got := b.show(t, sale.ID).PaidUntil; got != some(want) {
			t.Errorf("paid until %v, want %v", got.Value, want)
		}
		b.now = want.Add(30 * time.Hour) // a little late
		b.renew(t, sale.ID, "")
	}
}

// TestPaidPeriods checks that each payment shows the period it bought, wherever it is shown.
func TestPaidPeriods(t *testing.T) {
	day := func(month time.Month, day int) time.Time { return time.Date(2026, month, day, 12, 0, 0, 0, time.UTC) }
	period := func(from, to time.Time) lyceum.Opt[sales.PaidPeriod] {
		return some(sales.PaidPeriod{Start: from, End: to})
	}
	none := lyceum.None[sales.PaidPeriod]()
	for engine, store := range engines(t) {
		b := openBooks(t, store) // on 31 January
		want := func(step string, id lyceum.SaleID, want ...lyceum.Opt[sales.PaidPeriod]) {
			t.Helper()
			detail := b.show(t, id)
			for i, tr := range detail.Transactions {
				one, err := b.service.ShowTransaction(t.Context(), b.by(), tr.ID)
				if got := detail.Period(tr.ID); err != nil || got != want[i] || one.Period != want[i] {
					t.Errorf("%s, %s: payment %d: %v and %v, want %v; %v", engine, step, i, got, one.Period, want[i], err)
				}
			}
		}
		once := b.sell(t, sales.NewSale{User: 1, Plan: 1})
		want("paid once", once.ID, none)
		sale := b.sellInParts(t)
		first := period(day(1, 31), day(2, 28))
		if got := sale.Period(sale.Transactions[0].ID); got != first {
			t.Errorf("%s: recorded: %v", engine, got)
		}
		b.now = day(3, 3) // late
		d, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: sale.ID})
		if second := period(day(2, 28), day(3, 31)); err != nil || d.Period != second {
			t.Errorf("%s: renewed: %v, %v", engine, d.Period, err)
		}
		want("two payments", sale.ID, first, period(day(2, 28), day(3, 31)))
		b.renew(t, sale.ID, "")
		second, third := period(day(2, 28), day(3, 31)), period(day(3, 31), day(4, 30))
		b.renew(t, sale.ID, "ch_more")
		want("one too many", sale.ID, first, second, third, none)
		refund, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: sale.Transactions[0].ID})
		if err != nil || refund.Period != none {
			t.Errorf("%s: refunded: %v, %v", engine, refund.Period, err)
		}
		want("the first went back", sale.ID, none, second, third, period(day(4, 30), day(5, 31)))
		b.now = day(4, 10)
		trial := b.sell(t, sales.NewSale{User: 2, Plan: 6, Amounts: sales.Amounts{FinalPrice: some(lyceum.Minor(0))}})
		want("on trial", trial.ID, period(day(4, 10), day(4, 24)))
	}
}
