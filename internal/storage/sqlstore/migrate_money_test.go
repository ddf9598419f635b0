package sqlstore

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
)

// oldMoney is a school of a database that stored refunds of price and tax together, and
// chargebacks without amounts. Transaction 1 was refunded first within its price and then beyond
// it, 2 in full, 3 within its price, 4 elsewhere. 5 was charged back after a refund, won, and
// charged back again; 6 was lost.
func oldMoney() []string {
	sold := "INSERT INTO transactions (school_id, transaction_id, user_id, pricing_plan_id, sale_id, created_at, purchased_at, charge, final_price, currency, tax_charge, " +
		"revenue, paid, has_chargeback, chargeback_fee, affiliate_fees, author_fees, amount_refunded) VALUES "
	moved := "INSERT INTO movements (school_id, movement_id, transaction_id, sale_id, kind, amount, refunded, at, reference) VALUES "
	return []string{
		"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0), (8, 'Southwind', 0)",
		"INSERT INTO users (school_id, user_id, email, email_key, role, created_at) VALUES (7, 1, 'a@example.com', 'a@example.com', 'student', 0)",
		"INSERT INTO pricing_plans (school_id, pricing_plan_id, name, price, currency, frequency, created_at, updated_at) VALUES (7, 1, 'Once', 1000, 'USD', 'one_time', 0, 0)",
		"INSERT INTO sales (school_id, sale_id, created_at) VALUES (7, 1, 0)",
		sold + "(7, 1, 1, 1, 1, 0, 0, 1200, 1000, 'USD', 200, 1000, 1, 0, NULL, 0, 0, 1150), (7, 2, 1, 1, 1, 0, 0, 1200, 1000, 'USD', 200, 1000, 1, 0, NULL, 0, 0, 1200), " +
			"(7, 3, 1, 1, 1, 0, 0, 1200, 1000, 'USD', 200, 1000, 1, 0, NULL, 0, 0, 1000), (7, 4, 1, 1, 1, 0, 0, 1200, 1000, 'USD', 200, 1000, 1, 0, NULL, 0, 0, 1100), " +
			"(7, 5, 1, 1, 1, 0, 0, 1200, 1000, 'USD', 200, 1000, 1, 1, 90, 0, 0, 300), (7, 6, 1, 1, 1, 0, 0, 1200, 1000, 'USD', 200, 1000, 1, 1, 70, 0, 0, 0)",
		moved + "(7, 1, 1, 1, 'refund', 900, 900, 1000000, 're_1'), (7, 2, 1, 1, 'refund', 200, 1100, 2000000, 'Re_2'), (7, 3, 1, 1, 'refund', 50, 1150, 3000000, 're_2'), " +
			"(7, 4, 2, 1, 'refund', 1200, 1200, 4000000, NULL), (7, 5, 3, 1, 'refund', 1000, 1000, 5000000, NULL), " +
			"(7, 6, 5, 1, 'refund', 300, 300, 6000000, NULL), (7, 7, 5, 1, 'chargeback_opened', 80, 300, 7000000, 'dp_1'), (7, 8, 5, 1, 'chargeback_won', 0, 300, 8000000, NULL), " +
			"(7, 9, 5, 1, 'chargeback_opened', 90, 300, 9000000, NULL), (7, 10, 6, 1, 'chargeback_opened', 70, 0, 10000000, NULL), (7, 11, 6, 1, 'chargeback_lost', 0, 0, 11000000, NULL)",
		"INSERT INTO charge_references (school_id, reference, transaction_id) VALUES (7, 'CH_1', 1), (7, 'ch_1', 2)",
		"INSERT INTO journal (school_id, number, at, actor, type, object_id) VALUES (7, 1, 12000000, 'test', 'school.created', 7), (7, 2, 12000000, 'test', 'transaction.created', 1), " +
			"(7, 3, 12000000, 'test', 'transaction.created', 2), (7, 4, 12000000, 'test', 'transaction.created', 3), (7, 5, 12000000, 'test', 'transaction.created', 4), " +
			"(7, 6, 12000000, 'test', 'transaction.created', 5), (7, 7, 12000000, 'test', 'transaction.created', 6), (8, 1, 0, 'test', 'school.created', 8)",
		"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 8), (7, 'journal', 7), (8, 'journal', 1), (7, 'users', 1), (7, 'user_id', 1), (7, 'pricing_plan_id', 1), " +
			"(7, 'sale_id', 1), (7, 'transactions', 6), (7, 'transaction_id', 6), (7, 'movement_id', 11)",
	}
}

