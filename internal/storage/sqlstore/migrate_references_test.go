package sqlstore

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"
)

// referring is a school of version 84 with a row of each table that refers to others.
var referring = []string{
	"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0), (8, 'Oak', 0)",
	"INSERT INTO users (school_id, user_id, email, email_key, role, created_at) VALUES (7, 1, 'ann@x', 'ann@x', 'student', 0), (7, 2, 'ben@x', 'ben@x', 'student', 0)",
	"INSERT INTO courses (school_id, course_id, name, is_published, created_at, updated_at) VALUES (7, 1, 'Pottery', 1, 0, 0)",
	"INSERT INTO lecture_sections (school_id, lecture_section_id, course_id, name, is_published, position) VALUES (7, 1, 1, 'Clay', 1, 1)",
	"INSERT INTO lectures (school_id, lecture_id, course_id, lecture_section_id, is_published, position) VALUES (7, 1, 1, 1, 1, 1)",
	"INSERT INTO pricing_plans (school_id, pricing_plan_id, name, price, currency, frequency, created_at, updated_at) VALUES (7, 1, 'Once', 100, 'USD', 'one-time payment', 0, 0)",
	"INSERT INTO sales (school_id, sale_id, created_at) VALUES (7, 1, 0)",
	"INSERT INTO transactions (school_id, transaction_id, user_id, pricing_plan_id, sale_id, created_at, purchased_at, charge, final_price, currency, tax_charge, revenue, paid, affiliate_fees, author_fees, amount_refunded) VALUES (7, 1, 1, 1, 1, 0, 0, 100, 100, 'USD', 0, 100, 1, 0, 0, 0)",
	"INSERT INTO entitlements (school_id, entitlement_id, user_id, product_type, product_id, sale_id, imported, starts_at) VALUES (7, 1, 1, 'course', 1, 1, 0, 0), (7, 2, 1, 'course', 2, NULL, 1, 0)",
	"INSERT INTO enrollments (school_id, enrollment_id, user_id, course_id, enrolled_at) VALUES (7, 1, 1, 1, 0)",
	"INSERT INTO progress (school_id, progress_id, user_id, course_id, percent_complete) VALUES (7, 1, 1, 1, 0)",
	"INSERT INTO lecture_progress (school_id, lecture_progress_id, user_id, course_id, lecture_id, completed_at) VALUES (7, 1, 1, 1, 1, 0)",
}

