package sales_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// trialed is a plan of course 1, 10 dollars a month, with a trial of some days.
const trialed lyceum.PricingPlanID = 43

func (b *books) offerTrial(t *testing.T, days int32, payments lyceum.Opt[int32]) {
	t.Helper()
	storetest.Write(t, b.store, b.school, func(tx lyceum.Tx) error {
		plan := lyceum.PricingPlan{
			ID: trialed, Name: "Tried", CourseID: some(lyceum.CourseID(1)), Price: 1000, Currency: "USD", Frequency: lyceum.Subscription,
			BillingInterval: some("month"), BillingIntervalCount: some(int32(1)), FreeTrialLength: some(days), Payments: payments,
		}
		if payments.Present {
			plan.Frequency = lyceum.PaymentPlan
		}
		_, err := tx.PricingPlans.Save(tx, plan)
		return err
	})
}

func (b *books) changeTrial(t *testing.T, days lyceum.Opt[int32]) {
	t.Helper()
	_, err := b.learning.UpdatePricingPlan(t.Context(), b.by(), learning.PricingPlanChange{ID: trialed, FreeTrialLength: some(days)})
	if err != nil {
		t.Fatal(err)
	}
}

// TestATrialOfNoDays sells the first month for nothing, by a coupon, on a plan whose trial has
// no days: that is no trial, and the month is paid for.
func TestATrialOfNoDays(t *testing.T) {
	for engine, store := range engines(t) {
		b := openBooks(t, store)
		b.offerTrial(t, 0, lyceum.None[int32]())
		storetest.Write(t, b.store, b.school, func(tx lyceum.Tx) error {
			_, err := tx.Coupons.Save(tx, lyceum.Coupon{ID: 2, Percent: some(1.0), Duration: some(lyceum.ForOnce)})
			return err
		})
		sale := b.sell(t, sales.NewSale{User: 1, Plan: trialed, Coupon: some(lyceum.CouponID(2))})
		if want := time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC); sale.PaidUntil != some(want) || sale.Status != some(sales.Active) {
			t.Errorf("%s: %s, paid until %v; want active, until %v", engine, sale.Status.Value, sale.PaidUntil, want)
		}
		b.healthy(t, b.store)
	}
}

// TestATrialThatIsNoLongerOffered checks that a plan that offers another trial, or none, changes
// nothing about the sales that had one: the trial is not one of the payments of a payment plan.
func TestATrialThatIsNoLongerOffered(t *testing.T) {
	for _, days := range []lyceum.Opt[int32]{lyceum.None[int32](), some(int32(0)), some(int32(7)), some(int32(60))} {
		for engine, store := range engines(t) {
			b := openBooks(t, store)
			b.offerTrial(t, 14, some(int32(3)))
			sale := b.sell(t, sales.NewSale{User: 1, Plan: trialed, Amounts: sales.Amounts{FinalPrice: some(lyceum.Minor(0))}})
			b.changeTrial(t, days)
			for n, want := range []string{"2026-02-14", "2026-03-14", "2026-04-14"} {
				s := b.show(t, sale.ID)
				if got := s.PaidUntil.Value.Format(time.DateOnly); got != want || s.PaidInFull {
					t.Fatalf("%s, trial now %v: after %d payments paid until %s, in full %v; want until %s", engine, days, n, got, s.PaidInFull, want)
				}
				b.now = s.PaidUntil.Value
				b.renew(t, sale.ID, "")
			}
			if s := b.show(t, sale.ID); !s.PaidInFull {
				t.Errorf("%s, trial now %v: after 3 payments %+v", engine, days, s.Sale)
			}
		}
	}
}

