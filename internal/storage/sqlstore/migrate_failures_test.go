package sqlstore

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// Older sales have no failed payment, and can get one.
func TestSalesFromBeforeFailures(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 31,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO users (school_id, user_id, email, email_key, role, created_at) VALUES (7, 1, 'a@x', 'a@x', 'student', 0)",
				"INSERT INTO sales (school_id, sale_id, created_at, user_id, paid_until, billed, grace_from) VALUES (7, 1, 3, 1, 900, 1, 900)",
				"INSERT INTO journal (school_id, number, at, actor, type, object_id, event) VALUES (7, 1, 9, 'key:1', 'sale.created', 1, 'Sale.created')",
				"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 7), (7, 'journal', 1), (7, 'user_id', 1), (7, 'users', 1), (7, 'sale_id', 1)",
			)
			v := store.In(t.Context(), 7)
			if sale, err := v.Sales.Get(v, 1); err != nil || sale.FailedAt.Present || !sale.BilledSince.Present {
				t.Errorf("the sale is %+v, %v", sale, err)
			}
			failure := lyceum.PaymentFailure{
				ID: 1, SaleID: 1, OccurredAt: storetest.Day(1), NextAttemptAt: lyceum.Some(storetest.Day(3)), Reference: lyceum.Some("In_1"),
			}
			stamp := lyceum.Stamp{School: 7, At: time.Unix(10, 0), Actor: "key:1"}
			if err := store.Write(t.Context(), stamp, func(tx lyceum.Tx) error { return tx.PaymentFailures.Insert(tx, failure) }); err != nil {
				t.Fatal(err)
			}
			found, err := lyceum.All(v.PaymentFailures, v, lyceum.PaymentFailureFilter{Reference: lyceum.Some("IN_1")})
			if diff := cmp.Diff([]lyceum.PaymentFailure{failure}, found); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if findings, err := store.Check(t.Context()); err != nil || len(findings) > 0 {
				t.Errorf("check: %v, %v", findings, err)
			}
		})
	}
}
