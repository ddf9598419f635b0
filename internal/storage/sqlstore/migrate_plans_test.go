package sqlstore

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// Cancellations from before the upgrade are marked as announced, other ends are not. Users with
// access to coaching are admitted.
func TestSalesFromBeforeChangesOfPlan(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 20,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO users (school_id, user_id, email, email_key, role, created_at) VALUES (7, 1, 'a@x', 'a@x', 'student', 0), (7, 2, 'b@x', 'b@x', 'student', 0), (7, 3, 'c@x', 'c@x', 'student', 0), (7, 4, 'd@x', 'd@x', 'student', 0)",
				"INSERT INTO coaching (school_id, coaching_id, name, is_published, is_listed, created_at, updated_at) VALUES (7, 1, 'An hour', 1, 1, 0, 0)",
				"INSERT INTO product_collections (school_id, product_collection_id, name, is_published, is_listed, created_at, updated_at) VALUES (7, 1, 'All', 1, 1, 0, 0)",
				"INSERT INTO collection_products (school_id, collection_product_id, product_collection_id, product_type, product_id, created_at) VALUES (7, 1, 1, 'coaching', 1, 0)",
				"INSERT INTO sales (school_id, sale_id, created_at, paid_until, ended_at, end_reason) VALUES (7, 1, 0, NULL, NULL, NULL), (7, 2, 0, 900, 5, 'canceled'), (7, 3, 0, NULL, 5, 'refunded')",
				"INSERT INTO entitlements (school_id, entitlement_id, user_id, product_type, product_id, sale_id, imported, starts_at, ends_at, ended_at, end_reason) VALUES "+
					"(7, 1, 1, 'coaching', 1, 1, 0, 20, 90, NULL, NULL), (7, 2, 1, 'product_collection', 1, NULL, 0, 10, 70, NULL, NULL), "+ // both together
					"(7, 3, 2, 'product_collection', 1, NULL, 0, 30, NULL, NULL, NULL), (7, 4, 2, 'coaching', 1, NULL, 0, 40, 90, NULL, NULL), "+ // without an end
					"(7, 5, 3, 'coaching', 1, 3, 0, 10, NULL, 5, 'refunded'), (7, 6, 4, 'coaching', 1, NULL, 0, 10, NULL, NULL, NULL)", // ended; blocked
				"INSERT INTO blocks (school_id, block_id, user_id, product_type, product_id, created_at) VALUES (7, 1, 4, 'coaching', 1, 0)",
				"INSERT INTO journal (school_id, number, at, actor, type, object_id) VALUES (7, 1, 9, 'import', 'school.created', 7)",
				"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 7), (7, 'journal', 1), (7, 'user_id', 4), (7, 'users', 4), (7, 'coaching_id', 1), (7, 'product_collection_id', 1), (7, 'collection_product_id', 1), (7, 'sale_id', 3), (7, 'entitlement_id', 6), (7, 'block_id', 1)",
			)
			texts := func(text string, columns int) (all []string) {
				for _, line := range lines(t, store, text, columns) {
					all = append(all, strings.Join(line, " "))
				}
				return all
			}
			if got, want := texts("SELECT sale_id, stopped FROM sales ORDER BY 1", 2), []string{"1 0", "2 1", "3 0"}; !slices.Equal(got, want) {
				t.Errorf("stops are %v, want %v", got, want)
			}
			got := texts("SELECT admission_id, user_id, coaching_id, COALESCE(sale_id, 0), admitted_at, COALESCE(expires_at, 0), COALESCE(ended_at, 0) FROM admissions ORDER BY 1", 7)
			if want := []string{"1 1 1 0 10 90 0", "2 2 1 0 30 0 0"}; !slices.Equal(got, want) {
				t.Errorf("admissions are %v, want %v", got, want)
			}
			got = texts("SELECT number, at, type, object_id FROM journal WHERE number > 1 ORDER BY 1", 4)
			if want := []string{"2 9 admission.created 1", "3 9 admission.created 2"}; !slices.Equal(got, want) {
				t.Errorf("the journal has %v, want %v", got, want)
			}
			if findings, err := store.Check(t.Context()); err != nil || len(findings) > 0 {
				t.Errorf("check: %v, %v", findings, err)
			}
		})
	}
}

