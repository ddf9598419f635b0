package sales_test

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// TestSalesKeepTheirTerms changes how often a plan is charged while it has subscribers, and checks
// that their payments still pay for a month each, and those of new buyers for what they bought.
func TestSalesKeepTheirTerms(t *testing.T) {
	yearly := learning.PricingPlanChange{ID: trialed, BillingInterval: some(some("year"))}
	once := learning.PricingPlanChange{ID: trialed, Frequency: some(lyceum.OneTimePayment), BillingInterval: some(lyceum.None[string]())}
	for name, change := range map[string]learning.PricingPlanChange{"yearly": yearly, "once": once} {
		for engine, store := range engines(t) {
			b := openBooks(t, store)
			b.now = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
			b.offerTrial(t, 0, lyceum.None[int32]())
			sale := b.sell(t, sales.NewSale{User: 1, Plan: trialed})
			for range 5 {
				b.now = b.show(t, sale.ID).PaidUntil.Value
				b.renew(t, sale.ID, "")
			}
			if _, err := b.learning.UpdatePricingPlan(t.Context(), b.by(), change); err != nil {
				t.Fatal(err)
			}
			b.now = b.show(t, sale.ID).PaidUntil.Value
			paid := b.renew(t, sale.ID, "")
			s := b.show(t, sale.ID)
			if want := time.Date(2026, 8, 15, 12, 0, 0, 0, time.UTC); s.PaidUntil != some(want) || s.Periods[paid].End != want {
				t.Errorf("%s, %s: paid until %v, the last payment until %v; want %v", engine, name, s.PaidUntil, s.Periods[paid].End, want)
			}
			if p, err := b.service.Purchase(t.Context(), b.by(), sales.PurchaseQuery{Sale: sale.ID}); err != nil || !p.Plan.Recurring() || p.Plan.BillingInterval != some("month") {
				t.Errorf("%s, %s: the purchase is shown as %s, %v: %v", engine, name, p.Plan.Frequency, p.Plan.BillingInterval, err)
			}
			fresh := b.sell(t, sales.NewSale{User: 2, Plan: trialed})
			want := lyceum.None[time.Time]()
			if name == "yearly" {
				want = some(b.now.AddDate(1, 0, 0))
			}
			if got := b.show(t, fresh.ID).PaidUntil; got != want {
				t.Errorf("%s, %s: a new buyer has paid until %v, want %v", engine, name, got, want)
			}
			if _, err := b.service.Cancel(t.Context(), b.by(), sales.Ending{Sale: sale.ID}); err != nil {
				t.Errorf("%s, %s: cancel: %v", engine, name, err)
			}
			b.healthy(t, b.store)
		}
	}
}

