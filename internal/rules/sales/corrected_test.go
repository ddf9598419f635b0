package sales_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
)

// TestAnImportCorrectsASale checks that a file that corrects what an earlier one said about a
// payment leaves the same sale, seats, uses and reasons for access as if the correct file had been
// the first.
func TestAnImportCorrectsASale(t *testing.T) {
	for engine, store := range engines(t) {
		at := time.Date(2026, 1, 30, 12, 0, 0, 0, time.UTC)
		paid := func(id lyceum.TransactionID, days int) lyceum.Transaction {
			return lyceum.Transaction{
				ID: id, SaleID: 1, UserID: 1, PricingPlanID: 1, CreatedAt: at.AddDate(0, 0, days), PurchasedAt: at.AddDate(0, 0, days),
				FinalPrice: 1999, Charge: 1999, Revenue: 1999, Currency: "USD", Paid: true, CouponID: lyceum.Some(lyceum.CouponID(1)),
			}
		}
		for name, correct := range map[string]func(*lyceum.Transaction){
			"buyer":     func(p *lyceum.Transaction) { p.UserID = 2 },
			"plan":      func(p *lyceum.Transaction) { p.PricingPlanID = 7 },
			"coupon":    func(p *lyceum.Transaction) { p.CouponID = lyceum.None[lyceum.CouponID]() },
			"affiliate": func(p *lyceum.Transaction) { p.AffiliateID = lyceum.Some(lyceum.AffiliateID(1)) },
			"price":     func(p *lyceum.Transaction) { p.FinalPrice, p.Currency = 100, "EUR" },
			"purchase":  func(p *lyceum.Transaction) { p.PurchasedAt = p.PurchasedAt.Add(-time.Hour) },
		} {
			type outcome struct {
				Sale  lyceum.Sale
				Taken lyceum.Taken
				Gives map[lyceum.UserID]lyceum.Opt[lyceum.SaleID]
			}
			take := func(files ...[]lyceum.Transaction) outcome {
				b := openBooks(t, store)
				_, problems, err := b.learning.ImportEnrollments(b.by()).Save(t.Context(), []lyceum.Enrollment{
					{ID: 1, User: 1, Course: 1, EnrolledAt: at}, {ID: 2, User: 2, Course: 1, EnrolledAt: at},
				})
				if err != nil || len(problems) > 0 {
					t.Fatal(engine, problems, err)
				}
				for _, rows := range files {
					_, problems, err := b.service.Import(b.by(), lyceum.RefuseMissing).Save(t.Context(), rows)
					if err != nil || len(problems) > 0 {
						t.Fatal(engine, problems, err)
					}
				}
				v := store.In(t.Context(), b.school)
				sale, err := v.Sales.Get(v, 1)
				if err != nil {
					t.Fatal(err)
				}
				taken, err := v.CountTaken([]lyceum.PricingPlanID{1, 7}, []lyceum.CouponID{1})
				if err != nil {
					t.Fatal(err)
				}
				gives := map[lyceum.UserID]lyceum.Opt[lyceum.SaleID]{}
				err = v.Entitlements.Each(v, lyceum.EntitlementFilter{}, func(e *lyceum.Entitlement) error {
					gives[e.User] = e.Sale
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				return outcome{sale, taken, gives}
			}
			first, second := paid(1, 0), paid(2, 1)
			right := first
			correct(&right)
			want := take([]lyceum.Transaction{right, second})
			got := take([]lyceum.Transaction{first, second}, []lyceum.Transaction{right, second})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", engine, name, diff)
			}
		}
	}
}
