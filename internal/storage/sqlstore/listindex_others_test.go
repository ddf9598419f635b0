package sqlstore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// onIndexedStores runs a test on each engine with a store in which every list may have an index.
func onIndexedStores(t *testing.T, test func(t *testing.T, h *history)) {
	t.Helper()
	for engine, open := range map[string]func(t *testing.T) (*Store, error){
		"SQLite": func(t *testing.T) (*Store, error) {
			return Open(t.Context(), t.TempDir(), Options{Synchronous: Off})
		},
		"PostgreSQL": func(t *testing.T) (*Store, error) {
			return OpenPostgres(t.Context(), storetest.Postgres(t), Options{})
		},
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			indexAll(s)
			test(t, &history{Rand: rand.New(rand.NewPCG(5, 1)), store: s, other: s, now: storetest.Begin})
		})
	}
}

// comparePages compares pages of a list, the first one last: an index notices itself that a row of
// a page is gone.
func (h *history) comparePages(t *testing.T, l listQuery) {
	t.Helper()
	for _, p := range []lyceum.Page{
		{Number: 2, Size: 1}, {Number: 3, Size: 1}, {Number: 2, Size: 2}, {Number: 1, Size: 9},
	} {
		h.compare(t, l, p)
	}
}

// TestListIndexOfWhatLeftACollection checks the list of a course's holders while the course is
// leaving a collection, and a holder of the collection is given it separately.
func TestListIndexOfWhatLeftACollection(t *testing.T) {
	t.Parallel()
	onIndexedStores(t, func(t *testing.T, h *history) {
		h.store.lists.eager = true
		const last = 10 // entitlement that existed when the course left
		course := lyceum.Product{Kind: lyceum.CourseKind, ID: historyCourse}
		if school := storetest.MakeSchool(t, h.store); school != 1 {
			t.Fatal(school)
		}
		h.change(t, func(tx lyceum.Tx) error {
			_, err := tx.Courses.Save(tx, lyceum.Course{ID: historyCourse, Name: "Bread", CreatedAt: h.now})
			_, e1 := tx.ProductCollections.Save(tx, lyceum.ProductCollection{
				ID: historyCollection, Name: "All", CreatedAt: h.now,
			})
			_, e2 := tx.CollectionProducts.Save(tx, lyceum.CollectionProduct{
				ID: 1, In: historyCollection, Product: course, CreatedAt: h.now, LeftAt: lyceum.Some(h.now),
				Leaving: lyceum.Some[lyceum.EntitlementID](last), Settled: lyceum.Some[lyceum.EntitlementID](0),
			})
			err = errors.Join(err, e1, e2)
			for id := range int32(3) {
				_, e1 := tx.Users.Save(tx, lyceum.User{
					ID: lyceum.UserID(id + 1), Email: fmt.Sprintf("u%d@example.com", id), Role: lyceum.Student, CreatedAt: h.now,
				})
				e2 := tx.Entitlements.Insert(tx, lyceum.Entitlement{
					ID: lyceum.EntitlementID(id + 1), User: lyceum.UserID(id + 1),
					Product:  lyceum.Product{Kind: lyceum.CollectionKind, ID: historyCollection},
					StartsAt: h.now.Add(time.Duration(id) * time.Second),
				})
				err = errors.Join(err, e1, e2)
			}
			return err
		})
		f := lyceum.HoldingFilter{Product: course, At: h.now.Add(time.Minute), Order: lyceum.OldestFirst}
		held := listQuery{"holders", func(v lyceum.View, p lyceum.Page) (any, error) { return v.FindHoldings(f, p) }}
		h.comparePages(t, held)
		h.change(t, func(tx lyceum.Tx) error {
			return tx.Entitlements.Insert(tx, lyceum.Entitlement{
				ID: last + 1, User: 1, Product: course, StartsAt: h.now, KeptFrom: lyceum.Some[lyceum.EntitlementID](1),
			})
		})
		h.comparePages(t, held)
	})
}

// TestListIndexOfMovedPayments checks the lists of active and other purchases after an import has
// moved a payment that was charged back from one sale to another.
func TestListIndexOfMovedPayments(t *testing.T) {
	t.Parallel()
	onIndexedStores(t, func(t *testing.T, h *history) {
		h.store.lists.eager = true
		if school := storetest.MakeShop(t, h.store); school != 1 {
			t.Fatal(school)
		}
		payment := lyceum.Transaction{
			ID: 1, UserID: 1, PricingPlanID: 1, SaleID: 1, CreatedAt: h.now, PurchasedAt: h.now, FinalPrice: 1999,
			Currency: "USD", Paid: true, HasChargeback: lyceum.Some(true),
		}
		h.change(t, func(tx lyceum.Tx) error {
			for id := range lyceum.SaleID(3) {
				sale := lyceum.SaleOf(&payment)
				sale.ID = id + 1
				if err := tx.Sales.Insert(tx, sale); err != nil {
					return err
				}
			}
			_, err := tx.Transactions.Save(tx, payment)
			return err
		})
		sales := func(v lyceum.View) lyceum.Rows[lyceum.SaleID, lyceum.Sale, lyceum.SaleFilter] { return v.Sales }
		compare := func() {
			t.Helper()
			for _, active := range []bool{true, false} {
				h.comparePages(t, listOf("purchases", sales, lyceum.SaleFilter{
					Purchases: lyceum.Some(lyceum.PurchaseFilter{Active: lyceum.Some(active)}),
				}))
			}
		}
		compare()
		h.change(t, func(tx lyceum.Tx) error {
			payment.SaleID = 2
			_, err := tx.Transactions.Save(tx, payment)
			return err
		})
		compare()
	})
}