// A payment plan whose payments were all made before the upgrade is paid in full; others are due
// as before.
func TestSalesFromBeforeBillingDays(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			payment := func(id, sale, price, refunded int) string {
				return fmt.Sprintf("INSERT INTO transactions (school_id, transaction_id, user_id, pricing_plan_id, sale_id, created_at, purchased_at, charge, final_price, currency, tax_charge, revenue, paid, affiliate_fees, author_fees, amount_refunded) VALUES (7, %d, 1, 1, %d, %d, %[3]d, %d, %[4]d, 'USD', 0, %[4]d, 1, 0, 0, %[5]d)", id, sale, id, price, refunded)
			}
			store := oldDatabase(t, postgres, 26,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO users (school_id, user_id, email, email_key, role, created_at) VALUES (7, 1, 'a@x', 'a@x', 'student', 0)",
				"INSERT INTO pricing_plans (school_id, pricing_plan_id, name, price, currency, frequency, num_payments_required, free_trial_length, created_at, updated_at) VALUES (7, 1, 'In two parts', 500, 'USD', 'payment_plan', 2, 14, 0, 0)",
				"INSERT INTO sales (school_id, sale_id, created_at, user_id, pricing_plan_id, paid_until, ended_at, end_reason, next_plan_id) VALUES (7, 1, 0, 1, 1, 900, NULL, NULL, 1), (7, 2, 0, 1, 1, 900, NULL, NULL, NULL), (7, 3, 0, 1, 1, 900, 5, 'canceled', NULL), (7, 4, 0, 1, 1, 900, NULL, NULL, NULL)",
				payment(1, 1, 0, 0), payment(2, 1, 500, 0), payment(3, 1, 500, 0), // a trial, and both parts
				payment(4, 2, 500, 0), payment(5, 2, 500, 500), // one was refunded
				payment(6, 3, 500, 0), payment(7, 3, 500, 0), // it had ended
				payment(8, 4, 0, 0), payment(9, 4, 500, 0), // a trial, and one part
				"INSERT INTO journal (school_id, number, at, actor, type, object_id) VALUES (7, 1, 9, 'import', 'school.created', 7)",
				"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 7), (7, 'journal', 1), (7, 'user_id', 1), (7, 'users', 1), (7, 'pricing_plan_id', 1), (7, 'sale_id', 4), (7, 'transaction_id', 9), (7, 'transactions', 9)",
			)
			var got []string
			for _, line := range lines(t, store, "SELECT sale_id, paid_in_full, COALESCE(paid_until, 0), COALESCE(next_plan_id, 0), COALESCE(billing_anchor, 0) FROM sales ORDER BY 1", 5) {
				got = append(got, strings.Join(line, " "))
			}
			if want := []string{"1 1 0 0 0", "2 0 900 0 0", "3 0 900 0 0", "4 0 900 0 0"}; !slices.Equal(got, want) {
				t.Errorf("sales are %v, want %v", got, want)
			}
			got = nil
			for _, line := range lines(t, store, "SELECT number, type, object_id FROM journal WHERE number > 1 ORDER BY 1", 3) {
				got = append(got, strings.Join(line, " "))
			}
			if want := []string{"2 sale.updated 1"}; !slices.Equal(got, want) {
				t.Errorf("the journal has %v, want %v", got, want)
			}
		})
	}
}

// A sale that is to stop does so when its access ends, and one that changes its plan when its
// paid period ends.
func TestSalesFromBeforeStops(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 27,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO users (school_id, user_id, email, email_key, role, created_at) VALUES (7, 1, 'a@x', 'a@x', 'student', 0)",
				"INSERT INTO pricing_plans (school_id, pricing_plan_id, name, price, currency, frequency, created_at, updated_at) VALUES (7, 1, 'Monthly', 500, 'USD', 'subscription', 0, 0)",
				"INSERT INTO sales (school_id, sale_id, created_at, user_id, pricing_plan_id, paid_until, ended_at, end_reason, next_plan_id, stop) VALUES "+
					"(7, 1, 3, 1, 1, 900, NULL, NULL, NULL, 0), (7, 2, 3, 1, 1, 900, 5, 'canceled', NULL, 2), "+ // running; announced
					"(7, 3, 3, 1, 1, 900, 5, 'canceled', NULL, 1), (7, 4, 3, 1, 1, 400, 5, 'canceled', NULL, 1), "+ // as paid; its access lasts longer
					"(7, 5, 3, 1, 1, NULL, 5, 'canceled', NULL, 1), "+ // nothing is paid and nothing is open
					"(7, 6, 3, 1, 1, 900, NULL, NULL, 1, 0), (7, 7, 3, 1, 1, NULL, NULL, NULL, 1, 0)", // they change their plan
				"INSERT INTO entitlements (school_id, entitlement_id, user_id, product_type, product_id, sale_id, imported, starts_at, ends_at, ended_at, end_reason) VALUES "+
					"(7, 1, 1, 'coaching', 1, 4, 0, 3, 800, NULL, NULL), (7, 2, 1, 'coaching', 1, 5, 0, 3, 800, 5, 'unenrolled')",
				"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 7), (7, 'journal', 0), (7, 'user_id', 1), (7, 'users', 1), (7, 'pricing_plan_id', 1), (7, 'sale_id', 7), (7, 'entitlement_id', 2)",
			)
			var got []string
			for _, line := range lines(t, store, "SELECT sale_id, stopped, COALESCE(stops_at, 0), COALESCE(due_at, 0), COALESCE(to_stop_at, 0) FROM sales ORDER BY 1", 5) {
				got = append(got, strings.Join(line, " "))
			}
			want := []string{"1 0 0 0 0", "2 1 0 0 0", "3 0 900 900 0", "4 0 800 800 0", "5 0 3 3 0", "6 0 0 900 0", "7 0 0 3 0"}
			if !slices.Equal(got, want) {
				t.Errorf("sales are %v, want %v", got, want)
			}
		})
	}
}

