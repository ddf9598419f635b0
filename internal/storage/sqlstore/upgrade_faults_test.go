package sqlstore

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// failing begins an upgrade that has its backup and runs one more migration.
func failing(t *testing.T, a *aged, statements ...string) *upgrade {
	t.Helper()
	db := a.db(t)
	t.Cleanup(func() { _ = db.Close() })
	o := options(UpgradeOptions{})
	u, err := a.dialect.beginUpgrade(t.Context(), db, &o)
	if err != nil {
		t.Fatal(err)
	}
	u.result.Backup = "before.dump"
	u.migrations = append(u.migrations, migration{9000, "wrong", statements})
	u.to = 9000
	return u
}

// A failed upgrade reports the state of the database and of the backup.
func TestUpgradeThatFails(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"a key that is taken": "INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Again', 0)",
		"no statement":        "UPDATE nothing SET a = 1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBothEngines(t, func(t *testing.T, postgres bool) {
				a := makeAged(t, postgres, 14, fernwood...)
				err := a.dialect.public(failing(t, a, statement).run())
				const want = "the upgrade failed, and nothing was changed; the backup before.dump is complete; keep the older lyceum, and report this"
				if e := lyceum.Public(err); err == nil || e.Kind != lyceum.Unavailable || e.Detail != want || !strings.Contains(e.Err.Error(), "09000_wrong") {
					t.Errorf("%v", err)
				}
				if v := a.version(t); v != 14 {
					t.Errorf("the schema has version %d", v)
				}
			})
		})
	}
}

// The outcome of an upgrade whose commit was not confirmed is unknown.
func TestUpgradeThatIsNotConfirmed(t *testing.T) {
	t.Parallel()
	a := makeAged(t, true, 14, fernwood...)
	err := failing(t, a,
		"CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$",
		"CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON journal DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION die()",
	).run()
	if e := lyceum.Public(err); err == nil || e.Code != lyceum.OutcomeUnknown || !strings.Contains(e.Detail, "run lyceum upgrade again") {
		t.Errorf("%v", err)
	}
}

// A server that comes back during an upgrade prevents the commit. One that starts waits, and is
// rejected by its own checks.
func TestUpgradeWhileAServerComesBack(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		does   string // in the database, after the migrations have run
		waits  bool
		refuse string
	}{
		"an idle connection":           {"SELECT 1", false, "the database is in use: 1 other connection is open"},
		"one that waits for a table":   {"UPDATE schools SET name = name", true, "the database is in use: 1 other connection is open"},
		"one that reads the version":   {"SELECT max(version_id) FROM goose_db_version", true, ""},
		"one that waits to upgrade it": {schemaLock, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := makeAged(t, true, 14, fernwood...)
			other := a.db(t)
			defer other.Close()
			other.SetMaxOpenConns(1)
			ended := make(chan error, 1)
			o := UpgradeOptions{Backup: filepath.Join(t.TempDir(), "before.dump"), Now: upgradeTime}
			o.Progress = func(progress string) {
				if progress != "comparing access" {
					return
				}
				if !tc.waits {
					_, err := other.ExecContext(t.Context(), tc.does)
					ended <- err
					return
				}
				var pid int
				if err := other.QueryRowContext(t.Context(), "SELECT pg_backend_pid()").Scan(&pid); err != nil {
					t.Error(err)
				}
				go func() {
					_, err := other.ExecContext(t.Context(), tc.does)
					ended <- err
				}()
				watching := a.db(t)
				defer watching.Close()
				var waits bool
				var err error
				storetest.Await(func() bool {
					err = watching.QueryRowContext(t.Context(), "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted AND pid = $1)", pid).Scan(&waits)
					return err != nil || waits
				})
				if !waits {
					t.Errorf("the other one does not wait: %v", err)
				}
			}
			_, err := UpgradePostgres(t.Context(), a.place, o)
			if said := <-ended; said != nil {
				t.Errorf("the other one: %v", said)
			}
			if tc.refuse == "" {
				if err != nil || a.version(t) == 14 {
					t.Errorf("%v", err)
				}
				return
			}
			if e := lyceum.Public(err); err == nil || e.Kind != lyceum.Conflict || !strings.HasPrefix(e.Detail, tc.refuse) || a.version(t) != 14 {
				t.Errorf("%v", err)
			}
		})
	}
}

// Refunded amounts that a migration changes are listed.
func TestUpgradeListsRefunds(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, postgres bool) {
		a := makeAged(t, postgres, 14, append(slices.Clone(fernwood),
			"UPDATE transactions SET amount_refunded = 119, tax_charge = 19, refunded_at = 5",
			"INSERT INTO movements (school_id, movement_id, transaction_id, sale_id, kind, at, amount, refunded) VALUES (7, 1, 1, 1, 'refund', 5, 119, 119)")...)
		done, err := a.upgrade(t, UpgradeOptions{DryRun: true})
		if want := []Refunded{{7, 1, "USD", 119, 100}}; err != nil || done.Refunds != 1 || !slices.Equal(done.Refunded, want) {
			t.Errorf("%+v, %v", done, err)
		}
	})
}

// Files of a running dry run are kept, and those that a killed one left are removed, in this
// folder only.
func TestWhatIsLeftOfDryRuns(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir, similar := filepath.Join(base, "school[1]"), filepath.Join(base, "school1")
	at := func(dir, name string) string { return filepath.Join(dir, "lyceum-dry-run-"+name+".partial") }
	for _, folder := range []string{at(dir, "1"), at(dir, "2"), at(similar, "1")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	held, err := holdFolder(at(dir, "1"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := removeLeft(dir, leftBackups, rehearsals); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]bool{at(dir, "1"): true, at(dir, "2"): false, at(similar, "1"): true} {
		if _, err := os.Stat(folder); (err == nil) != want {
			t.Errorf("%s: %v", folder, err)
		}
	}
}

// A program that reads the database during an upgrade is reported.
func TestUpgradeBesideAReader(t *testing.T) {
	t.Parallel()
	a := makeAged(t, false, 14, fernwood...)
	path := filepath.Join(a.place, FileName)
	if err := unused(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(t.Context(), "SELECT 1 FROM schools"); err != nil {
		t.Fatal(err)
	}
	o := options(UpgradeOptions{})
	_, err = upgradeFile(t.Context(), a.dialect, path, &o)
	if e := lyceum.Public(err); err == nil || e.Kind != lyceum.Conflict || !strings.HasPrefix(e.Detail, a.inUse) {
		t.Errorf("%v", err)
	}
}
