package sqlstore

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// A school from before receipts has none, whatever it sold, and begins with number 1.
func TestReceiptsAfterAnUpgrade(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 78,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO users (school_id, user_id, email, email_key, role, created_at) VALUES (7, 1, 'ana@example.com', 'ana@example.com', 'student', 0)",
				"INSERT INTO pricing_plans (school_id, pricing_plan_id, name, price, currency, frequency, created_at, updated_at) VALUES (7, 1, 'Once', 100, 'USD', 'one_time', 0, 0)",
				"INSERT INTO sales (school_id, sale_id, created_at, user_id) VALUES (7, 1, 0, 1)",
				"INSERT INTO transactions (school_id, transaction_id, user_id, pricing_plan_id, sale_id, created_at, purchased_at, charge, final_price, currency, tax_charge, revenue, paid, affiliate_fees, author_fees, amount_refunded) VALUES (7, 1, 1, 1, 1, 0, 0, 100, 100, 'USD', 0, 100, 1, 0, 0, 0)")
			at := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
			receipt := lyceum.Receipt{
				ID: 1, Transaction: 1, User: 1, Seller: 1, IssuedAt: at, PaidAt: at, Item: "Once", Currency: "USD", Price: 100, Tax: 20,
			}
			note := receipt
			note.ID, note.Refund = 2, lyceum.Some(lyceum.MovementID(1))
			storetest.Write(t, store, 7, func(tx lyceum.Tx) error {
				if _, found, err := tx.Receipts.First(tx, lyceum.ReceiptFilter{}); found || err != nil {
					t.Errorf("before: %v, %v", found, err)
				}
				if id, err := tx.Receipts.NextID(tx); id != 1 || err != nil {
					t.Errorf("the first number is %d, %v", id, err)
				}
				if err := tx.Sellers.Insert(tx, lyceum.Seller{ID: 1, Name: "Fernwood", Since: at}); err != nil {
					return err
				}
				return tx.Receipts.Insert(tx, receipt, note)
			})
			v := store.In(t.Context(), 7)
			for _, tc := range []struct {
				name string
				f    lyceum.ReceiptFilter
				want []lyceum.Receipt
			}{
				{"all", lyceum.ReceiptFilter{}, []lyceum.Receipt{note, receipt}},
				{"of the user", lyceum.ReceiptFilter{User: lyceum.Some(lyceum.UserID(1))}, []lyceum.Receipt{note, receipt}},
				{"credit notes", lyceum.ReceiptFilter{CreditNotes: lyceum.Some(true)}, []lyceum.Receipt{note}},
				{"of the payment", lyceum.ReceiptFilter{Transaction: lyceum.Some(lyceum.TransactionID(1)), CreditNotes: lyceum.Some(false)}, []lyceum.Receipt{receipt}},
				{"of another user", lyceum.ReceiptFilter{User: lyceum.Some(lyceum.UserID(2))}, nil},
			} {
				got, err := lyceum.All(v.Receipts, v, tc.f)
				if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
					t.Errorf("%s: %s, %v", tc.name, diff, err)
				}
			}
		})
	}
}