// TestSinglePaymentsStaySingle makes a subscription of a plan that was paid once or free, and
// checks that its older sales have nothing due, whatever happens to them, until one is charged
// again.
func TestSinglePaymentsStaySingle(t *testing.T) {
	for _, plan := range []lyceum.PricingPlanID{1, 4} {
		for engine, store := range engines(t) {
			b := openBooks(t, store)
			b.choose(t, lyceum.SalePolicy{OnChargeback: lyceum.Unenroll, OnLapse: lyceum.EndSale})
			first := b.sell(t, sales.NewSale{User: 1, Plan: plan})
			other := b.sell(t, sales.NewSale{User: 2, Plan: plan})
			change := learning.PricingPlanChange{
				ID: plan, Frequency: some(lyceum.Subscription), Price: some(lyceum.Minor(1999)),
				BillingInterval: some(some("month")), BillingIntervalCount: some(some(int32(1))),
			}
			b.now = b.now.AddDate(0, 0, 1)
			if _, err := b.learning.UpdatePricingPlan(t.Context(), b.by(), change); err != nil {
				t.Fatal(err)
			}
			fresh := b.sell(t, sales.NewSale{User: 3, Plan: plan})
			if fresh.Status != some(sales.Active) {
				t.Errorf("%s, plan %d: a new sale is %v", engine, plan, fresh.Status)
			}
			if plan == 1 {
				d, err := b.service.OpenDispute(t.Context(), b.by(), sales.NewDispute{Transaction: first.Transactions[0].ID})
				for _, state := range []lyceum.DisputeState{lyceum.DisputeLost, lyceum.DisputeWon} {
					if err == nil {
						_, err = b.service.CloseDispute(t.Context(), b.by(), sales.DisputeOutcome{Dispute: d.ID, State: state})
					}
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			b.pass(80)
			b.lapse(t)
			if s := b.show(t, first.ID); s.Status.Present || s.PaidUntil.Present || s.EndedAt.Present {
				t.Errorf("%s, plan %d: a sale that was paid once is %v, paid until %v, ended %v", engine, plan, s.Status, s.PaidUntil, s.EndedAt)
			}
			if s := b.show(t, fresh.ID); s.Status != some(sales.Ended) {
				t.Errorf("%s, plan %d: the new sale is %v", engine, plan, s.Status)
			}
			product := learning.UserProduct{User: 1, Product: lyceum.CourseID(1 + plan/4).Product()}
			if err := b.learning.Unenroll(t.Context(), b.by(), product); err != nil {
				t.Error(err)
			}
			if stops := b.stops(t); len(stops) != 1 || b.show(t, first.ID).EndedAt.Present {
				t.Errorf("%s, plan %d: to stop: %v", engine, plan, stops)
			}
			paid := b.renew(t, other.ID, "ch_2")
			if s := b.show(t, other.ID); s.Status != some(sales.Active) || s.Periods[paid].End != s.PaidUntil.Value {
				t.Errorf("%s, plan %d: a sale that was charged again is %v, paid until %v", engine, plan, s.Status, s.PaidUntil)
			}
			b.healthy(t, b.store)
		}
	}
}

// TestPurchasesAreFilteredByTheirTerms checks that is_recurring selects the purchases that are
// shown so, whatever the terms of their plan were before.
func TestPurchasesAreFilteredByTheirTerms(t *testing.T) {
	terms := `[{"until":"2026-01-05T12:00:00Z","frequency":"one_time_payment"},{"until":"2026-01-10T12:00:00Z","frequency":"subscription"},` +
		`{"until":"2026-01-15T12:00:00Z","frequency":"free"},{"until":"2026-01-20T12:00:00Z","frequency":"payment_plan"}]`
	for engine, store := range engines(t) {
		b := openBooks(t, store)
		err := store.Write(t.Context(), b.by().Stamp(b.now), func(tx lyceum.Tx) error {
			plans, err := tx.PricingPlans.Find(tx, 1, 2)
			if err != nil {
				return err
			}
			for id, plan := range plans {
				before := plan
				before.ID, before.EarlierTerms = id+20, some(lyceum.EarlierTerms(terms))
				if _, err := tx.PricingPlans.Save(tx, before); err != nil {
					return err
				}
			}
			for i := range lyceum.SaleID(4 * 3 * 25) {
				s := lyceum.Sale{ID: i + 1, UserID: some(lyceum.UserID(1)), PricingPlanID: some([]lyceum.PricingPlanID{1, 2, 21, 22}[i%4])}
				s.CreatedAt = time.Date(2026, 1, 1+int(i/12), 12, 0, -int(i%2), 0, time.UTC)
				s.PurchasedAt = s.CreatedAt
				if i/4%3 > 0 {
					s.BilledSince = some(s.CreatedAt)
				}
				if i/4%3 > 1 {
					s.BillingAnchor = some(s.CreatedAt)
				}
				if _, err := tx.Sales.Save(tx, s); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		list := func(recurring lyceum.Opt[bool]) map[lyceum.SaleID]bool {
			found, err := b.service.Purchases(t.Context(), b.by(), lyceum.PurchaseFilter{Recurring: recurring}, lyceum.Page{Number: 1, Size: 300})
			if err != nil || found.Total != int64(len(found.Rows)) {
				t.Fatal(found.Total, len(found.Rows), err)
			}
			shown := map[lyceum.SaleID]bool{}
			for i := range found.Rows {
				shown[found.Rows[i].ID] = found.Rows[i].Plan.Recurring()
			}
			return shown
		}
		all := list(lyceum.None[bool]())
		for _, want := range []bool{true, false} {
			found := list(some(want))
			for id, is := range all {
				if _, listed := found[id]; listed != (is == want) {
					t.Errorf("%s: purchase %d, recurring %t, is listed with is_recurring=%t: %t", engine, id, is, want, listed)
				}
			}
		}
	}
}