func TestMoneyFromBeforeTaxAndDisputes(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 18, oldMoney()...)
			v := store.In(t.Context(), 7)
			type refund struct{ amount, tax, refunded, taxRefunded lyceum.Minor }
			want := map[lyceum.MovementID]refund{
				1: {900, 0, 900, 0}, 2: {100, 100, 1000, 100}, 3: {0, 50, 1000, 150}, 4: {1000, 200, 1000, 200}, 5: {1000, 0, 1000, 0}, 6: {300, 0, 300, 0},
				7: {80, 0, 300, 0}, 8: {0, 0, 300, 0}, 9: {90, 0, 300, 0}, 10: {70, 0, 0, 0}, 11: {0, 0, 0, 0},
			}
			got := map[lyceum.MovementID]refund{}
			of := map[lyceum.MovementID]lyceum.DisputeID{}
			err := v.Movements.Each(v, lyceum.MovementFilter{}, func(m *lyceum.Movement) error {
				got[m.ID] = refund{m.Amount, m.Tax, m.Refunded, m.TaxRefunded}
				if m.Dispute.Present {
					of[m.ID] = m.Dispute.Value
				}
				return nil
			})
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(refund{})); diff != "" || err != nil {
				t.Errorf("the movements (-want +got):\n%s%v", diff, err)
			}
			if diff := cmp.Diff(map[lyceum.MovementID]lyceum.DisputeID{7: 1, 8: 1, 9: 2, 10: 3, 11: 3}, of); diff != "" {
				t.Errorf("their disputes (-want +got):\n%s", diff)
			}
			refunded := map[lyceum.TransactionID]lyceum.Minor{}
			_ = v.Transactions.Each(v, lyceum.TransactionQuery{}, func(x *lyceum.Transaction) error {
				refunded[x.ID] = x.AmountRefunded
				return nil
			})
			if diff := cmp.Diff(map[lyceum.TransactionID]lyceum.Minor{1: 1000, 2: 1000, 3: 1000, 4: 1100, 5: 300, 6: 0}, refunded); diff != "" {
				t.Errorf("amount_refunded (-want +got):\n%s", diff)
			}
			disputes, err := lyceum.All(v.Disputes, v, lyceum.DisputeFilter{})
			at := func(s int64) time.Time { return time.Unix(s, 0).UTC() }
			if diff := cmp.Diff([]lyceum.Dispute{
				{ID: 1, TransactionID: 5, SaleID: 1, Amount: 900, Tax: 200, Fee: 80, FeeReturned: true, State: lyceum.DisputeWon, OpenedAt: at(7), ClosedAt: lyceum.Some(at(8)), Reference: lyceum.Some("dp_1")},
				{ID: 2, TransactionID: 5, SaleID: 1, Amount: 900, Tax: 200, Fee: 90, State: lyceum.DisputeOpen, OpenedAt: at(9)},
				{ID: 3, TransactionID: 6, SaleID: 1, Amount: 1200, Tax: 200, Fee: 70, State: lyceum.DisputeLost, OpenedAt: at(10), ClosedAt: lyceum.Some(at(11))},
			}, disputes); diff != "" || err != nil {
				t.Errorf("the disputes (-want +got):\n%s%v", diff, err)
			}
			entries := lines(t, store, "SELECT number, type, object_id, at, actor FROM journal WHERE school_id = 7 AND number > 7 ORDER BY number", 5)
			const at12 = "12000000"
			if diff := cmp.Diff([][]string{
				{"8", "transaction.updated", "1", at12, "update"},
				{"9", "transaction.updated", "2", at12, "update"},
				{"10", "dispute.created", "1", at12, "update"},
				{"11", "dispute.created", "2", at12, "update"},
				{"12", "dispute.created", "3", at12, "update"},
			}, entries); diff != "" {
				t.Errorf("the journal (-want +got):\n%s", diff)
			}
			for reference, want := range map[string]int{"ch_1": 2, "re_2": 0} {
				found, err := lyceum.All(v.References, v, lyceum.ReferenceFilter{AnyCase: lyceum.Some(reference)})
				if err != nil || len(found) != want {
					t.Errorf("%s: %v, %v; want %d", reference, found, err, want)
				}
			}
			if found, err := lyceum.All(v.Movements, v, lyceum.MovementFilter{Reference: lyceum.Some("RE_2")}); err != nil || len(found) != 2 || found[0].ID != 2 {
				t.Errorf("the refunds of RE_2 are %v, %v", found, err)
			}
			findings, err := store.Check(t.Context())
			if len(findings) > 0 || err != nil {
				t.Errorf("check finds %v, %v", findings, err)
			}
		})
	}
}