// Where PostgreSQL has triggers instead of foreign keys, it rejects what the foreign keys
// rejected, also for rows from before the triggers, and nothing else, unless the transaction says
// that what it inserts refers to rows that exist.
func TestPostgresRefusesRowsThatReferToNothing(t *testing.T) {
	t.Parallel()
	store := oldDatabase(t, true, 84, referring...)
	for _, r := range []struct{ table, key, column, parent string }{
		{"sales", "sale_id", "school_id", "schools"},
		{"transactions", "transaction_id", "user_id", "users"},
		{"transactions", "transaction_id", "pricing_plan_id", "pricing_plans"},
		{"entitlements", "entitlement_id", "user_id", "users"},
		{"entitlements", "entitlement_id", "sale_id", "sales"},
		{"enrollments", "enrollment_id", "user_id", "users"},
		{"enrollments", "enrollment_id", "course_id", "courses"},
		{"progress", "progress_id", "user_id", "users"},
		{"progress", "progress_id", "course_id", "courses"},
		{"lecture_progress", "lecture_progress_id", "user_id", "users"},
		{"lecture_progress", "lecture_progress_id", "lecture_id", "lectures"},
	} {
		// ended, so that it is not a second open enrollment
		copyWith := func(value string) string {
			return fmt.Sprintf("INSERT INTO %[1]s SELECT (jsonb_populate_record(c, '{\"%[2]s\": 99, \"ended_at\": 1, %[3]s}')).* "+
				"FROM %[1]s c WHERE c.%[2]s = 1 AND c.school_id = 7", r.table, r.key, value)
		}
		none := fmt.Sprintf(`"%s": 55`, r.column)
		refused := map[string]string{
			"inserting":            copyWith(none),
			"updating":             fmt.Sprintf("UPDATE %s SET %s = 55 WHERE %s = 1", r.table, r.column, r.key),
			"deleting its parent":  fmt.Sprintf("DELETE FROM %s WHERE school_id = 7", r.parent),
			"renumbering a parent": fmt.Sprintf("UPDATE %s SET %[2]s = %[2]s + 60 WHERE school_id = 7", r.parent, r.column),
		}
		if r.column != "school_id" {
			refused["inserting elsewhere"] = copyWith(`"school_id": 8`)
			refused["updating elsewhere"] = fmt.Sprintf("UPDATE %s SET school_id = 8 WHERE %s = 1", r.table, r.key)
		}
		accepted := map[string]string{
			"inserting":                 copyWith(`"user_id": 2`),
			"inserting unchecked":       referred + "; " + copyWith(none),
			"updating to what was":      fmt.Sprintf("UPDATE %s SET %[2]s = %[2]s WHERE %s = 1", r.table, r.column, r.key),
			"a parent that stays":       fmt.Sprintf("UPDATE %s SET %[2]s = %[2]s WHERE school_id = 7", r.parent, r.column),
			"a parent of no row of its": fmt.Sprintf("UPDATE %s SET school_id = 9 WHERE school_id = 8", "schools"),
		}
		if r.column == "sale_id" {
			accepted["inserting without"] = copyWith(`"sale_id": null`)
			accepted["updating to none"] = "UPDATE entitlements SET sale_id = NULL WHERE entitlement_id = 1"
		}
		name := r.table + " of " + r.parent
		try := func(text string) error {
			tx, err := store.reads.db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tx.Rollback() }()
			leaveAlone(t, tx, r.table, r.parent)
			_, err = tx.ExecContext(t.Context(), text)
			return err
		}
		for what, text := range refused {
			err := try(text)
			if e, is := errors.AsType[*pgconn.PgError](err); !is || e.Code != "23503" || strings.Contains(e.Message, "constraint") {
				t.Errorf("%s, %s: %v, want it refused by a trigger", name, what, err)
			}
		}
		for what, text := range accepted {
			if err := try(text); err != nil {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
}

// leaveAlone deletes the rows of all tables except the given ones and those to which they refer,
// so that no other table's reference rejects what theirs should.
func leaveAlone(t *testing.T, tx *sql.Tx, tables ...string) {
	t.Helper()
	run := func(text string) error {
		_, err := tx.ExecContext(t.Context(), text)
		return err
	}
	for _, table := range []string{
		"lecture_progress", "progress", "enrollments", "entitlements", "transactions", "sales", "pricing_plans", "lectures",
		"lecture_sections", "courses", "users",
	} {
		if slices.Contains(tables, table) {
			continue
		}
		if err := run("SAVEPOINT before"); err != nil {
			t.Fatal(err)
		}
		if run("DELETE FROM "+table) != nil {
			if err := run("ROLLBACK TO before"); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The rows to which others refer are found by keys, even if the tables were empty when the query
// was planned.
func TestPostgresFindsWhatRowsReferToByKeys(t *testing.T) {
	t.Parallel()
	store := openTestPostgres(t)
	db, err := store.reads.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	run := func(text string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	// One connection, whose plans are kept.
	for _, text := range referring {
		run(text)
	}
	run("INSERT INTO users (school_id, user_id, email, email_key, role, created_at) SELECT 7, n, 'u' || n, 'u' || n, 'student', 0 " +
		"FROM generate_series(3, 3000) n")
	scans := func() map[string]int {
		t.Helper()
		rows, err := db.QueryContext(t.Context(), "SELECT relname, seq_scan FROM pg_stat_xact_user_tables WHERE relname IN "+
			"('schools', 'users', 'pricing_plans', 'sales', 'courses', 'lectures')")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		of := map[string]int{}
		for rows.Next() {
			var table string
			var n int
			if err := rows.Scan(&table, &n); err != nil {
				t.Fatal(err)
			}
			of[table] = n
		}
		if len(of) != 6 || rows.Err() != nil {
			t.Fatal(of, rows.Err())
		}
		return of
	}
	run("BEGIN")
	before := scans()
	for _, table := range []string{"transactions", "entitlements", "enrollments", "progress", "lecture_progress"} {
		key := strings.TrimSuffix(table, "s") + "_id"
		if strings.HasSuffix(table, "progress") {
			key = table + "_id"
		}
		run(fmt.Sprintf("INSERT INTO %[1]s SELECT (jsonb_populate_record(c, jsonb_build_object('%[2]s', 9 + n, 'user_id', n))).* "+
			"FROM %[1]s c, generate_series(2, 2000) n WHERE c.%[2]s = 1", table, key))
	}
	if diff := cmp.Diff(before, scans()); diff != "" {
		t.Errorf("tables were read as a whole (-before +after):\n%s", diff)
	}
	run("ROLLBACK")
}
