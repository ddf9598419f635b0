package sqlstore

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// oldPostgres creates a database with the schema of a version, runs statements in it, and
// returns its address.
func oldPostgres(t *testing.T, version int64, statements ...string) (address string) {
	t.Helper()
	address = storetest.EmptyPostgres(t)
	config, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	db := stdlib.OpenDB(*config)
	defer db.Close()
	migrateTo(t.Context(), t, db, postgresDialect(), version)
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return address
}

// newestMigration is greater than the number of any migration.
const newestMigration = 99999

// TestR42_RestoreTakesLyceumsOwnSchemaAloneInPostgreSQL checks that a database with somebody's
// own additions is rejected, as a file is.
func TestR42_RestoreTakesLyceumsOwnSchemaAloneInPostgreSQL(t *testing.T) {
	t.Parallel()
	config, err := pgx.ParseConfig(oldPostgres(t, newestMigration))
	if err != nil {
		t.Fatal(err)
	}
	db := stdlib.OpenDB(*config)
	defer db.Close()
	const function = "CREATE FUNCTION mine() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$; "
	for name, tc := range map[string]struct{ statement, says string }{
		"as it was made":       {"", ""},
		"with statistics":      {"ANALYZE", ""},
		"with a filter index":  {filterIndexes[0].create(""), ""},
		"another filter index": {"CREATE INDEX transactions_plan ON transactions (school_id)", `the index "transactions_plan" of the database was modified`},
		"an extension":         {"DO $$ BEGIN CREATE EXTENSION pg_stat_statements; EXCEPTION WHEN feature_not_supported THEN NULL; END $$", ""}, // if it is installed
		"a trigger":            {"CREATE TRIGGER keep_owner BEFORE UPDATE ON users FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()", `has an unknown trigger "keep_owner"`},
		"a constraint trigger": {function + "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON users DEFERRABLE FOR EACH ROW EXECUTE FUNCTION mine()", `has an unknown function "mine"`},
		"a trigger on its table of versions": {
			"CREATE TRIGGER mine BEFORE UPDATE ON goose_db_version FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()", `has an unknown trigger "mine"`,
		},
		"an event trigger":      {"CREATE FUNCTION mine() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN END $$; CREATE EVENT TRIGGER watch ON ddl_command_end EXECUTE FUNCTION mine()", `has an unknown event trigger "watch"`},
		"a rule":                {"CREATE RULE lose AS ON DELETE TO sessions DO INSTEAD NOTHING", `has an unknown rule "lose"`},
		"a policy":              {"CREATE POLICY hide ON sessions USING (false)", `has an unknown policy "hide"`},
		"row security":          {"ALTER TABLE sessions ENABLE ROW LEVEL SECURITY", `the table "sessions" of the database was modified`},
		"a function":            {function, `has an unknown function "mine"`},
		"another function":      {"CREATE OR REPLACE FUNCTION sales_refer() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$", `the function "sales_refer" of the database was modified`},
		"a trigger that sleeps": {"ALTER TABLE sales DISABLE TRIGGER refer", `the trigger "refer" of the database was modified`},
		"without a trigger":     {"DROP TRIGGER refer ON sales", `lacks the trigger "refer"`},
		"a view":                {"CREATE VIEW everybody AS SELECT * FROM users", `has an unknown view "everybody"`},
		"a materialized view":   {"CREATE MATERIALIZED VIEW everybody AS SELECT * FROM users", `has an unknown materialized view "everybody"`},
		"a view for a table":    {"DROP TABLE comments; CREATE VIEW comments AS SELECT 1 AS school_id", `has an unknown view "comments"`},
		"a table":               {"CREATE TABLE notes (id INTEGER)", `has an unknown table "notes"`},
		"a table elsewhere":     {"CREATE SCHEMA lyceum; CREATE TABLE lyceum.users (id INTEGER)", `has an unknown table "lyceum.users"`},
		"a sequence":            {"CREATE SEQUENCE counter", `has an unknown sequence "counter"`},
		"an index":              {"CREATE INDEX mine ON users (name)", `has an unknown index "mine"`},
		"another index":         {"DROP INDEX users_owners; CREATE INDEX users_owners ON users (school_id, user_id)", `the index "users_owners" of the database was modified`},
		"a column":              {"ALTER TABLE users ADD COLUMN note TEXT", `the table "users" of the database was modified`},
		"a default":             {"ALTER TABLE users ALTER COLUMN role SET DEFAULT 'owner'", `the table "users" of the database was modified`},
		"without a key":         {"ALTER TABLE sessions DROP CONSTRAINT sessions_school_id_user_id_fkey", `the table "sessions" of the database was modified`},
		"without a table":       {"DROP TABLE comments", `lacks the `},
		"without an index":      {"DROP INDEX users_owners", `lacks the index "users_owners"`},
		"of a later version":    {"UPDATE goose_db_version SET version_id = version_id + 1 WHERE id = (SELECT max(id) FROM goose_db_version)", "the database was made by a later version of lyceum"},
		"without its versions":  {"DROP TABLE goose_db_version", "is not Lyceum's; fill it with pg_restore first"},
	} {
		t.Run(name, func(t *testing.T) {
			tx, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback()
			if _, err := tx.ExecContext(t.Context(), tc.statement); err != nil {
				t.Fatal(err)
			}
			err = ownPostgresSchema(t.Context(), tx)
			if tc.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if e := lyceum.Public(err); err == nil || e.Kind != lyceum.Invalid || !strings.Contains(e.Detail, tc.says) {
				t.Errorf("%v, want %q", err, tc.says)
			}
		})
	}
}