// TestATrialThatIsOfferedLater checks that a first month that a coupon made free stays a month
// when its plan offers a trial later.
func TestATrialThatIsOfferedLater(t *testing.T) {
	for engine, store := range engines(t) {
		b := openBooks(t, store)
		b.offerTrial(t, 0, lyceum.None[int32]())
		sale := b.sell(t, sales.NewSale{User: 1, Plan: trialed, Coupon: some(lyceum.CouponID(1)), Amounts: sales.Amounts{FinalPrice: some(lyceum.Minor(0))}})
		b.changeTrial(t, some(int32(14)))
		b.now = b.now.AddDate(0, 0, 20)
		b.renew(t, sale.ID, "")
		if got, want := b.show(t, sale.ID).PaidUntil, time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC); got != some(want) {
			t.Errorf("%s: paid until %v, want %v", engine, got, want)
		}
	}
}

// TestACouponAfterATrial checks that the trial is not one of the payments that a coupon lowers,
// whatever the plan offers later.
func TestACouponAfterATrial(t *testing.T) {
	for _, tc := range []struct {
		name   string
		coupon lyceum.Coupon
		want   []lyceum.Minor // prices of the payments after the trial
	}{
		{"once", lyceum.Coupon{Percent: some(0.25), Duration: some(lyceum.ForOnce)}, []lyceum.Minor{750, 1000, 1000}},
		{"all of it once", lyceum.Coupon{Percent: some(1.0), Duration: some(lyceum.ForOnce)}, []lyceum.Minor{0, 1000, 1000}},
		{"two months", lyceum.Coupon{Percent: some(0.25), Duration: some(lyceum.ForMonths), Months: some(int32(2))}, []lyceum.Minor{750, 750, 1000}},
		{"for good", lyceum.Coupon{Percent: some(0.25), Duration: some(lyceum.ForForever)}, []lyceum.Minor{750, 750, 750}},
	} {
		for engine, store := range engines(t) {
			for _, early := range []time.Duration{0, time.Hour} {
				b := openBooks(t, store)
				b.offerTrial(t, 45, lyceum.None[int32]())
				tc.coupon.ID = 2
				storetest.Write(t, b.store, b.school, func(tx lyceum.Tx) error { _, err := tx.Coupons.Save(tx, tc.coupon); return err })
				sale := b.sell(t, sales.NewSale{User: 1, Plan: trialed, Coupon: some(lyceum.CouponID(2)), Amounts: sales.Amounts{FinalPrice: some(lyceum.Minor(0))}})
				b.changeTrial(t, lyceum.None[int32]())
				var got []lyceum.Minor
				for range tc.want {
					b.now = b.show(t, sale.ID).PaidUntil.Value.Add(-early)
					paid, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: sale.ID})
					if err != nil {
						t.Fatal(engine, err)
					}
					got = append(got, paid.FinalPrice)
				}
				if !slices.Equal(got, tc.want) {
					t.Errorf("%s, %s, paid %v early: %v, want %v", engine, tc.name, early, got, tc.want)
				}
				b.healthy(t, b.store)
			}
		}
	}
}

// TestAnImportedTrial checks that an imported subscription is paid for until a month after its
// last payment, also if that was on another day than those after the trial.
func TestAnImportedTrial(t *testing.T) {
	day := func(month time.Month, day int) time.Time { return time.Date(2025, month, day, 12, 0, 0, 0, time.UTC) }
	for _, tc := range []struct {
		last, until time.Time
	}{
		{day(10, 15), day(11, 15)},
		{day(10, 20), day(11, 20)},
	} {
		for engine, store := range engines(t) {
			b := openBooks(t, store)
			b.offerTrial(t, 14, lyceum.None[int32]())
			var rows []lyceum.Transaction
			for n, at := range []time.Time{day(8, 1), day(8, 15), day(9, 15), tc.last} {
				row := lyceum.Transaction{
					ID: lyceum.TransactionID(n + 1), SaleID: 1, UserID: 1, PricingPlanID: trialed, CreatedAt: at, PurchasedAt: at,
					Currency: "USD", Paid: true,
				}
				if n > 0 {
					row.FinalPrice, row.Charge = 1000, 1000
				}
				rows = append(rows, row)
			}
			_, problems, err := b.service.Import(b.by(), lyceum.RefuseMissing).Save(t.Context(), rows)
			if err != nil || len(problems) > 0 {
				t.Fatal(problems, err)
			}
			if got := b.show(t, 1).PaidUntil; got != some(tc.until) {
				t.Errorf("%s: last paid on %v, paid until %v, want %v", engine, tc.last, got, tc.until)
			}
			b.now = tc.until
			b.renew(t, 1, "ch_1")
			if got, want := b.show(t, 1).PaidUntil, tc.until.AddDate(0, 1, 0); got != some(want) {
				t.Errorf("%s: last paid on %v and renewed, paid until %v, want %v", engine, tc.last, got, want)
			}
		}
	}
}

