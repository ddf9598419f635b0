package sales_test

import (
	"testing"

	"github.com/lyceum-school/lyceum"
)

// TestACorrectedPaymentFreesItsSeat imports a sale with a refunded payment and another one, which
// later batches correct: while nothing is left of what was paid, the sale takes neither a seat nor
// a use of its coupon.
func TestACorrectedPaymentFreesItsSeat(t *testing.T) {
	t.Parallel()
	const coupon lyceum.CouponID = 4
	row := func(id lyceum.TransactionID, sale lyceum.SaleID, change ...func(*lyceum.Transaction)) lyceum.Transaction {
		return sold(id, 1, 1, append(change, ofSale(sale), func(x *lyceum.Transaction) { x.CouponID = some(coupon) })...)
	}
	refunded := func(x *lyceum.Transaction) { x.AmountRefunded, x.RefundedAt = x.FinalPrice, some(x.CreatedAt) }
	unpaid := func(x *lyceum.Transaction) { x.Paid = false }
	free := func(x *lyceum.Transaction) { x.FinalPrice, x.Charge, x.Revenue = 0, 0, 0 }
	for name, store := range engines(t) {
		for _, separate := range []bool{false, true} { // whether each batch is imported by itself
			s := fill(t, store)
			in := s.service.Import(lyceum.By{School: s.school, Actor: "import"}, lyceum.RefuseMissing)
			for _, test := range []struct {
				name  string
				batch []lyceum.Transaction
				want  int64
			}{
				{"two are paid, and one of them is refunded", []lyceum.Transaction{row(1, 9, refunded), row(2, 9)}, 1},
				{"the other was not paid", []lyceum.Transaction{row(2, 9, unpaid)}, 0},
				{"it was", []lyceum.Transaction{row(2, 9)}, 1},
				{"it was free", []lyceum.Transaction{row(2, 9, free)}, 0},
				{"it is of another sale", []lyceum.Transaction{row(1, 9, refunded), row(2, 8), row(3, 8, refunded)}, 1},
				{"and back", []lyceum.Transaction{row(2, 9), row(3, 8, refunded)}, 1},
				{"it is refunded as well", []lyceum.Transaction{row(2, 9, refunded)}, 0},
			} {
				if separate {
					in = s.service.Import(lyceum.By{School: s.school, Actor: "import"}, lyceum.RefuseMissing)
				}
				if _, problems, err := in.Save(t.Context(), test.batch); err != nil || len(problems) > 0 {
					t.Fatal(name, test.name, problems, err)
				}
				taken, err := store.In(t.Context(), s.school).CountTaken([]lyceum.PricingPlanID{1}, []lyceum.CouponID{coupon})
				if err != nil || taken.Seats[1] != test.want || taken.Uses[coupon] != test.want {
					t.Errorf("%s, %s: %+v %v, want %d", name, test.name, taken, err, test.want)
				}
				(&books{}).healthy(t, store)
			}
		}
	}
}
