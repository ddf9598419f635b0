package sqlstore

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

func openTest(t *testing.T) *Store {
	t.Helper()
	store, err := Open(t.Context(), t.TempDir(), Options{})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func openTestPostgres(t *testing.T) *Store {
	t.Helper()
	store, err := OpenPostgres(t.Context(), storetest.Postgres(t), Options{Patience: storetest.Patience})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// onEngines runs a test on both engines.
func onEngines(t *testing.T, test func(t *testing.T, store *Store)) {
	t.Helper()
	for name, open := range map[string]func(*testing.T) *Store{"SQLite": openTest, "PostgreSQL": openTestPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// schemaColumn is what both engines must agree on.
type schemaColumn struct {
	Table, Name, Kind string
	Nullable          bool
}

// index is a key or an index with its columns in order.
type index struct {
	Table   string
	Columns string
	Unique  bool
	Partial bool
}

func lines(t *testing.T, s *Store, text string, width int) [][]string {
	t.Helper()
	rows, err := s.reads.db.QueryContext(t.Context(), text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	var all [][]string
	for rows.Next() {
		values, dest := make([]any, width), make([]any, width)
		for i := range values {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		var line []string
		for _, v := range values {
			line = append(line, fmt.Sprint(v))
		}
		all = append(all, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func sqliteSchema(t *testing.T, s *Store) (columns []schemaColumn, indexes []index) {
	t.Helper()
	for _, line := range lines(t, s, `SELECT m.name, c.name, c.type, c."notnull" FROM sqlite_schema m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'goose%' AND m.name NOT LIKE 'sqlite%'`, 4) {
		columns = append(columns, schemaColumn{line[0], line[1], kind(line[2]), line[3] == "0"})
	}
	for _, line := range lines(t, s, `SELECT m.name, i.name, i."unique", i.partial FROM sqlite_schema m JOIN pragma_index_list(m.name) i
		WHERE m.type = 'table' AND m.name NOT LIKE 'goose%'`, 4) {
		var names []string
		// An expression has no name, on either engine.
		for _, c := range lines(t, s, `SELECT name, seqno FROM pragma_index_info('`+line[1]+`') WHERE name IS NOT NULL ORDER BY seqno`, 2) {
			names = append(names, c[0])
		}
		indexes = append(indexes, index{line[0], strings.Join(names, ","), line[2] == "1", line[3] == "1"})
	}
	return columns, indexes
}

func postgresSchema(t *testing.T, s *Store) (columns []schemaColumn, indexes []index) {
	t.Helper()
	for _, line := range lines(t, s, `SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns
		WHERE table_schema = 'public' AND table_name NOT LIKE 'goose%' AND table_name NOT IN ('reaching', 'leases', 'tallies')`, 4) {
		columns = append(columns, schemaColumn{line[0], line[1], kind(line[2]), line[3] == "YES"})
	}
	for _, line := range lines(t, s, `SELECT t.relname, string_agg(a.attname, ',' ORDER BY k.n), i.indisunique, i.indpred IS NOT NULL
		FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace s ON s.oid = t.relnamespace
		CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY k (attnum, n)
		JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.attnum
		WHERE s.nspname = 'public' AND t.relname NOT LIKE 'goose%' AND t.relname NOT IN ('leases', 'tallies')
		GROUP BY i.indexrelid, t.relname, i.indisunique, i.indpred`, 4) {
		indexes = append(indexes, index{line[0], line[1], line[2] == "true", line[3] == "true"})
	}
	return columns, indexes
}

// kind maps an engine's type to a common name.
func kind(name string) string {
	switch strings.ToLower(name) {
	case "integer", "bigint", "smallint":
		return "number"
	case "real", "double precision":
		return "real"
	case "blob", "bytea":
		return "bytes"
	default:
		return strings.ToLower(name)
	}
}

func sorted[T any](list []T) []string {
	var text []string
	for _, v := range list {
		text = append(text, fmt.Sprintf("%+v", v))
	}
	slices.Sort(text)
	return text
}

func TestSchemasAreAlike(t *testing.T) {
	columns, indexes := sqliteSchema(t, openTest(t))
	wantColumns, wantIndexes := postgresSchema(t, openTestPostgres(t))
	if diff := cmp.Diff(sorted(wantColumns), sorted(columns)); diff != "" {
		t.Errorf("columns differ (-postgres +sqlite):\n%s", diff)
	}
	// PostgreSQL checks foreign keys by the primary key, which is a separate index.
	wantIndexes = append(wantIndexes, index{"users", "school_id,user_id", true, false})
	if diff := cmp.Diff(sorted(wantIndexes), sorted(indexes)); diff != "" {
		t.Errorf("indexes differ (-postgres +sqlite):\n%s", diff)
	}
}

// A school's rows can move to an engine that distributes them by school only if every key begins
// with the school.
func TestKeysBeginWithSchool(t *testing.T) {
	_, indexes := sqliteSchema(t, openTest(t))
	if len(indexes) < 15 {
		t.Fatalf("found %d keys and indexes only", len(indexes))
	}
	for _, i := range indexes {
		if first, _, _ := strings.Cut(i.Columns, ","); first != "school_id" {
			t.Errorf("a key of %s begins with %s", i.Table, first)
		}
	}
}

func TestEveryTableHasItsColumns(t *testing.T) {
	columns, _ := sqliteSchema(t, openTest(t))
	have := map[string]bool{}
	for _, c := range columns {
		have[c.Table+"."+c.Name] = true
	}
	check := func(name string, listed []string) {
		t.Helper()
		for _, c := range append([]string{"school_id"}, listed...) {
			if !have[name+"."+c] {
				t.Errorf("%s has no column %s", name, c)
			}
		}
	}
	check(users.name, users.columns)
	check(courses.name, courses.columns)
	check(pricingPlans.name, pricingPlans.columns)
	check(transactions.name, transactions.columns)
	for seq, name := range tableOf() {
		check(name, []string{string(seq)})
	}
}

func TestSQLitePlaceholders(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT 1":                             "SELECT 1",
		"VALUES ($1,$2),($3,$4)":               "VALUES (?,?),(?,?)",
		"a = $1 AND b = $2 LIMIT $3":           "a = ? AND b = ? LIMIT ?",
		"a = $1 AND b = $1":                    "a = ?1 AND b = ?1",
		"a = $2 AND b = $1":                    "a = ?2 AND b = ?1",
		"a=$1,$2,$3,$4,$5,$6,$7,$8,$9,$10 $11": "a=?,?,?,?,?,?,?,?,?,? ?",
		"a=$1,$3":                              "a=?1,?3",
	} {
		if got := sqlitePlaceholders(text); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, postgres bool) {
		a := makeAged(t, postgres, newestMigration, "UPDATE goose_db_version SET version_id = 99999 WHERE version_id > 0")
		for what, open := range map[string]func() error{
			"Open":         func() error { _, err := a.open(t.Context(), Options{}); return err },
			"for a backup": func() error { _, err := a.open(t.Context(), Options{AnySchema: true}); return err },
			"Upgrade":      func() error { _, err := a.upgrade(t, UpgradeOptions{}); return err },
		} {
			if err := open(); lyceum.KindOf(err) != lyceum.Unavailable || !strings.Contains(err.Error(), "the database has schema version 99999 but this lyceum only knows versions up to ") {
				t.Errorf("%s of a newer schema: %v", what, err)
			}
		}
	})
}

// A file can be opened only with the schema of this program.
func TestOpenable(t *testing.T) {
	t.Parallel()
	garbage := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(garbage, []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := func(version int64, statements ...string) string {
		return filepath.Join(makeAged(t, false, version, statements...).place, FileName)
	}
	for path, want := range map[string]string{
		file(newestMigration): "",
		file(14):              "run lyceum upgrade",
		file(newestMigration, "UPDATE goose_db_version SET version_id = 99999 WHERE version_id > 0"): "only knows versions up to",
		garbage: "not a database",
	} {
		if err := Openable(t.Context(), path); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("a file is openable: %v, want %q", err, want)
		}
	}
}

// Check must find each kind of damage that it claims to look for.
func TestCheckSeesDamage(t *testing.T) {
	for what, damage := range map[string]string{
		"more than the counter says":                  "UPDATE counters SET value = value - 1 WHERE name = 'transactions'",
		"than the journal has seen created":           "UPDATE journal_runs SET type = 'other' WHERE type = 'transaction.created'",
		"more than its last number":                   "UPDATE counters SET value = value - 1 WHERE name = 'journal'",
		"numbers missing":                             "DELETE FROM journal WHERE number = 5",
		"missing from its index of rare entries":      "UPDATE journal SET scarce = NULL",
		"collection_products refer to a course":       "INSERT INTO collection_products VALUES (1, 1, 1, 'course', 99, 0, NULL, NULL, NULL)",
		"tier_products refer to a coaching":           "INSERT INTO tier_products VALUES (1, 1, 1, 'coaching', 1, 0, NULL, NULL, NULL)",
		"older than their sale":                       "UPDATE sales SET created_at = created_at + 1",
		"a course that does not exist":                "DELETE FROM courses WHERE course_id = 2",
		"refer to a row of users":                     "DELETE FROM users WHERE user_id = 1",
		"users have an id that could be given":        "UPDATE counters SET value = 1 WHERE name = 'user_id'",
		"refer to a row of affiliates":                "DELETE FROM affiliates",
		"entitlements refer to a row of users":        "INSERT INTO entitlements (school_id, entitlement_id, user_id, product_type, product_id, imported, starts_at) VALUES (1, 900, 900, 'course', 1, 1, 0)",
		"entitlements refer to a row of sales":        "INSERT INTO entitlements (school_id, entitlement_id, user_id, product_type, product_id, sale_id, imported, starts_at) VALUES (1, 900, 1, 'course', 1, 900, 0, 0)",
		"enrollments refer to a row of users":         "INSERT INTO enrollments (school_id, enrollment_id, user_id, course_id, enrolled_at, ended_at) VALUES (1, 900, 900, 1, 0, 1)",
		"enrollments refer to a row of courses":       "INSERT INTO enrollments (school_id, enrollment_id, user_id, course_id, enrolled_at, ended_at) VALUES (1, 900, 1, 900, 0, 1)",
		"of progress refer to a row of users":         "INSERT INTO progress (school_id, progress_id, user_id, course_id, percent_complete) VALUES (1, 900, 900, 1, 0)",
		"of progress refer to a row of courses":       "INSERT INTO progress (school_id, progress_id, user_id, course_id, percent_complete) VALUES (1, 900, 1, 900, 0)",
		"lecture_progress refer to a row of users":    "INSERT INTO lecture_progress (school_id, lecture_progress_id, user_id, course_id, lecture_id, completed_at) VALUES (1, 900, 900, 1, 1, 0)",
		"lecture_progress refer to a row of lectures": "INSERT INTO lecture_progress (school_id, lecture_progress_id, user_id, course_id, lecture_id, completed_at) VALUES (1, 900, 1, 1, 900, 0)",
		"coupons have an id that could be given":      "UPDATE counters SET value = 0 WHERE name = 'coupon_id'",
	} {
		t.Run(what, func(t *testing.T) {
			store := openTest(t)
			storetest.Ledger(t, store, storetest.MakeSchool(t, store), 3, 200)
			conn, err := store.writes.db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, statement := range []string{"PRAGMA foreign_keys = 0", damage} {
				if _, err := conn.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
			findings, err := store.Check(t.Context())
			if err != nil || !slices.ContainsFunc(findings, func(f lyceum.Finding) bool { return strings.Contains(f.What, what) }) {
				t.Errorf("findings %v, %v", findings, err)
			}
		})
	}
}
