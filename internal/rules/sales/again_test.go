package sales_test

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// twice returns a service whose changes are run twice, the first time after another change that
// is rolled back with them.
func (b *books) twice(first func(lyceum.Tx) error) *sales.Service {
	store := &storetest.RunsTwice{Store: b.store, First: first}
	clock := func() time.Time { return b.now }
	return sales.New(store, clock, learning.New(store, clock), people.New(store, clock))
}

// TestR23_APriceThatWasTakenBackIsNotCharged checks that what a change read before it was
// rolled back is read again when it is rerun.
func TestR23_APriceThatWasTakenBackIsNotCharged(t *testing.T) {
	b := newBooks(t)
	sold := b.sell(t, sales.NewSale{User: 1, Plan: 6, Amounts: sales.Amounts{FinalPrice: some(lyceum.Minor(700))}})
	dear := sold.Transactions[0]
	dear.FinalPrice, dear.Charge = 99_900, 99_900
	service := b.twice(func(tx lyceum.Tx) error {
		_, err := tx.Transactions.Save(tx, dear)
		return err
	})
	next, err := service.Renew(t.Context(), b.by(), sales.Renewal{Sale: sold.ID})
	if err != nil || next.FinalPrice != 700 {
		t.Errorf("the renewal costs %d, %v; want 700", next.FinalPrice, err)
	}

	order, err := b.service.OpenOrder(t.Context(), b.by(), sales.NewOrder{Email: "a@example.com", Plan: 1})
	if err != nil {
		t.Fatal(err)
	}
	other := order
	other.FinalPrice = 99_900
	service = b.twice(func(tx lyceum.Tx) error {
		_, err := tx.Orders.Save(tx, other)
		return err
	})
	made, err := service.CompleteOrder(t.Context(), b.by(), sales.OrderPayment{Order: order.ID})
	if err != nil || made.FinalPrice != some(lyceum.Minor(1999)) {
		t.Errorf("the order costs %v, %v; want 1999", made.FinalPrice, err)
	}
}
