package sqlstore

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
)

// Older sales are listed and counted as purchases, at the time of their earliest payment.
func TestSalesFromBeforePurchases(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 35,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO users (school_id, user_id, email, email_key, role, created_at) VALUES (7, 1, 'a@x', 'a@x', 'student', 0)",
				"INSERT INTO pricing_plans (school_id, pricing_plan_id, name, price, currency, frequency, created_at, updated_at) VALUES (7, 1, 'Plan', 5, 'USD', 'subscription', 0, 0)",
				"INSERT INTO sales (school_id, sale_id, created_at, user_id, pricing_plan_id, final_price, currency, released) VALUES (7, 1, 3000000, 1, 1, 5, 'USD', 0), (7, 2, 9000000, 1, 1, 0, 'USD', 0)",
				"INSERT INTO sales (school_id, sale_id, created_at, user_id, pricing_plan_id, final_price, currency, ended_at, end_reason) VALUES (7, 3, 1000000, 1, 1, 5, 'USD', 8000000, 'canceled')",
				"INSERT INTO transactions (school_id, transaction_id, user_id, pricing_plan_id, sale_id, created_at, purchased_at, charge, final_price, currency, tax_charge, revenue, paid, affiliate_fees, author_fees, amount_refunded, has_chargeback) "+
					"VALUES (7, 1, 1, 1, 1, 5000000, 6000000, 5, 5, 'USD', 0, 5, 1, 0, 0, 0, 0), (7, 2, 1, 1, 1, 3000000, 2000000, 5, 5, 'USD', 0, 5, 1, 0, 0, 0, 1)",
				"INSERT INTO journal (school_id, number, at, actor, type, object_id) VALUES (7, 1, 9, 'key:1', 'sale.created', 1)",
				"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 7), (7, 'journal', 1), (7, 'user_id', 1), (7, 'users', 1), (7, 'sale_id', 3), "+
					"(7, 'pricing_plan_id', 1), (7, 'transaction_id', 2), (7, 'transactions', 2), (7, 'seats:1', 2)",
			)
			v := store.In(t.Context(), 7)
			list := func(f lyceum.PurchaseFilter) (ids []lyceum.SaleID) {
				found, err := v.Sales.List(v, lyceum.SaleFilter{Purchases: lyceum.Some(f)}, lyceum.Page{Number: 1, Size: 10})
				if err != nil || found.Total != int64(len(found.Rows)) {
					t.Fatal(found.Total, err)
				}
				for i := range found.Rows {
					ids = append(ids, found.Rows[i].ID)
				}
				return ids
			}
			got := map[string][]lyceum.SaleID{
				"all":       list(lyceum.PurchaseFilter{}),
				"active":    list(lyceum.PurchaseFilter{Active: lyceum.Some(true)}),
				"inactive":  list(lyceum.PurchaseFilter{Active: lyceum.Some(false)}),
				"free":      list(lyceum.PurchaseFilter{Method: lyceum.Some(lyceum.ForFree)}),
				"external":  list(lyceum.PurchaseFilter{Method: lyceum.Some(lyceum.ByExternal)}),
				"recurring": list(lyceum.PurchaseFilter{Recurring: lyceum.Some(true)}),
			}
			want := map[string][]lyceum.SaleID{
				"all": {2, 1, 3}, "active": {2}, "inactive": {1, 3}, "free": {2}, "external": {1, 3}, "recurring": {2, 1, 3},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("purchases (-want +got):\n%s", diff)
			}
			at := func(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }
			for id, times := range map[lyceum.SaleID][2]time.Time{1: {at(2), at(3)}, 2: {at(9), at(9)}, 3: {at(1), at(8)}} {
				if s, err := v.Sales.Get(v, id); err != nil || s.PurchasedAt != times[0] || s.UpdatedAt != times[1] {
					t.Errorf("sale %d: purchased %v, updated %v, %v", id, s.PurchasedAt, s.UpdatedAt, err)
				}
			}
		})
	}
}
