package sales_test

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestAnImportMovesAPayment moves the only payment of a sale that is not refunded to another sale,
// and back, each by one import and by one of its own.
func TestAnImportMovesAPayment(t *testing.T) {
	for engine, store := range engines(t) {
		for _, once := range []bool{true, false} {
			b := openBooks(t, store)
			at := b.now.Add(-24 * time.Hour)
			paid := func(id lyceum.TransactionID, sale lyceum.SaleID) lyceum.Transaction {
				return lyceum.Transaction{
					ID: id, SaleID: sale, UserID: 1, PricingPlanID: 1, CreatedAt: at, PurchasedAt: at,
					FinalPrice: 1999, Charge: 1999, Revenue: 1999, Currency: "USD", Paid: true,
				}
			}
			refunded := paid(1, 1)
			refunded.AmountRefunded, refunded.RefundedAt = 1999, lyceum.Some(storetest.Begin)
			file := b.service.Import(b.by(), lyceum.RefuseMissing)
			for _, step := range []struct {
				payments []lyceum.Transaction
				released bool
			}{
				{[]lyceum.Transaction{refunded, paid(2, 1), paid(3, 2)}, false},
				{[]lyceum.Transaction{paid(2, 2)}, true},
				{[]lyceum.Transaction{paid(4, 1)}, false},
				{[]lyceum.Transaction{paid(4, 2)}, true},
			} {
				if !once {
					file = b.service.Import(b.by(), lyceum.RefuseMissing)
				}
				if _, problems, err := file.Save(t.Context(), step.payments); err != nil || len(problems) > 0 {
					t.Fatal(engine, problems, err)
				}
				v := store.In(t.Context(), b.school)
				sale, err := v.Sales.Get(v, 1)
				if err != nil || sale.Released != step.released {
					t.Errorf("%s, one import %t: released %t after payment %d of sale %d, %v", engine, once, sale.Released,
						step.payments[0].ID, step.payments[0].SaleID, err)
				}
			}
			findings, err := store.Check(t.Context())
			if err != nil || len(findings) > 0 {
				t.Errorf("%s, one import %t: %v, %v", engine, once, findings, err)
			}
		}
	}
}
