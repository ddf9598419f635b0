package sales_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// An erased person cannot buy anything. What was paid for them all the same is recorded with a
// warning, even through an order from before, and gives no access.
func TestSalesToErasedPeople(t *testing.T) {
	t.Parallel()
	for name, store := range engines(t) {
		t.Run(name, func(t *testing.T) {
			b := openBooks(t, store)
			var orders []lyceum.OrderID
			for _, email := range []string{"a@example.com", "a@example.com"} {
				o, err := b.service.OpenOrder(t.Context(), b.by(), sales.NewOrder{Email: email, Plan: 1})
				if err != nil {
					t.Fatal(err)
				}
				orders = append(orders, o.ID)
			}
			_, err := people.New(store, func() time.Time { return b.now }).Erase(t.Context(), b.by(), 1, people.Doors{
				Close: b.learning.Close,
				Left:  func(lyceum.SchoolID, string) {},
			})
			if err != nil {
				t.Fatal(err)
			}
			_, e1 := b.service.Record(t.Context(), b.by(), sales.NewSale{User: 1, Plan: 3})
			_, e2 := b.service.CompleteOrder(t.Context(), b.by(), sales.OrderPayment{Order: orders[0]})
			for _, err := range []error{e1, e2} {
				if lyceum.Public(err).Code != "buyer_erased" || lyceum.KindOf(err) != lyceum.Conflict {
					t.Errorf("without a reference: %v", err)
				}
			}
			paid := b.sell(t, sales.NewSale{User: 1, Plan: 3, Reference: some("ch_1")})
			ordered, err := b.service.CompleteOrder(t.Context(), b.by(), sales.OrderPayment{Order: orders[1], Reference: some("ch_2")})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range []sales.SaleDetail{paid, ordered} {
				if d.Sale.UserID != lyceum.Some(lyceum.UserID(1)) || !slices.Equal(b.warnings(t, d.ID), []string{"buyer_erased"}) {
					t.Errorf("sale %d to %v has the warnings %q", d.ID, d.Sale.UserID, b.warnings(t, d.ID))
				}
			}
			if got := b.access(t, 1); got != nil {
				t.Errorf("who was erased has %q", got)
			}
			b.healthy(t, store)
		})
	}
}

// An address that a person had before may be somebody else's now: the other's orders are neither
// handed over to the one nor erased with them, and give the other what they paid for.
func TestOrdersFromAnAddressThatSomebodyElseHadBefore(t *testing.T) {
	t.Parallel()
	for name, store := range engines(t) {
		t.Run(name, func(t *testing.T) {
			b := openBooks(t, store)
			users := people.New(store, func() time.Time { return b.now })
			doors := people.Doors{
				Close:        b.learning.Close,
				Left:         func(lyceum.SchoolID, string) {},
				Forget:       func() {},
				NotifyChange: func(lyceum.Tx, lyceum.UserID, string, people.Changed) error { return nil },
			}
			order := func() lyceum.OrderID {
				o, err := b.service.OpenOrder(t.Context(), b.by(), sales.NewOrder{Email: "a@example.com", Name: some("Ann"), Plan: 1})
				if err != nil {
					t.Fatal(err)
				}
				return o.ID
			}
			theirs := order()
			for _, a := range []people.Account{{User: 1, Email: some("new@example.com")}, {User: 2, Email: some("a@example.com")}} {
				if _, err := users.UpdateAccount(t.Context(), b.by(), a, doors); err != nil {
					t.Fatal(err)
				}
			}
			others := order()
			for user, want := range map[lyceum.UserID]lyceum.OrderID{1: theirs, 2: others} {
				var got []string
				err := users.HandOver(t.Context(), b.by(), user, func(noun string, row []byte) error {
					if noun == "orders" {
						got = append(got, string(row))
					}
					return nil
				})
				if err != nil || len(got) != 1 || !strings.HasPrefix(got[0], fmt.Sprintf(`{"order_id":%d,`, want)) {
					t.Errorf("user %d is handed the orders %s, want only %d: %v", user, got, want, err)
				}
			}
			if _, err := users.Erase(t.Context(), b.by(), 1, doors); err != nil {
				t.Fatal(err)
			}
			for id, want := range map[lyceum.OrderID]string{theirs: lyceum.ErasedEmail(1), others: "a@example.com"} {
				if o, err := b.service.ShowOrder(t.Context(), b.by(), id); err != nil || o.Email != want {
					t.Errorf("order %d has the address %s, want %s: %v", id, o.Email, want, err)
				}
			}
			ordered, err := b.service.CompleteOrder(t.Context(), b.by(), sales.OrderPayment{Order: others, Reference: some("ch_1")})
			if err != nil {
				t.Fatal(err)
			}
			if w := b.warnings(t, ordered.ID); ordered.Sale.UserID != lyceum.Some(lyceum.UserID(2)) || w != nil {
				t.Errorf("the sale is to %v, with the warnings %q", ordered.Sale.UserID, w)
			}
			b.healthy(t, store)
		})
	}
}