// TestARefundedTrial checks that a sale whose only payment above 0 is refunded is refunded in
// full, although it began with a free trial: it gives back the use of its coupon and, also if
// the learner keeps the access, its seat.
func TestARefundedTrial(t *testing.T) {
	for _, end := range []lyceum.Opt[bool]{lyceum.None[bool](), some(false), some(true)} {
		for engine, store := range engines(t) {
			b := openBooks(t, store)
			b.offerTrial(t, 14, lyceum.None[int32]())
			sale := b.sell(t, sales.NewSale{
				User: 1, Plan: trialed, Coupon: some(lyceum.CouponID(1)), Amounts: sales.Amounts{FinalPrice: some(lyceum.Minor(0))},
			})
			b.now = sale.PaidUntil.Value
			paid := b.renew(t, sale.ID, "")
			b.taken(t, 1, 1)
			if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: paid, EndAccess: end}); err != nil {
				t.Fatal(err)
			}
			b.taken(t, 0, 0)
			if s := b.show(t, sale.ID); !s.Released {
				t.Errorf("%s, end_access %v: %+v", engine, end, s.Sale)
			}
			b.healthy(t, b.store)
		}
	}
}

// taken checks how many seats of the plan with the trial, and how many uses of coupon 1, are
// taken.
func (b *books) taken(t *testing.T, seats, uses int64) {
	t.Helper()
	got, err := b.store.In(t.Context(), b.school).CountTaken([]lyceum.PricingPlanID{trialed}, []lyceum.CouponID{1})
	if err != nil || got.Seats[trialed] != seats || got.Uses[1] != uses {
		t.Errorf("taken %+v, %v; want %d seats and %d uses", got, err, seats, uses)
	}
}

// TestAnImportedTrialIsRefunded imports a payment of 0 and a refunded one of a sale, in each
// order, together and one by one.
func TestAnImportedTrialIsRefunded(t *testing.T) {
	for _, order := range [][][]int{{{0, 1}}, {{1, 0}}, {{0}, {1}}, {{1}, {0}}} {
		for engine, store := range engines(t) {
			b := openBooks(t, store)
			b.offerTrial(t, 14, lyceum.None[int32]())
			payments := make([]lyceum.Transaction, 2)
			for n := range payments {
				at := b.now.AddDate(0, 0, -40+14*n)
				payments[n] = lyceum.Transaction{
					ID: lyceum.TransactionID(n + 1), SaleID: 1, UserID: 1, PricingPlanID: trialed, CreatedAt: at, PurchasedAt: at,
					Currency: "USD", Paid: true, CouponID: some(lyceum.CouponID(1)),
				}
			}
			paid := &payments[1]
			paid.FinalPrice, paid.Charge, paid.Revenue, paid.AmountRefunded, paid.RefundedAt = 1000, 1000, 1000, 1000, some(b.now)
			file := b.service.Import(b.by(), lyceum.RefuseMissing)
			for _, rows := range order {
				var batch []lyceum.Transaction
				for _, n := range rows {
					batch = append(batch, payments[n])
				}
				if _, problems, err := file.Save(t.Context(), batch); err != nil || len(problems) > 0 {
					t.Fatal(problems, err)
				}
			}
			b.taken(t, 0, 0)
			if s := b.show(t, 1); !s.Released {
				t.Errorf("%s, in the order %v: %+v", engine, order, s.Sale)
			}
			b.healthy(t, b.store)
		}
	}
}
