package sqlstore

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// soldBefore saves n transactions of pricing plans 1 to 3. Each plan sells the course with its
// id, made by the author and referred by the affiliate with that id. It returns the transactions
// in order of time; several have the same time.
func soldBefore(t *testing.T, store *Store, n int) (lyceum.SchoolID, []lyceum.Transaction) {
	t.Helper()
	school := storetest.MakeSchool(t, store)
	random := rand.New(rand.NewPCG(1, uint64(n)))
	sold := make([]lyceum.Transaction, n)
	sales := make([]lyceum.Sale, n)
	for i := range sold {
		at := storetest.Begin.Add(time.Duration(random.IntN(n/2)) * time.Minute)
		of := 1 + random.Int32N(3)
		sold[i] = lyceum.Transaction{
			ID: lyceum.TransactionID(i + 1), SaleID: lyceum.SaleID(i + 1), UserID: lyceum.UserID(1 + random.IntN(20)),
			PricingPlanID: lyceum.PricingPlanID(of), AffiliateID: lyceum.Some(lyceum.AffiliateID(of)),
			AuthorID: lyceum.Some(lyceum.AuthorID(of)), CreatedAt: at, PurchasedAt: at, FinalPrice: 1000,
			Charge: 1000, Revenue: 1000, Currency: "USD", Paid: random.IntN(5) > 0,
		}
		sales[i] = lyceum.SaleOf(&sold[i])
	}
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		for id := range int32(20) {
			u := lyceum.User{ID: lyceum.UserID(id + 1), Email: fmt.Sprintf("u%d@example.com", id), Role: lyceum.Student, CreatedAt: storetest.Begin}
			if _, err := tx.Users.Save(tx, u); err != nil {
				return err
			}
		}
		for id := range int32(3) {
			_, e1 := tx.Affiliates.Save(tx, lyceum.AffiliatePartner{ID: lyceum.AffiliateID(id + 1)})
			_, e2 := tx.Authors.Save(tx, lyceum.AuthorProfile{ID: lyceum.AuthorID(id + 1)})
			if err := errors.Join(e1, e2); err != nil {
				return err
			}
			c := lyceum.Course{ID: lyceum.CourseID(id + 1), Name: "Course", CreatedAt: storetest.Begin}
			if _, err := tx.Courses.Save(tx, c); err != nil {
				return err
			}
			p := lyceum.PricingPlan{
				ID: lyceum.PricingPlanID(id + 1), Name: "Plan", Currency: "USD", CourseID: lyceum.Some(c.ID), CreatedAt: storetest.Begin,
			}
			if _, err := tx.PricingPlans.Save(tx, p); err != nil {
				return err
			}
		}
		return nil
	})
	for first := 0; first < n; first += 1000 {
		last := min(n, first+1000)
		storetest.Write(t, store, school, func(tx lyceum.Tx) error {
			if err := tx.Sales.Insert(tx, sales[first:last]...); err != nil {
				return err
			}
			_, err := tx.Transactions.Save(tx, sold[first:last]...)
			return err
		})
	}
	slices.SortFunc(sold, func(a, b lyceum.Transaction) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return school, sold
}

// Buyers are found in parts: each once, in order, however many transactions of others are between
// them, and no transaction is read twice.
func TestBuyersAreFoundInParts(t *testing.T) {
	t.Parallel()
	const n = 3*lookedAt - 7
	bothEngines(t, Options{}, func(t *testing.T, store *Store) {
		school, sold := soldBefore(t, store, n)
		for _, tc := range []struct {
			plans []lyceum.PricingPlanID
			limit int
			parts int // at least as many as it takes to read all transactions, or to return all matches
		}{
			{[]lyceum.PricingPlanID{2}, lookedAt, 3},
			{[]lyceum.PricingPlanID{1, 2, 3}, lookedAt, 3},
			{[]lyceum.PricingPlanID{1, 3}, 900, 9},
			{[]lyceum.PricingPlanID{7}, 1, 3},
		} {
			var want, got []lyceum.UserID
			for i := range sold {
				if sold[i].Paid && slices.Contains(tc.plans, sold[i].PricingPlanID) {
					want = append(want, sold[i].UserID)
				}
			}
			parts := 0
			q := lyceum.BuyerQuery{Plans: tc.plans, Limit: tc.limit}
			for more := true; more; parts++ {
				var found lyceum.BuyerListing
				storetest.Write(t, store, school, func(tx lyceum.Tx) (err error) {
					found, err = tx.FindBuyers(q)
					return err
				})
				if len(found.Users) > tc.limit || parts > 20 {
					t.Fatalf("part %d has %d", parts, len(found.Users))
				}
				got = append(got, found.Users...)
				q.After, q.ID, more = found.After, found.ID, found.More
			}
			if !slices.Equal(got, want) || parts < tc.parts || parts > tc.parts+3 {
				t.Errorf("of %v, at most %d: %d in %d parts, want %d in %d", tc.plans, tc.limit, len(got), parts, len(want), tc.parts)
			}
		}
	})
}

// Buyers are searched in order of time, by an index.
func TestBuyersAreReadByAnIndex(t *testing.T) {
	t.Parallel()
	store, by := spied(t)
	school := storetest.MakeSchool(t, store)
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		by.seen = nil
		_, err := tx.FindBuyers(lyceum.BuyerQuery{Plans: []lyceum.PricingPlanID{1, 2}, Limit: 100})
		return err
	})
	steps := strings.Join(stepsOf(t, store, by), "\n")
	if !strings.Contains(steps, "INDEX transactions_created") || strings.Contains(steps, "SCAN") ||
		strings.Contains(steps, "TEMP B-TREE") {
		t.Errorf("they are read by\n%s", steps)
	}
}
