package sqlstore

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// upgradeTime is the time of the upgrades in these tests.
var upgradeTime = time.Date(2026, 11, 22, 15, 4, 5, 0, time.UTC)

// aged is a closed database with an older schema.
type aged struct {
	dialect *dialect
	place   string // a data folder, or a URL
	driver  string
	address string // for the driver
	inUse   string // how an upgrade reports that the database is in use
}

// makeAged creates a database with the schema of a version.
func makeAged(t *testing.T, postgres bool, version int64, statements ...string) *aged {
	t.Helper()
	a := &aged{dialect: sqliteDialect(), place: t.TempDir(), driver: "sqlite", inUse: "a program is using the database"}
	a.address = sqliteDSN(filepath.Join(a.place, FileName), Full, "_txlock=immediate")
	if postgres {
		a.dialect, a.place, a.driver = postgresDialect(), storetest.EmptyPostgres(t), "pgx"
		a.address, a.inUse = a.place, "the database is in use: 1 other connection is open"
	}
	db := a.db(t)
	defer db.Close()
	migrateTo(t.Context(), t, db, a.dialect, version)
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return a
}

func (a *aged) db(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open(a.driver, a.address)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func (a *aged) open(ctx context.Context, o Options) (*Store, error) {
	if a.dialect.name == "postgres" {
		return OpenPostgres(ctx, a.place, o)
	}
	return Open(ctx, a.place, o)
}

func (a *aged) version(t *testing.T) int64 {
	t.Helper()
	db := a.db(t)
	defer db.Close()
	list, err := a.dialect.readMigrations()
	if err != nil {
		t.Fatal(err)
	}
	version, _, err := a.dialect.schemaVersion(t.Context(), db, list)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

func options(o UpgradeOptions) UpgradeOptions {
	o.Now, o.Progress = upgradeTime, func(string) {}
	return o
}

// onBothEngines runs a test on each engine.
func onBothEngines(t *testing.T, test func(t *testing.T, postgres bool)) {
	t.Helper()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, postgres)
		})
	}
}

// fernwood is a school of version 14: Ann bought a course and was enrolled in another; Ben's
// enrollment in the first has expired.
var fernwood = []string{
	"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
	"INSERT INTO users (school_id, user_id, email, email_key, role, created_at) VALUES (7, 1, 'ann@x', 'ann@x', 'student', 0), (7, 2, 'ben@x', 'ben@x', 'student', 0)",
	"INSERT INTO courses (school_id, course_id, name, is_published, created_at, updated_at) VALUES (7, 1, 'Pottery', 1, 0, 0), (7, 2, 'Glass', 1, 0, 0)",
	"INSERT INTO pricing_plans (school_id, pricing_plan_id, course_id, name, price, currency, frequency, created_at, updated_at) VALUES (7, 1, 1, 'Once', 100, 'USD', 'one_time_payment', 0, 0)",
	"INSERT INTO sales (school_id, sale_id, created_at) VALUES (7, 1, 0)",
	"INSERT INTO transactions (school_id, transaction_id, user_id, pricing_plan_id, sale_id, created_at, purchased_at, charge, final_price, currency, tax_charge, revenue, paid, has_chargeback, affiliate_fees, author_fees, amount_refunded) VALUES (7, 1, 1, 1, 1, 0, 0, 100, 100, 'USD', 0, 100, 1, NULL, 0, 0, 0)",
	"INSERT INTO enrollments (school_id, enrollment_id, user_id, course_id, enrolled_at, expires_at, ended_at) VALUES (7, 1, 1, 1, 10, NULL, NULL), (7, 2, 1, 2, 10, NULL, NULL), (7, 3, 2, 1, 10, 20, NULL)",
	"INSERT INTO journal (school_id, number, at, actor, type, object_id) VALUES (7, 1, 0, 'test', 'transaction.created', 1)",
	"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 7), (7, 'journal', 1), (7, 'user_id', 2), (7, 'users', 2), (7, 'course_id', 2), (7, 'pricing_plan_id', 1), (7, 'sale_id', 1), (7, 'transaction_id', 1), (7, 'transactions', 1), (7, 'enrollment_id', 3), (7, 'enrollments:1', 1), (7, 'enrollments:2', 1)",
}

// A database with a school is upgraded only by the command; it can be backed up before.
func TestOlderSchemaIsRefused(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, postgres bool) {
		a := makeAged(t, postgres, 14, fernwood...)
		_, err := a.open(t.Context(), Options{})
		if e := lyceum.Public(err); err == nil || e.Kind != lyceum.Unavailable ||
			!strings.Contains(e.Detail, "the database has schema version 14 and this lyceum needs version ") || !strings.Contains(e.Detail, "run lyceum upgrade") {
			t.Errorf("opened: %v", err)
		}
		if v := a.version(t); v != 14 {
			t.Errorf("the schema has version %d", v)
		}
		store, err := a.open(t.Context(), Options{AnySchema: true})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		if postgres {
			return
		}
		if err := store.Backup(t.Context(), filepath.Join(t.TempDir(), "copy.db"), nil); err != nil {
			t.Error(err)
		}
	})
}

