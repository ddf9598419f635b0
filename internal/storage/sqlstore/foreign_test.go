package sqlstore

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// TestR42_RestoreTakesLyceumsOwnSchemaAlone checks that a file with somebody's own additions
// is not restored: a trigger would affect whatever is written later.
func TestR42_RestoreTakesLyceumsOwnSchemaAlone(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ statement, says string }{
		"as it was made":       {"", ""},
		"with statistics":      {"ANALYZE", ""},
		"with a filter index":  {filterIndexes[0].create(""), ""},
		"another filter index": {"CREATE INDEX transactions_plan ON transactions (school_id)", `the index "transactions_plan" of `},
		"a trigger":            {"CREATE TRIGGER keep_owner AFTER UPDATE ON users BEGIN UPDATE users SET role = 'owner'; END", `has an unknown trigger "keep_owner"`},
		"a view":               {"CREATE VIEW everybody AS SELECT * FROM users", `has an unknown view "everybody"`},
		"a view for a table":   {"DROP TABLE comments; CREATE VIEW comments AS SELECT 1 AS school_id", `has an unknown view "comments"`},
		"a table":              {"CREATE TABLE notes (id INTEGER)", `has an unknown table "notes"`},
		"an index":             {"CREATE INDEX mine ON users (name)", `has an unknown index "mine"`},
		"a column":             {"ALTER TABLE users ADD COLUMN note TEXT", `the table "users" of `},
		"without a table":      {"DROP TABLE comments", `lacks the `},
		"without an index":     {"DROP INDEX users_owners", `lacks the index "users_owners"`},
		"of a later version":   {"UPDATE goose_db_version SET version_id = version_id + 1 WHERE id = (SELECT max(id) FROM goose_db_version)", "was made by a later version of lyceum"},
		"without its versions": {"DROP TABLE goose_db_version", "is not a backup made by lyceum"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := openTest(t)
			backup := filepath.Join(t.TempDir(), "copy.db")
			if err := store.Backup(t.Context(), backup, nil); err != nil {
				t.Fatal(err)
			}
			alter(t, backup, tc.statement)
			dir := t.TempDir()
			_, err := Restore(t.Context(), backup, dir, restoring(func(*Store) error { return nil }))
			if tc.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if e := lyceum.Public(err); err == nil || e.Kind != lyceum.Invalid || !strings.Contains(e.Detail, tc.says) {
				t.Errorf("%v, want %q", err, tc.says)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("the folder holds %v, %v", left, err)
			}
		})
	}
}

func alter(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func restoring(prepare func(*Store) error) RestoreOptions {
	return RestoreOptions{Prepare: prepare, Now: upgradeTime, Progress: func(string) {}}
}

// TestR42_RestoreOfAnOlderVersion checks that a backup of an older version is restored and
// then has today's schema.
func TestR42_RestoreOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	old := oldDatabaseFile(t, 5, "INSERT INTO schools (school_id, name, created_at) VALUES (1, 'Fernwood', 0)")
	dir := t.TempDir()
	seen := 0
	done, err := Restore(t.Context(), old, dir, restoring(func(store *Store) error {
		schools, err := store.FindSchools(t.Context())
		seen = len(schools)
		return err
	}))
	if err != nil || seen != 1 || done.From != 5 || len(done.Steps) == 0 {
		t.Fatalf("%d schools, %+v, %v", seen, done, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || left[0].Name() != FileName {
		t.Errorf("the folder holds %v, %v", left, err)
	}
}

// oldDatabaseFile creates a closed database with the schema of a version.
func oldDatabaseFile(t *testing.T, version int64, statement string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "old.db")
	db, err := sql.Open("sqlite", sqliteDSN(path, Full, "_txlock=immediate"))
	if err != nil {
		t.Fatal(err)
	}
	migrateTo(t.Context(), t, db, sqliteDialect(), version)
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