// Sales to stop charging are found and counted by an index, in its order.
func TestSalesToStopAreReadByAnIndex(t *testing.T) {
	t.Parallel()
	store, by := spied(t)
	v := store.In(t.Context(), 1)
	by.seen = nil
	if _, err := v.Sales.List(v, lyceum.SaleFilter{ToStop: true}, lyceum.Page{Number: 1, Size: 25}); err != nil || len(by.seen) == 0 {
		t.Fatal(err, by.seen)
	}
	for _, text := range slices.Clone(by.seen) {
		var plan []string
		for _, step := range lines(t, store, "EXPLAIN QUERY PLAN "+placeholder.ReplaceAllString(text, "1"), 4) {
			plan = append(plan, step[3])
		}
		if steps := strings.Join(plan, "; "); strings.Contains(text, "sales") && (!strings.Contains(steps, "INDEX sales_to_stop") || strings.Contains(steps, "TEMP B-TREE")) {
			t.Errorf("%s: %s", text, steps)
		}
	}
}

// wantNoStep fails the test if the plan of a recorded query contains one of some steps.
func wantNoStep(t *testing.T, store *Store, by *spy, steps ...string) {
	t.Helper()
	for _, taken := range stepsOf(t, store, by) {
		if slices.ContainsFunc(steps, func(s string) bool { return strings.Contains(taken, s) }) {
			t.Errorf("%q takes %s", by.seen, taken)
		}
	}
}

// stepsOf returns the steps in the plans of the recorded queries.
func stepsOf(t *testing.T, store *Store, by *spy) (steps []string) {
	t.Helper()
	for _, text := range slices.Clone(by.seen) {
		for _, step := range lines(t, store, "EXPLAIN QUERY PLAN "+placeholder.ReplaceAllString(text, "1"), 4) {
			steps = append(steps, step[3])
		}
	}
	return steps
}

// The last payments of some sales are found without reading those of others.
func TestLastPaymentsAreReadByAnIndex(t *testing.T) {
	t.Parallel()
	store, by := spied(t)
	v := store.In(t.Context(), 1)
	by.seen = nil
	if _, err := lyceum.All(v.Transactions, v, lyceum.TransactionQuery{LastOf: []lyceum.SaleID{1, 2}}); err != nil || len(by.seen) == 0 {
		t.Fatal(err, by.seen)
	}
	wantNoStep(t, store, by, "SCAN", "INDEX transactions_created")
}

// The purchases of a buyer are found without reading those of others.
func TestPurchasesOfABuyerAreReadByAnIndex(t *testing.T) {
	t.Parallel()
	store, by := spied(t)
	v := store.In(t.Context(), 1)
	by.seen = nil
	mine := lyceum.SaleFilter{Purchases: lyceum.Some(lyceum.PurchaseFilter{User: lyceum.Some(lyceum.UserID(7))})}
	if _, err := v.Sales.List(v, mine, lyceum.Page{Number: 1, Size: 25}); err != nil || len(by.seen) == 0 {
		t.Fatal(err, by.seen)
	}
	wantNoStep(t, store, by, "SCAN sales", "INDEX sales_purchased")
}

