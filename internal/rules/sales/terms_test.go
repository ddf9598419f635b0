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
