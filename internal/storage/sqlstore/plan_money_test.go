package sqlstore

import (
	"slices"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// Queries of the books use an index, and its order.
func TestBooksAreReadByIndexes(t *testing.T) {
	t.Parallel()
	store, by := spied(t)
	if err := store.KeepFilterIndexes(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	lines(t, store, "SELECT count(*) FROM transactions", 1) // so that the connection learns of the indexes
	v := store.In(t.Context(), 1)
	month := lyceum.Period{After: storetest.Day(1), Until: storetest.Day(28)}
	check := func(of string, want string, query func() error) {
		t.Helper()
		by.seen = nil
		if err := query(); err != nil {
			t.Fatal(err)
		}
		for _, text := range slices.Clone(by.seen) {
			var plan []string
			for _, step := range lines(t, store, "EXPLAIN QUERY PLAN "+placeholder.ReplaceAllString(text, "1"), 4) {
				plan = append(plan, step[3])
			}
			steps := strings.Join(plan, "; ")
			if !strings.Contains(steps, "INDEX "+want) || strings.Contains(steps, "SCAN") || strings.Contains(steps, "TEMP B-TREE") {
				t.Errorf("%s: %s, want %s", of, steps, want)
			}
		}
	}
	nothing := func(*lyceum.Transaction) error { return nil }
	check("an affiliate's sales", "transactions_affiliate", func() error {
		return v.Transactions.Each(v, lyceum.TransactionQuery{
			Order: lyceum.OldestFirst, TransactionFilter: lyceum.TransactionFilter{AffiliateID: lyceum.Some(lyceum.AffiliateID(1)), Created: month},
		}, nothing)
	})
	check("an author's sales", "transactions_author", func() error {
		return v.Transactions.Each(v, lyceum.TransactionQuery{
			Order: lyceum.OldestFirst, TransactionFilter: lyceum.TransactionFilter{AuthorID: lyceum.Some(lyceum.AuthorID(1)), Created: month},
		}, nothing)
	})
	check("steps of an affiliate's sales", "movements_at", func() error {
		_, err := lyceum.All(v.Movements, v, lyceum.MovementFilter{Affiliate: lyceum.Some(lyceum.AffiliateID(1)), In: lyceum.Some(month)})
		return err
	})
	check("a refund by its reference", "movements_reference", func() error {
		_, err := lyceum.All(v.Movements, v, lyceum.MovementFilter{Reference: lyceum.Some("re_1"), Kinds: []lyceum.MovementKind{lyceum.Refunded}})
		return err
	})
	check("a dispute by its reference", "disputes_reference", func() error {
		_, err := lyceum.All(v.Disputes, v, lyceum.DisputeFilter{Reference: lyceum.Some("dp_1")})
		return err
	})
	check("the disputes of a sale", "disputes_sale", func() error {
		_, err := lyceum.All(v.Disputes, v, lyceum.DisputeFilter{Sale: lyceum.Some(lyceum.SaleID(1))})
		return err
	})
	check("the movements of a transaction", "movements_transaction", func() error {
		_, _, err := v.Movements.First(v, lyceum.MovementFilter{Transaction: lyceum.Some(lyceum.TransactionID(1)), Newest: true})
		return err
	})
	check("the movements of a sale", "movements_sale", func() error {
		_, err := lyceum.All(v.Movements, v, lyceum.MovementFilter{Sale: lyceum.Some(lyceum.SaleID(1))})
		return err
	})
	check("the name of a payment", "charge_references_transaction", func() error {
		_, err := v.References.Find(v, 1)
		return err
	})
	check("a payment by its reference", "charge_references_key", func() error {
		_, err := lyceum.All(v.References, v, lyceum.ReferenceFilter{AnyCase: lyceum.Some("ch_1")})
		return err
	})
}
