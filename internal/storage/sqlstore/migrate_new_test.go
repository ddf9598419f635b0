package sqlstore

import (
	"database/sql"
	goflag "flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"
)

var writeSchema = goflag.Bool("update", false, "write migrations/sqlite.sql from the migrations")

// A new database is created from one file, which equals the schema that the migrations create in
// an empty database; none of them leaves a row there.
func TestNewDatabase(t *testing.T) {
	t.Parallel()
	d := sqliteDialect()
	db, err := sql.Open("sqlite", sqliteDSN(filepath.Join(t.TempDir(), FileName), Full, "_txlock=immediate"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	migrateTo(t.Context(), t, db, d, newestMigration)
	migrated := statementsOf(t, db)
	file := filepath.FromSlash(d.newest)
	if *writeSchema {
		if err := os.WriteFile(file, []byte(migrated), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(kept) != migrated {
		t.Errorf("%s is not what the migrations make: run go test ./internal/storage/sqlstore -run TestNewDatabase -update",
			file)
	}
	store := openTest(t)
	if diff := cmp.Diff(migrated, statementsOf(t, store.writes.db)); diff != "" {
		t.Errorf("migrated (-) and new (+):\n%s", diff)
	}
	for _, text := range []string{
		"SELECT version_id || ' ' || is_applied FROM " + goose.DefaultTablename + " ORDER BY id",
		"SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name",
	} {
		if diff := cmp.Diff(textsOf(t, db, text), textsOf(t, store.writes.db, text)); diff != "" {
			t.Errorf("migrated (-) and new (+):\n%s", diff)
		}
	}
	for _, table := range textsOf(t, db, "SELECT name FROM sqlite_schema WHERE type = 'table' AND "+madeByMigrations) {
		if n := textsOf(t, db, "SELECT count(*) FROM "+table)[0]; n != "0" {
			t.Errorf("the migrations leave %s rows in %s: create must too", n, table)
		}
	}
}

// madeByMigrations excludes what SQLite and goose create.
const madeByMigrations = "name NOT LIKE 'sqlite_%' AND name <> '" + goose.DefaultTablename + "'"

// statementsOf returns the statements that create a database's tables and indexes.
func statementsOf(t *testing.T, db *sql.DB) string {
	t.Helper()
	return strings.Join(textsOf(t, db, "SELECT sql || ';' || char(10) FROM sqlite_schema WHERE sql IS NOT NULL AND "+
		madeByMigrations+" ORDER BY rowid"), "")
}

func textsOf(t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		list = append(list, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

func BenchmarkNewDatabase(b *testing.B) {
	for b.Loop() {
		store, err := Open(b.Context(), b.TempDir(), Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := store.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
