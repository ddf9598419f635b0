package main

import (
	"bufio"
	"compress/gzip"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// oldVersion is the schema version of the databases in testdata/upgrade. The lyceum of commit
// 089ba15 created and exported them:
//
//	LYCEUM_TEST_POSTGRES=… go run ./cmd/lyceum-bench -parts upgrade -sizes 100 -fixtures cmd/lyceum/testdata/upgrade
const oldVersion = 14

// putOldSchool copies such a database to a data folder or an empty PostgreSQL database.
func putOldSchool(place string) error {
	const from = "testdata/upgrade/"
	if sqlstore.IsPostgres(place) {
		out, err := exec.Command("pg_restore", "--exit-on-error", "--single-transaction", "--no-owner", "--dbname="+place,
			from+"school.dump").CombinedOutput()
		if err != nil {
			return fmt.Errorf("pg_restore: %w: %s", err, out)
		}
		return nil
	}
	packed, err := os.Open(from + "school.db.gz")
	if err != nil {
		return err
	}
	defer packed.Close()
	source, err := gzip.NewReader(packed)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(place, 0o700); err != nil {
		return err
	}
	target, err := os.Create(filepath.Join(place, sqlstore.FileName))
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

// oldPlace is a copy of the old database, and the flags that name it.
type oldPlace struct {
	engine string
	flags  []string
	backup func() []string // flags of an upgrade
}

func oldPlaces(t *testing.T) map[string]func(t *testing.T) oldPlace {
	t.Helper()
	return map[string]func(t *testing.T) oldPlace{
		"SQLite": func(t *testing.T) oldPlace {
			dir := t.TempDir()
			if err := putOldSchool(dir); err != nil {
				t.Fatal(err)
			}
			return oldPlace{"sqlite", []string{"--data", dir}, func() []string { return nil }}
		},
		"PostgreSQL": func(t *testing.T) oldPlace {
			if !installed(t, "pg_restore") || !installed(t, "pg_dump") {
				t.Skip("pg_restore or pg_dump is not installed")
			}
			address := storetest.EmptyPostgres(t)
			if err := putOldSchool(address); err != nil {
				t.Fatal(err)
			}
			return oldPlace{"postgres", []string{"--database-url", address}, func() []string {
				return []string{"--backup", filepath.Join(t.TempDir(), "before.dump")}
			}}
		},
	}
}

// unchanged fails the test unless the database is intact, and learners have the access that the
// older lyceum exported.
func (o oldPlace) unchanged(t *testing.T) {
	t.Helper()
	command(t, append([]string{"check", "--deep"}, o.flags...)...)
	for _, kind := range []string{"enrollments", "users"} {
		want, err := os.ReadFile(filepath.Join("testdata/upgrade", kind+"."+o.engine+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		if got := command(t, append([]string{"export", kind}, o.flags...)...); got != string(want) {
			t.Errorf("%s differ:\n%s\nwant\n%s", kind, got, want)
		}
	}
}

// TestUpgradeOfAnOldSchool upgrades a school with purchases of every kind, from before
// entitlements: all enrollments stay as they were.
func TestUpgradeOfAnOldSchool(t *testing.T) {
	t.Parallel()
	for name, old := range oldPlaces(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := old(t)
			dry := command(t, append([]string{"upgrade", "--dry-run"}, place.flags...)...)
			done := command(t, append(append([]string{"upgrade"}, place.flags...), place.backup()...)...)
			for what, want := range map[string]string{
				dry:  "Nobody's access would change. This was a dry run: the database is as it was.\n",
				done: "Nobody's access changed. lyceum check verifies the data; ",
			} {
				if !strings.Contains(what, want) || !strings.Contains(what, fmt.Sprintf("From schema version %d to ", oldVersion)) {
					t.Errorf("it printed\n%s\nwant %q", what, want)
				}
			}
			place.unchanged(t)
		})
	}
}

// TestKillDuringUpgrade kills an upgrade after each line that it prints; of the lines of
// migrations only after every seventh, unless LYCEUM_KILLS is set. The upgrade is then either
// complete or not done at all, and the next one completes it.
func TestKillDuringUpgrade(t *testing.T) {
	t.Parallel()
	passed := 6
	if os.Getenv("LYCEUM_KILLS") != "" {
		passed = 0
	}
	for name, old := range oldPlaces(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killed := 0 // during migrations
			for lines := 1; ; {
				place := old(t)
				said, ended := place.killUpgrade(t, lines)
				if said == "" {
					break
				}
				version := place.number(t, "SELECT max(version_id) FROM goose_db_version")
				if version != oldVersion && version != newestVersion(t) {
					t.Errorf("killed after %q, it left version %d", said, version)
				}
				if strings.HasPrefix(said, "migration ") && !strings.HasPrefix(said, "migration 1 ") && !ended && version == oldVersion {
					killed++
				}
				var again []byte
				var err error
				if !await(func() bool { // PostgreSQL may need a moment to roll it back
					again, err = exec.Command("lyceum", append(append([]string{"upgrade"}, place.flags...), place.backup()...)...).CombinedOutput()
					return err == nil
				}) {
					t.Fatalf("killed after %q: %v: %s", said, err, again)
				}
				if n := place.number(t, "SELECT count(*) FROM journal WHERE type = 'school.upgraded'"); n != 1 {
					t.Errorf("killed after %q, the journal has %d upgrades", said, n)
				}
				place.unchanged(t)
				lines++
				if strings.HasPrefix(said, "migration ") {
					lines += passed
				}
			}
			if killed == 0 {
				t.Error("it was never killed between two migrations")
			}
		})
	}
}

// number returns the result of a query of the database.
func (o oldPlace) number(t *testing.T, query string) (n int64) {
	t.Helper()
	db := o.database(t)
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// database opens the database directly.
func (o oldPlace) database(t *testing.T) *sql.DB {
	t.Helper()
	driver, address := "pgx", o.flags[1]
	if o.engine == "sqlite" {
		driver, address = "sqlite", filepath.Join(o.flags[1], sqlstore.FileName)
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// newestVersion returns the version of the schema that this lyceum creates.
func newestVersion(t *testing.T) int64 {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	_, newest, err := store.SchemaVersion(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return newest
}

// killUpgrade kills an upgrade once it has printed the given number of lines of progress. It
// returns the last of these, or "" if there were fewer, and whether the upgrade had ended by
// itself.
func (o oldPlace) killUpgrade(t *testing.T, lines int) (last string, ended bool) {
	t.Helper()
	cmd := exec.Command("lyceum", append(append([]string{"upgrade"}, o.flags...), o.backup()...)...)
	progress, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(progress)
	seen := 0
	for seen < lines && said.Scan() {
		seen++
	}
	_ = cmd.Process.Kill()
	ended = cmd.Wait() == nil
	if seen < lines {
		return "", ended
	}
	return said.Text(), ended
}