// TestR42_RestoreLeavesWhatItRefusesInPostgreSQL checks that a rejected database is left as it
// is.
func TestR42_RestoreLeavesWhatItRefusesInPostgreSQL(t *testing.T) {
	t.Parallel()
	const version = 5
	address := oldPostgres(t, version, "CREATE TABLE notes (id INTEGER)")
	err := RestorePostgres(t.Context(), address, restoring(func(*Store) error { t.Error("it is changed"); return nil }))
	if e := lyceum.Public(err); err == nil || e.Kind != lyceum.Invalid || !strings.Contains(e.Detail, `has an unknown table "notes"`) {
		t.Errorf("%v", err)
	}
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var now int
	if err := db.QueryRowContext(t.Context(), "SELECT max(version_id) FROM goose_db_version").Scan(&now); err != nil || now != version {
		t.Errorf("the schema has version %d, %v", now, err)
	}
}

// TestR42_RestoreOfAnOlderVersionInPostgreSQL checks that a database of an older version,
// which may be a live school, is upgraded first, after a backup, and that nothing is left of
// the schema it was compared with.
func TestR42_RestoreOfAnOlderVersionInPostgreSQL(t *testing.T) {
	t.Parallel()
	a := makeAged(t, true, 14, fernwood...)
	restored := 0
	o := restoring(func(store *Store) error {
		restored++
		if spaces := lines(t, store, "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'made%'", 1); len(spaces) > 0 {
			t.Errorf("left behind: %v", spaces)
		}
		return nil
	})
	err := RestorePostgres(t.Context(), a.place, o)
	if e := lyceum.Public(err); err == nil || e.Kind != lyceum.Unavailable || !strings.Contains(e.Detail, "then run lyceum upgrade, which makes a backup first") {
		t.Errorf("%v", err)
	}
	if v := a.version(t); v != 14 || restored > 0 {
		t.Errorf("the schema has version %d, restored %d times", v, restored)
	}
	if _, err := a.upgrade(t, UpgradeOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := RestorePostgres(t.Context(), a.place, o); err != nil || restored != 1 {
		t.Errorf("restored %d times, %v", restored, err)
	}
}

// TestR42_RestoreOfAPostgreSQLDatabaseInUse checks that a database that a program is using is
// left as it is.
func TestR42_RestoreOfAPostgreSQLDatabaseInUse(t *testing.T) {
	t.Parallel()
	address := oldPostgres(t, newestMigration)
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	err = RestorePostgres(t.Context(), address, restoring(func(*Store) error { t.Error("it is changed"); return nil }))
	if e := lyceum.Public(err); err == nil || e.Kind != lyceum.Conflict || !strings.Contains(e.Detail, "is in use: 1 other connection is open") {
		t.Errorf("%v", err)
	}
}
