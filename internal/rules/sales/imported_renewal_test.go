package sales_test

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// TestAnImportedRenewalIsPaidFor imports the payments of a subscription before and after
// something was recorded here for it: its access does not lapse while it is paid for.
func TestAnImportedRenewalIsPaidFor(t *testing.T) {
	for engine, store := range engines(t) {
		b := openBooks(t, store)
		payment := func(id lyceum.TransactionID) lyceum.Transaction {
			return lyceum.Transaction{
				ID: id, SaleID: 1, UserID: 1, PricingPlanID: 6, CreatedAt: b.now, PurchasedAt: b.now, Paid: true,
				FinalPrice: 700, Currency: "USD", Charge: 700,
			}
		}
		load := func(row lyceum.Transaction) {
			t.Helper()
			_, problems, err := b.service.Import(b.by(), lyceum.RefuseMissing).Save(t.Context(), []lyceum.Transaction{row})
			if err != nil || len(problems) > 0 {
				t.Fatal(problems, err)
			}
		}
		b.now = time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC)
		load(payment(1))
		b.now = time.Date(2026, 2, 10, 13, 0, 0, 0, time.UTC)
		if _, err := b.service.FailPayment(t.Context(), b.by(), sales.NewFailure{Sale: 1}); err != nil {
			t.Fatal(err)
		}
		b.now = time.Date(2026, 2, 13, 12, 0, 0, 0, time.UTC)
		load(payment(2))
		paid := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
		if got := b.show(t, 1); got.PaidUntil != some(paid) || got.Status != some(sales.Active) {
			t.Errorf("%s: %s, paid until %v, want %v", engine, got.Status.Value, got.PaidUntil, paid)
		}
		b.now = time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)
		b.lapse(t)
		if got := b.show(t, 1); got.EndedAt.Present {
			t.Errorf("%s: ended as %s although it is paid until %v", engine, got.EndReason.Value, paid)
		}
		b.healthy(t, b.store)
	}
}