// An order is of the person who opened it, even if they have another address when they pay, and
// the one they had is somebody else's by then.
func TestOrdersOfPeopleWithAnotherAddressSince(t *testing.T) {
	t.Parallel()
	for name, store := range engines(t) {
		t.Run(name, func(t *testing.T) {
			b := openBooks(t, store)
			o, err := b.service.OpenOrder(t.Context(), b.by(), sales.NewOrder{Email: "a@example.com", Plan: 1})
			if err != nil {
				t.Fatal(err)
			}
			storetest.Write(t, store, b.school, func(tx lyceum.Tx) error {
				first, err := tx.Users.Get(tx, 1)
				first.Email = "new@example.com"
				if err := errors.Join(err, tx.Users.Update(tx, first)); err != nil {
					return err
				}
				second, err := tx.Users.Get(tx, 2)
				second.Email = "a@example.com"
				return errors.Join(err, tx.Users.Update(tx, second))
			})
			paid, err := b.service.CompleteOrder(t.Context(), b.by(), sales.OrderPayment{Order: o.ID})
			if err != nil {
				t.Fatal(err)
			}
			if paid.Sale.UserID != lyceum.Some(lyceum.UserID(1)) || b.open(t, 2) != nil {
				t.Errorf("the order of user 1 is a sale to %v", paid.Sale.UserID)
			}
			b.healthy(t, store)
		})
	}
}

// A payment plan of which every payment was made is not charged any more, and cannot be
// canceled: its buyer can be erased. As long as a payment is to come, they cannot.
func TestErasingWhoHasPaidInFull(t *testing.T) {
	t.Parallel()
	for name, store := range engines(t) {
		t.Run(name, func(t *testing.T) {
			b := openBooks(t, store)
			erase := func() error {
				_, err := people.New(store, func() time.Time { return b.now }).Erase(t.Context(), b.by(), 1, people.Doors{
					Close: b.learning.Close,
					Left:  func(lyceum.SchoolID, string) {},
				})
				return err
			}
			sale := b.sellInParts(t)
			for n := range 2 {
				if err := erase(); lyceum.KindOf(err) != lyceum.Invalid {
					t.Fatalf("after %d of 3 payments: %v", n+1, err)
				}
				b.renew(t, sale.ID, "")
			}
			if err := erase(); err != nil {
				t.Errorf("paid in full: %v", err)
			}
			if got := b.open(t, 1); len(got) > 0 {
				t.Errorf("who was erased has %q", got)
			}
			b.healthy(t, store)
		})
	}
}