// Due sales are found by an index, in its order.
func TestDueSalesAreReadByAnIndex(t *testing.T) {
	t.Parallel()
	store, by := spied(t)
	v := store.In(t.Context(), 1)
	by.seen = nil
	if _, _, err := v.Sales.First(v, lyceum.SaleFilter{DueAt: lyceum.Some(storetest.Day(1))}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.FindOverdue(t.Context(), storetest.Day(1)); err != nil {
		t.Fatal(err)
	}
	for _, text := range slices.Clone(by.seen) {
		var plan []string
		for _, step := range lines(t, store, "EXPLAIN QUERY PLAN "+placeholder.ReplaceAllString(text, "1"), 4) {
			plan = append(plan, step[3])
		}
		if steps := strings.Join(plan, "; "); !strings.Contains(steps, "INDEX sales_due") || strings.Contains(steps, "SCAN sales") || strings.Contains(steps, "TEMP B-TREE") {
			t.Errorf("%s: %s", text, steps)
		}
	}
}

// Older schools keep subscriptions that are not paid for. A sale that was recorded here, or one
// of whose payments was, is billed here from when it was made.
func TestSalesFromBeforeLapses(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			payment := "INSERT INTO transactions (school_id, transaction_id, user_id, pricing_plan_id, sale_id, created_at, purchased_at, charge, final_price, currency, tax_charge, revenue, paid, affiliate_fees, author_fees, amount_refunded) VALUES (7, %d, 1, 1, %[1]d, 3, 3, 500, 500, 'USD', 0, 500, 1, 0, 0, 0)"
			store := oldDatabase(t, postgres, 30,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO users (school_id, user_id, email, email_key, role, created_at) VALUES (7, 1, 'a@x', 'a@x', 'student', 0)",
				"INSERT INTO pricing_plans (school_id, pricing_plan_id, name, price, currency, frequency, created_at, updated_at) VALUES (7, 1, 'Monthly', 500, 'USD', 'subscription', 0, 0)",
				"INSERT INTO sales (school_id, sale_id, created_at, user_id, pricing_plan_id, paid_until, ended_at, end_reason) VALUES "+
					"(7, 1, 3, 1, 1, 900, NULL, NULL), (7, 2, 3, 1, 1, 900, NULL, NULL), (7, 3, 3, 1, 1, 900, NULL, NULL), "+ // recorded; renewed; imported
					"(7, 4, 3, 1, 1, 900, 5, 'canceled'), (7, 5, 3, 1, 1, NULL, NULL, NULL), "+ // recorded, and over; recorded, and not due again
					"(7, 6, 3, 1, 1, 2, NULL, NULL)", // followed another one after its period
				fmt.Sprintf(payment, 1), fmt.Sprintf(payment, 2), fmt.Sprintf(payment, 3),
				"INSERT INTO journal (school_id, number, at, actor, type, object_id, event) VALUES (7, 1, 9, 'key:1', 'sale.created', 1, 'Sale.created'), "+
					"(7, 2, 9, 'import', 'sale.created', 2, NULL), (7, 3, 9, 'import', 'sale.created', 3, NULL), (7, 4, 9, 'import', 'transaction.created', 3, NULL), "+
					"(7, 5, 9, 'key:1', 'transaction.created', 2, 'Transaction.created'), (7, 6, 9, 'key:1', 'sale.created', 4, 'Sale.created'), "+
					"(7, 7, 9, 'key:1', 'sale.created', 5, 'Sale.created'), (7, 8, 9, 'clock', 'sale.created', 6, 'Sale.created')",
				"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 7), (7, 'journal', 8), (7, 'user_id', 1), (7, 'users', 1), (7, 'pricing_plan_id', 1), (7, 'sale_id', 6), (7, 'transaction_id', 3), (7, 'transactions', 3)",
			)
			var got []string
			for _, line := range lines(t, store, "SELECT sale_id, COALESCE(billed_since, 0), COALESCE(grace_from, 0) FROM sales ORDER BY 1", 3) {
				got = append(got, strings.Join(line, " "))
			}
			if want := []string{"1 3 900", "2 3 900", "3 0 0", "4 3 0", "5 3 0", "6 2 2"}; !slices.Equal(got, want) {
				t.Errorf("sales are %v, want %v", got, want)
			}
			school, err := store.In(t.Context(), 7).GetSchool()
			if err != nil || school.Policy.OnLapse != lyceum.Keep || school.Policy.GraceDays != 15 {
				t.Errorf("the policy is %+v: %v", school.Policy, err)
			}
		})
	}
}
