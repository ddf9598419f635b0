package sqlstore

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// Enrollments of a database without entitlements get one for each paid sale of their course, or
// else a separate one.
func TestEnrollmentsFromBeforeEntitlements(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const transaction = "INSERT INTO transactions (school_id, transaction_id, user_id, pricing_plan_id, sale_id, created_at, purchased_at, charge, final_price, currency, tax_charge, revenue, paid, has_chargeback, affiliate_fees, author_fees, amount_refunded) VALUES "
			store := oldDatabase(t, postgres, 15,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO users (school_id, user_id, email, email_key, role, created_at) VALUES (7, 1, 'a@x', 'a@x', 'student', 0), (7, 2, 'b@x', 'b@x', 'student', 0), (7, 3, 'c@x', 'c@x', 'student', 0)",
				"INSERT INTO courses (school_id, course_id, name, is_published, created_at, updated_at) VALUES (7, 1, 'Pottery', 1, 0, 0), (7, 2, 'Glass', 1, 0, 0)",
				"INSERT INTO pricing_plans (school_id, pricing_plan_id, course_id, name, price, currency, frequency, created_at, updated_at) VALUES (7, 1, 1, 'Once', 100, 'USD', 'one_time_payment', 0, 0)",
				"INSERT INTO sales (school_id, sale_id, created_at) VALUES (7, 1, 0), (7, 2, 0), (7, 3, 0), (7, 4, 0), (7, 5, 0)",
				transaction+"(7, 1, 1, 1, 1, 0, 0, 100, 100, 'USD', 0, 100, 1, NULL, 0, 0, 0), (7, 2, 1, 1, 2, 0, 0, 100, 100, 'USD', 0, 100, 1, NULL, 0, 0, 50),"+
					"(7, 3, 1, 1, 3, 0, 0, 100, 100, 'USD', 0, 100, 1, NULL, 0, 0, 100), (7, 4, 2, 1, 4, 0, 0, 100, 100, 'USD', 0, 100, 1, 1, 0, 0, 0), (7, 5, 2, 1, 5, 0, 0, 100, 100, 'USD', 0, 100, 0, NULL, 0, 0, 0)",
				"INSERT INTO enrollments (school_id, enrollment_id, user_id, course_id, enrolled_at, expires_at, ended_at, sale_id) VALUES (7, 1, 1, 1, 10, 90, NULL, 1), (7, 2, 2, 1, 20, NULL, NULL, NULL),"+
					"(7, 3, 2, 2, 5, 8, 8, NULL), (7, 4, 3, 2, 6, NULL, 9, NULL), (7, 5, 3, 2, 30, NULL, NULL, NULL)",
				"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 7), (7, 'user_id', 3), (7, 'course_id', 2), (7, 'pricing_plan_id', 1), (7, 'sale_id', 5), (7, 'transaction_id', 5), (7, 'enrollment_id', 5), (7, 'users', 3), (7, 'transactions', 5), (7, 'enrollments:1', 1), (7, 'enrollments:2', 1)")
			got := lines(t, store, "SELECT entitlement_id, user_id, product_id, COALESCE(sale_id, 0), starts_at, COALESCE(ends_at, 0), COALESCE(ended_at, 0) FROM entitlements ORDER BY 1", 7)
			var text []string
			for _, line := range got {
				text = append(text, strings.Join(line, " "))
			}
			want := []string{
				"1 1 1 1 10 90 0", "2 1 1 2 10 90 0", // paid, and half of it refunded
				"3 2 1 0 20 0 0", // charged back, or never paid
				"4 2 2 0 5 8 0", "5 3 2 0 6 0 9", "6 3 2 0 30 0 0",
			}
			if !slices.Equal(text, want) {
				t.Errorf("entitlements are\n%s\nwant\n%s", strings.Join(text, "\n"), strings.Join(want, "\n"))
			}
			findings, err := store.Check(t.Context())
			for _, f := range findings {
				if strings.Contains(f.What, "entitlement") {
					t.Errorf("check: %s", f.What)
				}
			}
			if err != nil {
				t.Error(err)
			}
			v := store.In(t.Context(), 7)
			active, err := v.FindEnrolled(lyceum.EnrolledFilter{Course: 1}, lyceum.Page{Number: 1, Size: 10})
			if err != nil || active.Total != 2 {
				t.Errorf("%d are enrolled in course 1, want 2: %v", active.Total, err)
			}
		})
	}
}

