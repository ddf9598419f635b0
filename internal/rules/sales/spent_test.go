package sales_test

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestSpentIsWhatDidNotGoBack checks that what a user spent is what they paid minus what they
// got back, to the cent, however a refund was divided between price and tax.
func TestSpentIsWhatDidNotGoBack(t *testing.T) {
	for engine, store := range engines(t) {
		for name, tc := range map[string]struct {
			price, tax lyceum.Minor
			totals     []lyceum.Minor // of refunds
			want       lyceum.USDCents
		}{
			"nothing went back":         {100, 19, nil, 119},
			"a part":                    {100, 19, []lyceum.Minor{3}, 116},
			"several parts":             {100, 19, []lyceum.Minor{3, 3, 50}, 63},
			"all":                       {100, 19, []lyceum.Minor{60, 59}, 0},
			"more tax than price":       {1, 5000, []lyceum.Minor{2000}, 3001},
			"tax on a price of nothing": {0, 30, []lyceum.Minor{10}, 20},
		} {
			b := openBooks(t, store)
			id := b.sell(t, sales.NewSale{User: 1, Plan: 1, Reference: some("ch_1"), Amounts: sales.Amounts{FinalPrice: some(tc.price), TaxCharge: some(tc.tax)}}).Transactions[0].ID
			for _, total := range tc.totals {
				if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: id, Total: some(total)}); err != nil {
					t.Fatal(engine, name, err)
				}
			}
			b.spent(t, engine+", "+name, tc.want)
		}
		b := openBooks(t, store) // the tax of an imported refund is unknown: it counts as part of the price
		storetest.Write(t, store, b.school, func(tx lyceum.Tx) error {
			_, err := tx.Transactions.Save(tx, lyceum.Transaction{
				ID: 1, UserID: 1, SaleID: 1, PricingPlanID: 1, CreatedAt: b.now, PurchasedAt: b.now, FinalPrice: 1000, TaxCharge: 200,
				Charge: 1200, Currency: "USD", Paid: true, AmountRefunded: 400, RefundedAt: some(b.now),
			})
			return err
		})
		b.spent(t, engine+", imported", 720)
	}
}

func (b *books) spent(t *testing.T, name string, want lyceum.USDCents) {
	t.Helper()
	shown, err := people.New(b.store, func() time.Time { return b.now }).Profile(t.Context(), b.by(), 1)
	if err != nil || shown.Spent != want {
		t.Errorf("%s: %d, %v, want %d", name, shown.Spent, err, want)
	}
}