// A sale of an erased person that is paid again, or whose dispute is won, opens again with a
// warning, and gives no access.
func TestSalesOfErasedPeopleOpenAgain(t *testing.T) {
	t.Parallel()
	for name, store := range engines(t) {
		for what, reopen := range map[string]func(*testing.T, *books) lyceum.SaleID{
			"a late payment": func(t *testing.T, b *books) lyceum.SaleID {
				d := b.sell(t, sales.NewSale{User: 1, Plan: 6})
				b.now = b.now.AddDate(0, 2, 0)
				b.lapse(t)
				b.erase(t, 1)
				b.renew(t, d.ID, "late")
				return d.ID
			},
			"a dispute that is won": func(t *testing.T, b *books) lyceum.SaleID {
				d := b.sell(t, sales.NewSale{User: 1, Plan: 1})
				lost, e1 := b.service.OpenDispute(t.Context(), b.by(), sales.NewDispute{Transaction: d.Transactions[0].ID})
				_, e2 := b.service.CloseDispute(t.Context(), b.by(), sales.DisputeOutcome{Dispute: lost.ID, State: lyceum.DisputeLost})
				b.erase(t, 1)
				_, e3 := b.service.CloseDispute(t.Context(), b.by(), sales.DisputeOutcome{Dispute: lost.ID, State: lyceum.DisputeWon})
				if err := errors.Join(e1, e2, e3); err != nil {
					t.Fatal(err)
				}
				return d.ID
			},
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				b := openBooks(t, store)
				id := reopen(t, b)
				if d := b.show(t, id); d.EndedAt.Present || !slices.Equal(b.warnings(t, id), []string{"buyer_erased"}) {
					t.Errorf("sale %+v has the warnings %q", d.Sale, b.warnings(t, id))
				}
				if got := b.open(t, 1); len(got) > 0 {
					t.Errorf("who was erased has %q", got)
				}
				v := store.In(t.Context(), b.school)
				of := lyceum.EntitlementFilter{User: some(lyceum.UserID(1)), Open: true}
				if open, err := lyceum.All(v.Entitlements, v, of); err != nil || len(open) > 0 {
					t.Errorf("who was erased has the entitlements %+v, %v", open, err)
				}
				b.healthy(t, store)
			})
		}
	}
}

func (b *books) erase(t *testing.T, id lyceum.UserID) {
	t.Helper()
	_, err := people.New(b.store, func() time.Time { return b.now }).Erase(t.Context(), b.by(), id, people.Doors{
		Close: b.learning.Close,
		Left:  func(lyceum.SchoolID, string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A product that left a collection, and that its holders keep, is kept by nobody who is erased,
// whether before or after the holders are settled.
func TestErasedPeopleKeepNothing(t *testing.T) {
	t.Parallel()
	for name, store := range engines(t) {
		t.Run(name, func(t *testing.T) {
			b := openBooks(t, store)
			all := lyceum.Product{Kind: lyceum.CollectionKind, ID: 1}
			storetest.Write(t, store, b.school, func(tx lyceum.Tx) error {
				_, e1 := tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: 1, Name: "All", CreatedAt: b.now, UpdatedAt: b.now})
				_, e2 := tx.CollectionProducts.Save(tx, lyceum.CollectionProduct{ID: 1, In: 1, Product: lyceum.CourseID(1).Product(), CreatedAt: b.now},
					lyceum.CollectionProduct{ID: 2, In: 1, Product: lyceum.CourseID(2).Product(), CreatedAt: b.now})
				_, e3 := tx.PricingPlans.Save(tx, lyceum.PricingPlan{ID: 8, Other: some(all), Name: "All", Price: 900, Currency: "USD", Frequency: lyceum.OneTimePayment})
				return errors.Join(e1, e2, e3)
			})
			for user := lyceum.UserID(1); user <= 2; user++ {
				b.sell(t, sales.NewSale{User: user, Plan: 8})
			}
			left := learning.ProductIn[lyceum.ProductCollectionID]{In: 1, Product: lyceum.CourseID(1).Product()}
			if err := b.learning.CollectionProducts().Remove(t.Context(), b.by(), learning.Removal[lyceum.ProductCollectionID]{ProductIn: left}); err != nil {
				t.Fatal(err)
			}
			b.erase(t, 1)
			for range 2 {
				if got := b.open(t, 1); len(got) > 0 {
					t.Errorf("who was erased has %q", got)
				}
				v := store.In(t.Context(), b.school)
				open, err := lyceum.All(v.Entitlements, v, lyceum.EntitlementFilter{User: some(lyceum.UserID(1)), Open: true})
				if err != nil || len(open) > 0 {
					t.Errorf("who was erased has the entitlements %+v, %v", open, err)
				}
				if err := b.learning.Settle(t.Context(), b.school); err != nil {
					t.Fatal(err)
				}
			}
			if got := b.open(t, 2); len(got) != 2 {
				t.Errorf("the other buyer has %q", got)
			}
			b.healthy(t, store)
		})
	}
}