// A database without a school gets the newest schema when it is opened.
func TestOlderSchemaWithoutSchools(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, postgres bool) {
		a := makeAged(t, postgres, 14)
		store, err := a.open(t.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		current, newest, err := store.SchemaVersion(t.Context())
		if err != nil || current != newest {
			t.Errorf("version %d of %d, %v", current, newest, err)
		}
	})
}

// A process that starts while another one is changing the schema reports that.
func TestSchemaIsChangedByOneProcess(t *testing.T) {
	t.Parallel()
	a := makeAged(t, true, 14, fernwood...)
	db := a.db(t)
	defer db.Close()
	c, err := a.dialect.beginSchema(t.Context(), db, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.tx.Rollback()
	for _, statement := range []string{"SELECT 1", "LOCK TABLE goose_db_version IN ACCESS EXCLUSIVE MODE"} {
		if _, err := c.tx.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		_, err = a.open(t.Context(), Options{Patience: time.Second})
		if e := lyceum.Public(err); err == nil || e.Kind != lyceum.Unavailable || !strings.HasPrefix(e.Detail, "another process is creating or upgrading the database") {
			t.Errorf("after %s: %v", statement, err)
		}
	}
}

func (a *aged) upgrade(t *testing.T, o UpgradeOptions) (Upgraded, error) {
	t.Helper()
	o = options(o)
	if a.dialect.name != "postgres" {
		return Upgrade(t.Context(), a.place, o)
	}
	if o.Backup == "" && !o.DryRun {
		o.Backup = filepath.Join(t.TempDir(), "before.dump")
	}
	return UpgradePostgres(t.Context(), a.place, o)
}

// A dry run finds out what an upgrade would do, and changes nothing.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, postgres bool) {
		a := makeAged(t, postgres, 14, fernwood...)
		dry, err := a.upgrade(t, UpgradeOptions{DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		if v := a.version(t); v != 14 || dry.From != 14 || dry.To <= 14 || dry.Backup != "" {
			t.Errorf("version %d after a dry run of %+v", v, dry)
		}
		if !postgres {
			if left, err := os.ReadDir(a.place); err != nil || len(left) != 1 {
				t.Errorf("the folder holds %v, %v", left, err)
			}
		}
		done, err := a.upgrade(t, UpgradeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for what, u := range map[string]Upgraded{"the dry run": dry, "the upgrade": done} {
			want := UpgradedSchool{ID: 7, Name: "Fernwood", Learners: 1, Before: 2, After: 2, Sold: 1, Imported: 1, Entitlements: 3}
			if len(u.Schools) != 1 || u.Schools[0] != want || u.Differ != 0 {
				t.Errorf("%s: %+v, want %+v", what, u, want)
			}
			i := slices.IndexFunc(u.Steps, func(s Step) bool { return s.Version == 16 })
			if i < 0 || !slices.Equal(u.Steps[i].Changes, []Changes{{"entitlements", 3}, {"counters", 1}}) {
				t.Errorf("%s: %+v", what, u.Steps)
			}
		}
		if info, err := os.Stat(done.Backup); err != nil || info.Size() != done.Bytes || info.Mode().Perm() != 0o600 {
			t.Errorf("the backup is %v, %v", info, err)
		}
		if !postgres {
			if filepath.Base(done.Backup) != "lyceum-v14-20261122T150405Z.db" {
				t.Errorf("the backup is %s", done.Backup)
			}
			copied := aged{dialect: a.dialect, driver: "sqlite", address: done.Backup}
			if v := copied.version(t); v != 14 {
				t.Errorf("the backup has version %d", v)
			}
		}
		store, err := a.open(t.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if findings, err := store.Check(t.Context()); err != nil || len(findings) > 0 {
			t.Errorf("check: %v, %v", findings, err)
		}
		entries, err := storetest.FindEntries(t.Context(), store, 7, 0, 100)
		if err != nil || len(entries) == 0 || entries[len(entries)-1].Type != lyceum.SchoolUpgraded || !entries[len(entries)-1].At.Equal(upgradeTime) {
			t.Errorf("the journal has %+v, %v", entries, err)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := a.upgrade(t, UpgradeOptions{})
		if err != nil || again.From != again.To || again.Backup != "" {
			t.Errorf("again: %+v, %v", again, err)
		}
	})
}

// A migration that would change anyone's access is rolled back, and the users concerned are
// reported.
func TestUpgradeThatChangesAccess(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		statement string
		user      lyceum.UserID
		course    lyceum.CourseID
	}{
		"an enrollment ends":        {"UPDATE enrollments SET ended_at = 50 WHERE enrollment_id = 2", 1, 2},
		"an enrollment begins":      {"INSERT INTO enrollments (school_id, enrollment_id, user_id, course_id, enrolled_at) VALUES (7, 9, 2, 2, 5)", 2, 2},
		"one ends at another time":  {"UPDATE enrollments SET expires_at = 30 WHERE enrollment_id = 3", 2, 1},
		"an entitlement is missing": {"DELETE FROM entitlements WHERE user_id = 1 AND product_id = 1", 1, 1},
		"an entitlement is shorter": {"UPDATE entitlements SET ends_at = 15 WHERE user_id = 2", 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBothEngines(t, func(t *testing.T, postgres bool) {
				a := makeAged(t, postgres, 14, fernwood...)
				db := a.db(t)
				defer db.Close()
				o := options(UpgradeOptions{})
				u, err := a.dialect.beginUpgrade(t.Context(), db, &o)
				if err != nil {
					t.Fatal(err)
				}
				u.result.Backup = "made"
				u.migrations = append(u.migrations, migration{9000, "wrong", []string{tc.statement}})
				u.to = 9000
				err = u.run()
				if e := lyceum.Public(err); err == nil || e.Kind != lyceum.Conflict || !strings.HasPrefix(e.Detail, "the upgrade would change enrollments, so nothing was changed") {
					t.Errorf("%v", err)
				}
				d := u.result.Differing
				if len(d) != 1 || d[0].School != 7 || d[0].User != tc.user || d[0].Course != tc.course || d[0].Email == "" || d[0].Name == "" {
					t.Errorf("different are %+v", d)
				}
				if v := a.version(t); v != 14 {
					t.Errorf("the schema has version %d", v)
				}
			})
		})
	}
}

// A database without a school needs no upgrade.
func TestUpgradeWithoutSchools(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, postgres bool) {
		a := makeAged(t, postgres, 14)
		for _, dry := range []bool{true, false} {
			done, err := a.upgrade(t, UpgradeOptions{DryRun: dry})
			if err != nil || !done.Empty || done.Backup != "" || a.version(t) != 14 {
				t.Errorf("dry run %v: %+v, %v", dry, done, err)
			}
		}
	})
	dir := t.TempDir()
	if err := privateFile(filepath.Join(dir, FileName)); err != nil {
		t.Fatal(err)
	}
	for _, dry := range []bool{true, false} {
		if done, err := Upgrade(t.Context(), dir, options(UpgradeOptions{DryRun: dry})); err != nil || !done.Empty {
			t.Errorf("an empty file, dry run %v: %+v, %v", dry, done, err)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, FileName)); err != nil || info.Size() > 0 {
		t.Errorf("the file is %v, %v", info, err)
	}
	store, err := Open(t.Context(), dir, Options{AnySchema: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.Backup(t.Context(), filepath.Join(t.TempDir(), "copy.db"), nil); err != nil {
		t.Error(err)
	}
}

// An upgrade refuses to run if a requirement is not met.
func TestUpgradeRefuses(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, postgres bool) {
		a := makeAged(t, postgres, 14, fernwood...)
		taken := filepath.Join(t.TempDir(), "taken")
		if err := os.WriteFile(taken, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		refused := func(want string, o UpgradeOptions) {
			t.Helper()
			_, err := a.upgrade(t, o)
			if e := lyceum.Public(err); err == nil || !strings.Contains(e.Detail, want) {
				t.Errorf("%v, want %q", err, want)
			}
			if v := a.version(t); v != 14 {
				t.Errorf("the schema has version %d", v)
			}
		}
		refused("already exists; choose another name for the backup", UpgradeOptions{Backup: taken})
		refused("cannot be written; choose a folder that exists", UpgradeOptions{Backup: filepath.Join(taken, "copy")})

		held := a.db(t)
		defer held.Close()
		if _, err := held.ExecContext(t.Context(), "SELECT 1 FROM schools"); err != nil {
			t.Fatal(err)
		}
		refused(a.inUse, UpgradeOptions{})
	})
}

func TestUpgradeWithoutABackup(t *testing.T) {
	t.Parallel()
	a := makeAged(t, false, 14, fernwood...)
	db := a.db(t)
	defer db.Close()
	o := options(UpgradeOptions{})
	u, err := a.dialect.beginUpgrade(t.Context(), db, &o)
	if err != nil {
		t.Fatal(err)
	}
	if err := u.run(); err == nil || a.version(t) != 14 {
		t.Errorf("%v", err)
	}
}

func TestRoomForAnUpgrade(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := room(dir, 1); err != nil {
		t.Error(err)
	}
	err := room(dir, 1<<60)
	if e := lyceum.Public(err); err == nil || e.Kind != lyceum.Unavailable || !strings.HasPrefix(e.Detail, "the upgrade needs 1099511627776 MB of free disk space in "+dir) {
		t.Errorf("%v", err)
	}
}
