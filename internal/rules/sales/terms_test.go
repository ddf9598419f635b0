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
