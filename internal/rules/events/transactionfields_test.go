package events

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestPayloadsOfTransactions checks that receivers still get all the fields of a transaction
// that they always got.
func TestPayloadsOfTransactions(t *testing.T) {
	names := []string{
		"affiliate_fees", "amount_refunded", "author_fees", "author_id", "charge", "created_at", "currency", "final_price", "id",
		"is_chargeback", "paypal_payment_id", "purchased_at", "refunded_at", "revenue", "sale_id", "status", "stripe_charge_token",
		"tax_charge", "user_id",
	}
	t.Parallel()
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	r := &reading{view: store.In(t.Context(), 1)}
	full := storetest.FullTransaction()
	zero, told := r.money(&lyceum.Transaction{}), r.money(&full)
	if diff := cmp.Diff(names, slices.Sorted(maps.Keys(told))); diff != "" || r.err != nil {
		t.Fatalf("%v (-want +got):\n%s", r.err, diff)
	}
	for _, name := range names {
		if told[name] == zero[name] && told[name] != nil {
			t.Errorf("%s is %v whatever the transaction is", name, told[name])
		}
	}
}
