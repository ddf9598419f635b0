package sqlstore

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

// passOver creates a database that has run the migrations up to a version except for one, as if
// that one had been added later with a lower number.
func passOver(t *testing.T, postgres bool, version, passed int64) *aged {
	t.Helper()
	a := makeAged(t, postgres, 1, fernwood[:2]...)
	db := a.db(t)
	defer db.Close()
	c, err := a.dialect.beginSchema(t.Context(), db, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.tx.Rollback() }()
	c.migrations = slices.DeleteFunc(c.migrations, func(m migration) bool { return m.version == passed })
	if _, err := c.run(version, func(*migration) {}); err != nil {
		t.Fatal(err)
	}
	if err := c.tx.Commit(); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestMigrationPassedOver checks that an upgrade also runs a migration with a lower number than the
// newest one that the database has run, and that until then the database counts as an older one.
func TestMigrationPassedOver(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct{ version, passed int64 }{
		"before an upgrade": {49, 41},
		"by an upgrade":     {newestMigration, 41},
		"with rows to fill": {42, 39},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBothEngines(t, func(t *testing.T, postgres bool) {
				a := passOver(t, postgres, of.version, of.passed)
				if v := a.version(t); v != of.passed-1 {
					t.Errorf("the schema has version %d", v)
				}
				if _, err := a.open(t.Context(), Options{}); err == nil || !strings.Contains(err.Error(), "run lyceum upgrade") {
					t.Errorf("it opens without an upgrade: %v", err)
				}
				u, err := a.upgrade(t, UpgradeOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if u.From != of.passed-1 || u.To != a.version(t) || len(u.Steps) == 0 || u.Steps[0].Version != of.passed {
					t.Errorf("it ran from version %d to %d, %v", u.From, u.To, u.Steps)
				}
				db := a.db(t)
				defer db.Close()
				for _, text := range []string{"SELECT email FROM links", "SELECT erased_at FROM users"} {
					if rows := textsOf(t, db, text+" WHERE 1 = 0"); rows != nil {
						t.Errorf("%s: %v", text, rows)
					}
				}
				a.restorable(t)
			})
		})
	}
}

// restorable fails the test unless a restore accepts the schema of the database.
func (a *aged) restorable(t *testing.T) {
	t.Helper()
	if a.dialect.name == "sqlite" {
		if err := ownSchema(t.Context(), filepath.Join(a.place, FileName)); err != nil {
			t.Error(err)
		}
		return
	}
	db := a.db(t)
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if err := ownPostgresSchema(t.Context(), tx); err != nil {
		t.Error(err)
	}
}

// TestUpgradeToAnotherSchema checks that an upgrade replaces indexes that differ from those of a new
// database, and changes nothing if a table differs.
func TestUpgradeToAnotherSchema(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct{ statement, want string }{
		"a column is missing": {"ALTER TABLE links DROP COLUMN email", `the table "links" of this database is not the one that`},
		"a table is missing":  {"DROP TABLE failed_requests", `the table "failed_requests" of this database is not the one that`},
		"an index is missing": {"DROP INDEX users_created", ""},
		"an index is another": {"DROP INDEX users_created; CREATE INDEX users_created ON users (school_id, email)", ""},
		"more columns":        {"ALTER TABLE links ADD COLUMN mine INTEGER", `the table "links" of this database is not the one that`},
		"more indexes":        {"CREATE INDEX mine ON users (school_id, email)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBothEngines(t, func(t *testing.T, postgres bool) {
				const version = 92
				a := makeAged(t, postgres, version, append(slices.Clone(fernwood[:2]), of.statement)...)
				_, err := a.upgrade(t, UpgradeOptions{})
				if of.want != "" {
					if lyceum.KindOf(err) != lyceum.Conflict || !strings.Contains(err.Error(), of.want) || a.version(t) != version {
						t.Errorf("it has version %d, %v", a.version(t), err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if name != "more indexes" {
					a.restorable(t)
				}
			})
		})
	}
}

// TestUnordered checks that tables may only differ in the order of their columns and constraints.
func TestUnordered(t *testing.T) {
	t.Parallel()
	const table = "CREATE TABLE x (a INTEGER, b TEXT DEFAULT ',', -- of the school, it's\n\tCHECK (a IN (1, 2)))"
	if other := "CREATE TABLE x (b TEXT DEFAULT ',', a INTEGER, -- of the school, it's\n\tCHECK (a IN (1, 2)))"; unordered(table) != unordered(other) {
		t.Errorf("%s\n%s", unordered(table), unordered(other))
	}
	for _, other := range []string{
		"CREATE TABLE x (a INTEGER, b TEXT DEFAULT ', ', -- of the school, it's\n\tCHECK (a IN (1, 2)))",
		"CREATE TABLE x (a INTEGER, b TEXT DEFAULT ',', -- of the school, it's\n\tCHECK (a IN (2, 1)))",
		"CREATE TABLE x (a INTEGER, b TEXT DEFAULT ',', -- of the school, it's\n\tCHECK (a IN (1, 2)), CHECK (b <> '')) -- )",
		"CREATE TABLE x (a INTEGER, b TEXT DEFAULT ',', -- of the school, it's\n\tCHECK (a IN (1, 2))) STRICT",
		"CREATE TABLE x (a INTEGER, b TEXT DEFAULT ',', CHECK (a IN (1, 2)))",
		"CREATE TABLE x (a INTEGER, b TEXT DEFAULT ','",
		"CREATE TABLE x)(",
		"",
	} {
		if unordered(table) == unordered(other) {
			t.Errorf("%q counts as the same", other)
		}
	}
}
