package sqlstore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// Lists of active and of other purchases, which read all sales of a school, find the same as
// looking at each sale separately.
func TestActivePurchases(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) (*Store, error){
		"SQLite":     func(t *testing.T) (*Store, error) { return Open(t.Context(), t.TempDir(), Options{Synchronous: Off}) },
		"PostgreSQL": func(t *testing.T) (*Store, error) { return OpenPostgres(t.Context(), storetest.Postgres(t), Options{}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			school, r := storetest.MakeSchool(t, s), rand.New(rand.NewPCG(1, 4))
			storetest.Write(t, s, storetest.MakeSchool(t, s), func(tx lyceum.Tx) error { return takenBackSales(tx, r, 60) })
			storetest.Write(t, s, school, func(tx lyceum.Tx) error { return takenBackSales(tx, r, 300) })
			v := s.In(t.Context(), school)
			total := 0
			for _, p := range []lyceum.PurchaseFilter{
				{Active: lyceum.Some(true)},
				{Active: lyceum.Some(false)},
				{Active: lyceum.Some(true), User: lyceum.Some[lyceum.UserID](2)},
				{Active: lyceum.Some(false), Method: lyceum.Some(lyceum.PaymentMethod("paypal"))},
			} {
				f := lyceum.SaleFilter{Purchases: lyceum.Some(p)}
				want, e1 := lyceum.All(v.Sales, v, f)
				got, e2 := v.Sales.List(v, f, lyceum.Page{Number: 1, Size: 1000})
				if err := errors.Join(e1, e2); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.Rows, want) || got.Total != int64(len(want)) || len(want) == 0 {
					t.Errorf("%+v has %d purchases and a total of %d, want %d", p, len(got.Rows), got.Total, len(want))
				}
				if !p.User.Present && !p.Method.Present {
					total += len(want)
				}
			}
			if total != 300 {
				t.Errorf("%d purchases are active or not, want 300", total)
			}
		})
	}
}

// takenBackSales adds sales that are randomly ended, refunded, charged back and disputed.
func takenBackSales(tx lyceum.Tx, r *rand.Rand, n int) error {
	for id := range lyceum.UserID(3) {
		user := lyceum.User{ID: id + 1, Email: fmt.Sprint(id, "@example.com"), Role: lyceum.Student, CreatedAt: storetest.Begin}
		if _, err := tx.Users.Save(tx, user); err != nil {
			return err
		}
	}
	plan := lyceum.PricingPlan{ID: 1, Name: "Once", Currency: "USD", Frequency: lyceum.OneTimePayment, CreatedAt: storetest.Begin}
	if _, err := tx.PricingPlans.Save(tx, plan); err != nil {
		return err
	}
	for id := range lyceum.SaleID(n) {
		sale := lyceum.Sale{
			ID: id + 1, CreatedAt: storetest.Begin, PurchasedAt: storetest.Begin, Released: r.IntN(20) == 0,
			UserID: lyceum.Some(lyceum.UserID(1 + r.IntN(3))),
		}
		if r.IntN(2) == 0 {
			sale.Method = lyceum.Some(lyceum.PaymentMethod("paypal"))
		}
		if r.IntN(8) == 0 {
			sale.EndedAt, sale.EndReason = lyceum.Some(storetest.Begin), lyceum.Some(lyceum.SaleCanceled)
		}
		if _, err := tx.Sales.Save(tx, sale); err != nil {
			return err
		}
		payment := lyceum.Transaction{
			ID: lyceum.TransactionID(id + 1), SaleID: sale.ID, UserID: sale.UserID.Value, PricingPlanID: 1, Currency: "USD",
			CreatedAt: storetest.Begin, FinalPrice: 10, AmountRefunded: lyceum.Minor([]int{0, 4, 10}[r.IntN(3)]),
			HasChargeback: lyceum.Some(r.IntN(3) == 0),
		}
		if _, err := tx.Transactions.Save(tx, payment); err != nil {
			return err
		}
		for d := range r.IntN(3) {
			_, err := tx.Disputes.Save(tx, lyceum.Dispute{
				ID: lyceum.DisputeID(3*int(id) + d + 1), TransactionID: payment.ID, SaleID: sale.ID, OpenedAt: storetest.Begin,
				Amount: lyceum.Minor(1 + r.IntN(10)), Tax: lyceum.Minor(r.IntN(2)),
				State: []lyceum.DisputeState{lyceum.DisputeOpen, lyceum.DisputeWon, lyceum.DisputeLost}[r.IntN(3)],
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
