package sqlstore

import (
	"slices"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// TestCheckSeesWrongBooks checks that Check finds each disagreement of the books that it says
// it looks for.
func TestCheckSeesWrongBooks(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 18, oldMoney()...)
			for _, tc := range []struct{ what, damage, mend string }{
				{
					"1 transactions have a different refund than their last movement says",
					"UPDATE transactions SET amount_refunded = 999 WHERE transaction_id = 1", "UPDATE transactions SET amount_refunded = 1000 WHERE transaction_id = 1",
				},
				{
					"1 transactions are refunded and disputed above what was charged",
					"UPDATE disputes SET amount = 901 WHERE dispute_id = 2", "UPDATE disputes SET amount = 900 WHERE dispute_id = 2",
				},
				{
					"1 movements name another sale than their transaction",
					"UPDATE movements SET sale_id = 2 WHERE movement_id = 1", "UPDATE movements SET sale_id = 1 WHERE movement_id = 1",
				},
				{
					"the refunds of 1 transactions do not add up",
					"UPDATE movements SET amount = 99 WHERE movement_id = 2", "UPDATE movements SET amount = 100 WHERE movement_id = 2",
				},
				{
					"the refunds of 1 transactions do not add up",
					"UPDATE movements SET tax = 1 WHERE movement_id = 2", "UPDATE movements SET tax = 100 WHERE movement_id = 2",
				},
				{
					"1 open or lost disputes are not marked on their transaction",
					"UPDATE transactions SET has_chargeback = 0 WHERE transaction_id = 6", "UPDATE transactions SET has_chargeback = 1 WHERE transaction_id = 6",
				},
				{
					"1 disputes are in a different state than their last movement says",
					"UPDATE disputes SET state = 'won' WHERE dispute_id = 3", "UPDATE disputes SET state = 'lost' WHERE dispute_id = 3",
				},
				{
					"2 movements are a refund of a dispute, or a step of none",
					"UPDATE movements SET dispute_id = NULL WHERE dispute_id = 3", "UPDATE movements SET dispute_id = 3 WHERE movement_id IN (10, 11)",
				},
				{
					"1 transactions have a smaller chargeback fee than their disputes",
					"UPDATE transactions SET chargeback_fee = 69 WHERE transaction_id = 6", "UPDATE transactions SET chargeback_fee = 70 WHERE transaction_id = 6",
				},
			} {
				for _, statement := range []string{tc.damage, tc.mend} {
					if _, err := store.writes.db.ExecContext(t.Context(), statement); err != nil {
						t.Fatal(err)
					}
					findings, err := store.Check(t.Context())
					seen := slices.ContainsFunc(findings, func(f lyceum.Finding) bool { return strings.Contains(f.What, tc.what) })
					if err != nil || seen != (statement == tc.damage) || !seen && len(findings) > 0 {
						t.Errorf("after %s: %v, %v", statement, findings, err)
					}
				}
			}
		})
	}
}