// An entitlement that an import ended a second time gets the end of its enrollment; the others
// stay as they are.
func TestEntitlementsThatEndedTwice(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var statements []string
			for school := 7; school <= 8; school++ {
				statements = append(statements,
					fmt.Sprintf("INSERT INTO schools (school_id, name, created_at) VALUES (%d, 'Fernwood', 0)", school),
					fmt.Sprintf("INSERT INTO courses (school_id, course_id, name, is_published, created_at, updated_at) VALUES (%d, 1, 'Pottery', 1, 0, 0)", school))
				for user := 1; user <= 3; user++ {
					statements = append(statements, fmt.Sprintf("INSERT INTO users (school_id, user_id, email, email_key, role, created_at) "+
						"VALUES (%d, %d, 'u%[2]d@x', 'u%[2]d@x', 'student', 0)", school, user))
				}
			}
			for _, row := range []struct{ id, user, enrolled, expires, ended, reason string }{
				{"7, 1", "1", "10", "20", "NULL", "50, 'imported'"}, // by the end of the next one
				{"7, 2", "1", "40", "NULL", "50", "50, 'imported'"},
				{"7, 3", "2", "10", "20", "15", "15, 'imported'"}, // before it expired
				{"7, 4", "3", "10", "NULL", "NULL", "NULL, NULL"},
				{"8, 1", "1", "10", "20", "20", "50, 'imported'"}, // its enrollment ended
				{"8, 2", "2", "11", "20", "20", "50, 'voided'"},
			} {
				school := row.id[:1]
				statements = append(statements,
					fmt.Sprintf("INSERT INTO enrollments (school_id, enrollment_id, user_id, course_id, enrolled_at, expires_at, ended_at) "+
						"VALUES (%s, %s, 1, %s, %s, %s)", row.id, row.user, row.enrolled, row.expires, row.ended),
					fmt.Sprintf("INSERT INTO entitlements (school_id, entitlement_id, user_id, product_type, product_id, imported, starts_at, ended_at, end_reason) "+
						"VALUES (%s, %s, 'course', 1, 1, %s, %s)", row.id, row.user, row.enrolled, row.reason),
					fmt.Sprintf("INSERT INTO counters (school_id, name, value) VALUES (%s, 'held:course:1', 1) "+
						"ON CONFLICT (school_id, name) DO UPDATE SET value = counters.value + 1", school))
			}
			store := oldDatabase(t, postgres, 89, statements...)
			var got []string
			for _, line := range lines(t, store, "SELECT school_id, entitlement_id, COALESCE(ends_at, 0), COALESCE(ended_at, 0), "+
				"COALESCE(end_reason, '') FROM entitlements ORDER BY 1, 2", 5) {
				got = append(got, strings.TrimSpace(strings.Join(line, " ")))
			}
			want := []string{
				"7 1 20 0", "7 2 0 50 imported", "7 3 0 15 imported", "7 4 0 0", "8 1 0 50 imported", "8 2 0 50 voided",
			}
			if !slices.Equal(got, want) {
				t.Errorf("entitlements are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			findings, err := store.Check(t.Context())
			if err != nil {
				t.Error(err)
			}
			for _, f := range findings {
				if strings.Contains(f.What, "without an entitlement") {
					t.Errorf("check: %s", f.What)
				}
			}
		})
	}
}

// TestEntitlementsOfErasedBuyers checks that access sold to users after they were erased ends, and
// that other access stays.
func TestEntitlementsOfErasedBuyers(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			statements := []string{
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0), (8, 'Moor', 0)",
				"INSERT INTO courses (school_id, course_id, name, is_published, created_at, updated_at) VALUES (7, 1, 'Pottery', 1, 0, 0), (8, 1, 'Glass', 1, 0, 0)",
				"INSERT INTO users (school_id, user_id, email, email_key, role, created_at, erased_at) " +
					"VALUES (7, 1, 'a@x', 'a@x', 'student', 0, 50), (7, 2, 'b@x', 'b@x', 'student', 0, NULL), (8, 1, 'c@x', 'c@x', 'student', 0, NULL), (8, 2, 'd@x', 'd@x', 'student', 0, 50)",
				"INSERT INTO enrollments (school_id, enrollment_id, user_id, course_id, enrolled_at, ended_at) VALUES (7, 1, 1, 1, 10, 50), (7, 2, 2, 1, 60, NULL), (8, 1, 1, 1, 60, NULL), (8, 2, 2, 1, 60, NULL)",
				"INSERT INTO entitlements (school_id, entitlement_id, user_id, product_type, product_id, imported, starts_at, ended_at, end_reason) " +
					"VALUES (7, 1, 1, 'course', 1, 0, 10, 50, 'unenrolled'), (7, 2, 1, 'course', 1, 0, 60, NULL, NULL), (7, 3, 2, 'course', 1, 0, 60, NULL, NULL), (8, 1, 1, 'course', 1, 0, 60, NULL, NULL), (8, 2, 2, 'course', 1, 0, 60, NULL, NULL)",
				"INSERT INTO counters (school_id, name, value) VALUES (7, 'held:course:1', 3), (8, 'held:course:1', 2)",
			}
			store := oldDatabase(t, postgres, 93, statements...)
			var got []string
			for _, line := range lines(t, store, "SELECT school_id, entitlement_id, COALESCE(ended_at, 0), COALESCE(end_reason, '') "+
				"FROM entitlements ORDER BY 1, 2", 4) {
				got = append(got, strings.TrimSpace(strings.Join(line, " ")))
			}
			want := []string{"7 1 50 unenrolled", "7 2 60 unenrolled", "7 3 0", "8 1 0", "8 2 0"}
			if !slices.Equal(got, want) {
				t.Errorf("entitlements are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			findings, err := store.Check(t.Context())
			if err != nil {
				t.Error(err)
			}
			for _, f := range findings {
				if strings.Contains(f.What, "without an enrollment") {
					t.Errorf("check: %s", f.What)
				}
			}
		})
	}
}
