package sales_test

import (
	"errors"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestAStopIsAnnouncedOnce checks what each act announces: Sale.subscription_canceled comes
// when the sale stops being active, and only once.
func TestAStopIsAnnouncedOnce(t *testing.T) {
	type act struct {
		name      string
		do        func(*testing.T, *books) error
		announced int
	}
	refund := act{"refund", func(t *testing.T, b *books) error {
		_, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: 1})
		return err
	}, 1}
	cancel := act{"cancel", func(t *testing.T, b *books) error {
		_, err := b.service.Cancel(t.Context(), b.by(), sales.Ending{Sale: 1})
		return err
	}, 0}
	keep := act{"refund, and access stays", func(t *testing.T, b *books) error {
		_, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: 1, EndAccess: some(false)})
		return err
	}, 0}
	void := act{"void", func(t *testing.T, b *books) error {
		_, err := b.service.EndNow(t.Context(), b.by(), sales.Ending{Sale: 1})
		return err
	}, 1}
	dispute := act{"lose", func(t *testing.T, b *books) error {
		d, err := b.service.OpenDispute(t.Context(), b.by(), sales.NewDispute{Transaction: 1})
		if err == nil {
			_, err = b.service.CloseDispute(t.Context(), b.by(), sales.DisputeOutcome{Dispute: d.ID, State: lyceum.DisputeLost})
		}
		return err
	}, 1}
	win := act{"win", func(t *testing.T, b *books) error {
		_, err := b.service.CloseDispute(t.Context(), b.by(), sales.DisputeOutcome{Dispute: 1, State: lyceum.DisputeWon})
		return err
	}, 0}
	unenroll := act{"unenroll", func(t *testing.T, b *books) error {
		return b.learning.Unenroll(t.Context(), b.by(), learning.UserProduct{User: 1, Product: lyceum.CourseID(1).Product()})
	}, 1}
	change := act{"change", func(t *testing.T, b *books) error {
		_, err := b.service.ChangePlan(t.Context(), b.by(), to(1, 6, ""))
		return err
	}, 1}
	soon := act{"20 days", func(_ *testing.T, b *books) error { b.pass(20); return nil }, 0}
	wait := act{"40 days", func(_ *testing.T, b *books) error { b.pass(40); return nil }, 0}
	turn := act{"the clock", func(t *testing.T, b *books) error { return b.service.EndPeriods(t.Context(), b.school) }, 0}
	paidOnce := act{"its plan is paid once from now on", func(t *testing.T, b *books) error {
		return b.store.Write(t.Context(), b.by().Stamp(b.now), func(tx lyceum.Tx) error {
			plan, err := tx.PricingPlans.Get(tx, 2)
			plan.Frequency = lyceum.OneTimePayment
			return errors.Join(err, tx.PricingPlans.Update(tx, plan))
		})
	}, 0}
	once := func(a act) act { a.announced = 1; return a }
	never := func(a act) act { a.announced = 0; return a }
	for _, tc := range []struct {
		name   string
		plan   lyceum.PricingPlanID
		policy lyceum.Consequence
		acts   []act
	}{
		{"cancelled at the end of the period", 2, lyceum.AtPeriodEnd, []act{cancel, turn, wait, once(turn), turn}},
		{"cancelled, and its plan changes", 2, lyceum.AtPeriodEnd, []act{cancel, paidOnce, wait, once(turn), turn}},
		{"cancelled at once", 2, lyceum.Unenroll, []act{once(cancel), wait, turn}},
		{"cancelled, and access stays", 2, lyceum.Keep, []act{once(cancel), wait, turn}},
		{"cancelled when the period is over", 2, lyceum.AtPeriodEnd, []act{wait, once(cancel), turn}},
		{"cancelled, then refunded", 2, lyceum.AtPeriodEnd, []act{cancel, refund, wait, turn}},
		{"cancelled, then lost, then won", 2, lyceum.AtPeriodEnd, []act{cancel, dispute, win, wait, turn}},
		{"refunded", 2, lyceum.AtPeriodEnd, []act{refund, wait, turn}},
		{"voided", 2, lyceum.AtPeriodEnd, []act{void, wait, turn}},
		{"lost, won, cancelled", 2, lyceum.AtPeriodEnd, []act{dispute, win, cancel, wait, turn}},
		{"unenrolled", 2, lyceum.AtPeriodEnd, []act{unenroll, wait, turn}},
		{"cancelled, then unenrolled", 2, lyceum.AtPeriodEnd, []act{cancel, unenroll, wait, turn}},
		{"cancelled, then refunded, and access stays", 2, lyceum.AtPeriodEnd, []act{cancel, keep, turn, soon, turn, soon, once(turn), turn}},
		{"changed", 2, lyceum.AtPeriodEnd, []act{change, wait, turn}},
		{"paid once and refunded", 1, lyceum.AtPeriodEnd, []act{never(refund), wait, turn}},
		{"paid once and voided", 1, lyceum.AtPeriodEnd, []act{never(void), wait, turn}},
		{"free and voided", 4, lyceum.AtPeriodEnd, []act{never(void), wait, turn}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBooks(t)
			policy := lyceum.DefaultSalePolicy()
			policy.OnCancellation = tc.policy
			if err := b.configure(t.Context(), policy, lyceum.UTC); err != nil {
				t.Fatal(err)
			}
			n := sales.NewSale{User: 1, Plan: tc.plan}
			if tc.plan == 2 {
				n.Charge = some(lyceum.USDCents(540))
			}
			b.sell(t, n)
			for i, a := range tc.acts {
				before := b.last(t)
				if err := a.do(t, b); err != nil {
					t.Fatal(a.name, err)
				}
				got := 0
				for _, event := range b.events(t, before) {
					if event == "Sale.subscription_canceled 1" {
						got++
					}
				}
				if got != a.announced {
					t.Errorf("act %d, %s: announced %d times, want %d", i+1, a.name, got, a.announced)
				}
			}
			b.healthy(t, b.store)
		})
	}
}

// TestAnEndIsOneEntry checks that a refund that ends a sale updates the sale only once.
func TestAnEndIsOneEntry(t *testing.T) {
	b := newBooks(t)
	b.sell(t, sales.NewSale{User: 1, Plan: 6, Amounts: sales.Amounts{FinalPrice: some(lyceum.Minor(700))}})
	before := b.last(t)
	if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: 1}); err != nil {
		t.Fatal(err)
	}
	entries, err := storetest.FindEntries(t.Context(), b.store, b.school, before, 100)
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for _, e := range entries {
		if e.Type == lyceum.SaleUpdated {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("%d entries for the sale, want 1: %+v", changed, entries)
	}
}
