package apiv1_test

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// engines has a function per engine that opens an empty store.
var engines = map[string]storetest.Opener{
	"sqlite": func(t *testing.T) lyceum.Store {
		t.Helper()
		return opened(t)(sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{}))
	},
	"postgres": func(t *testing.T) lyceum.Store {
		t.Helper()
		return opened(t)(sqlstore.OpenPostgres(t.Context(), storetest.Postgres(t), sqlstore.Options{}))
	},
}

func opened(t *testing.T) func(*sqlstore.Store, error) lyceum.Store {
	return func(store *sqlstore.Store, err error) lyceum.Store {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		return store
	}
}

func on(ids ...lyceum.TransactionID) map[lyceum.TransactionID]bool {
	set := map[lyceum.TransactionID]bool{}
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// The transactions of the small school that are special, by what is special about them.
var (
	unpaid       = on(9, 29)
	chargedBack  = on(5, 25, 45)
	refunded     = on(6, 16, 26)
	overRefunded = on(36)
	halfRefunded = on(8, 18)
	free         = on(50)
)

// day returns 9 o'clock on the n-th day of 2024.
func day(n int) time.Time { return time.Date(2024, 1, n, 9, 0, 0, 0, time.UTC) }

// plans are the pricing plans of the small school: 10 transactions each, in this order.
var plans = []lyceum.PricingPlan{
	{ID: 1, CourseID: lyceum.Some(lyceum.CourseID(1)), Name: "Pottery", Price: 1000, Currency: "USD", Frequency: lyceum.OneTimePayment, CreatedAt: day(1), UpdatedAt: day(1)},
	{ID: 2, CourseID: lyceum.Some(lyceum.CourseID(2)), Name: "Welding", Price: 2000, Currency: "EUR", Frequency: lyceum.OneTimePayment, CreatedAt: day(1), UpdatedAt: day(1)},
	{ID: 3, CourseID: lyceum.Some(lyceum.CourseID(1)), Name: "Pottery monthly", Price: 3000, Currency: "JPY", Frequency: lyceum.Subscription, CreatedAt: day(1), UpdatedAt: day(1)},
	{ID: 4, Name: "Clay", Price: 4000, Currency: "USD", Frequency: lyceum.OneTimePayment, CreatedAt: day(1), UpdatedAt: day(1)},
	{ID: 5, CourseID: lyceum.Some(lyceum.CourseID(3)), Name: "Glass", Price: 5000, Currency: "USD", Frequency: lyceum.PaymentPlan, CreatedAt: day(1), UpdatedAt: day(1)},
}

// transaction returns the transaction with an id. One is created each day, except that 44 comes
// after 45, and 43 in the same second as 42.
func transaction(id lyceum.TransactionID) lyceum.Transaction {
	plan := &plans[(id-1)/10]
	created := day(int(id))
	switch id {
	case 43:
		created = day(42)
	case 44:
		created = day(45)
	case 45:
		created = day(44)
	}
	t := lyceum.Transaction{
		ID: id, UserID: lyceum.UserID((id-1)%10 + 1), PricingPlanID: plan.ID, SaleID: lyceum.SaleID((id + 1) / 2),
		CreatedAt: created, PurchasedAt: created, FinalPrice: plan.Price, Currency: plan.Currency, Paid: !unpaid[id],
	}
	if free[id] {
		t.FinalPrice = 0
	}
	if t.Paid && !free[id] {
		t.Charge, t.TaxCharge, t.Revenue = lyceum.USDCents(plan.Price)+190, 190, lyceum.USDCents(plan.Price)-90
	}
	if plan.Frequency == lyceum.Subscription {
		t.PurchasedAt = time.Date(2023, 12, 1, 8, 30, 15, 0, time.UTC)
	}
	switch {
	case chargedBack[id]:
		t.HasChargeback, t.ChargebackFee = lyceum.Some(true), lyceum.Some(lyceum.Minor(1500))
	case id%4 == 0:
		t.HasChargeback = lyceum.Some(false)
	}
	switch id % 7 {
	case 0:
		t.AffiliateID, t.AffiliateFees = lyceum.Some(lyceum.AffiliateID(1)), 250
	case 3:
		t.AffiliateID, t.AffiliateFees = lyceum.Some(lyceum.AffiliateID(2)), 125
	}
	if id%2 == 0 {
		t.AuthorID, t.AuthorFees = lyceum.Some(lyceum.AuthorID(1)), 300
	}
	if id%5 == 0 {
		t.CouponID = lyceum.Some(lyceum.CouponID(1))
	}
	switch {
	case refunded[id]:
		t.AmountRefunded = plan.Price
	case overRefunded[id]:
		t.AmountRefunded = plan.Price + 100
	case halfRefunded[id]:
		t.AmountRefunded = plan.Price / 2
	}
	if t.AmountRefunded > 0 {
		t.RefundedAt = lyceum.Some(created.Add(24*time.Hour + 30*time.Minute))
	}
	return t
}

// smallSchool stores the school of 50 transactions, and a second one whose single transaction
// must not be in any response.
func smallSchool(t *testing.T, store lyceum.Store) lyceum.SchoolID {
	t.Helper()
	school := storetest.MakeSchool(t, store)
	fill(t, store, school, func() (all []lyceum.Transaction) {
		for id := range lyceum.TransactionID(50) {
			all = append(all, transaction(id*7%50+1)) // in no particular order
		}
		return all
	}()...)
	stranger := transaction(1)
	stranger.CreatedAt = day(100)
	fill(t, store, storetest.MakeSchool(t, store), stranger)
	return school
}

func fill(t *testing.T, store lyceum.Store, school lyceum.SchoolID, transactions ...lyceum.Transaction) {
	t.Helper()
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		var users []lyceum.User
		for id := range lyceum.UserID(10) {
			users = append(users, lyceum.User{ID: id + 1, Email: string(rune('a'+id)) + "@example.com", Role: lyceum.Student, CreatedAt: day(1)})
		}
		courses := []lyceum.Course{{ID: 1, Name: "Pottery", CreatedAt: day(1)}, {ID: 2, Name: "Welding", CreatedAt: day(1)}, {ID: 3, Name: "Glass", CreatedAt: day(1)}}
		sales := map[lyceum.SaleID]bool{}
		for _, save := range []func() (lyceum.Saved, error){
			func() (lyceum.Saved, error) { return tx.Users.Save(tx, users...) },
			func() (lyceum.Saved, error) { return tx.Courses.Save(tx, courses...) },
			func() (lyceum.Saved, error) { return tx.PricingPlans.Save(tx, plans...) },
			func() (lyceum.Saved, error) { return tx.Coupons.Save(tx, lyceum.Coupon{ID: 1}) },
			func() (lyceum.Saved, error) {
				return tx.Affiliates.Save(tx, lyceum.AffiliatePartner{ID: 1}, lyceum.AffiliatePartner{ID: 2})
			},
			func() (lyceum.Saved, error) { return tx.Authors.Save(tx, lyceum.AuthorProfile{ID: 1}) },
			func() (lyceum.Saved, error) {
				var rows []lyceum.Sale
				for _, x := range transactions {
					if !sales[x.SaleID] {
						sales[x.SaleID] = true
						rows = append(rows, lyceum.Sale{ID: x.SaleID, CreatedAt: day(1)})
					}
				}
				return tx.Sales.Save(tx, rows...)
			},
			func() (lyceum.Saved, error) { return tx.Transactions.Save(tx, transactions...) },
		} {
			if _, err := save(); err != nil {
				return err
			}
		}
		return nil
	})
}
