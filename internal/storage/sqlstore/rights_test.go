package sqlstore_test

import (
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// tenant is a PostgreSQL database whose owner is not a superuser.
type tenant struct {
	place, role string
	admin       *sql.DB // connected as the superuser
}

func newTenant(t *testing.T) *tenant {
	t.Helper()
	n := &tenant{role: "lyceum_" + strings.ToLower(rand.Text())}
	t.Cleanup(func() { // after the database was dropped
		if n.admin == nil {
			return // skipped
		}
		db, err := sql.Open("pgx", os.Getenv(storetest.PostgresVariable))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec("DROP ROLE IF EXISTS " + n.role); err != nil {
			t.Error(err)
		}
	})
	place := storetest.EmptyPostgres(t)
	n.admin = openPlain(t, place)
	at, err := url.Parse(place)
	if err != nil {
		t.Fatal(err)
	}
	n.execute(t, "CREATE ROLE "+n.role+" LOGIN PASSWORD 'secret'")
	n.execute(t, "ALTER DATABASE "+at.Path[1:]+" OWNER TO "+n.role)
	at.User = url.UserPassword(n.role, "secret")
	n.place = at.String()
	return n
}

func openPlain(t *testing.T, place string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", place)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (n *tenant) open(t *testing.T) *sqlstore.Store {
	t.Helper()
	store, err := sqlstore.OpenPostgres(t.Context(), n.place, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func (n *tenant) execute(t *testing.T, statement string) {
	t.Helper()
	if _, err := n.admin.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// TestPostgresLosesRights checks that a role that loses rights while a store is open makes
// requests fail as unavailable, with a sentence that says why, and that the store continues when
// the role has them again.
func TestPostgresLosesRights(t *testing.T) {
	t.Parallel()
	const sentence = "the server lacks rights in its database, or a table is missing"
	n := newTenant(t)
	store := n.open(t)
	school := storetest.MakeSchool(t, store)
	read := func() error {
		_, err := store.FindSchools(t.Context())
		return err
	}
	write := func() error {
		stamp := lyceum.Stamp{School: school, At: storetest.Begin, Actor: "test"}
		return store.Write(t.Context(), stamp, func(tx lyceum.Tx) error {
			tx.Note(lyceum.SchoolUpdated, int32(school))
			return nil
		})
	}
	lease := func() error {
		_, err := store.HoldLease(t.Context(), lyceum.SchedulerLease, "test", 0)
		return err
	}
	ping := func() error { return store.Ping(t.Context()) }
	type call struct {
		name, want string
		call       func() error
	}
	all := []call{
		{"read", sentence, read},
		{"write", sentence + "; nothing was changed", write},
		{"lease", sentence, lease},
		{"ping", sentence, ping},
	}
	for _, test := range []struct {
		name, take, give string
		refused          []call
	}{
		{"all tables", "REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ", "GRANT ALL ON ALL TABLES IN SCHEMA public TO ", all},
		{"a table", "REVOKE INSERT, UPDATE ON journal FROM ", "GRANT INSERT, UPDATE ON journal TO ", all[1:2]},
		{"the schema", "REVOKE ALL ON SCHEMA public FROM PUBLIC, ", "GRANT ALL ON SCHEMA public TO PUBLIC, ", all},
	} {
		n.execute(t, "ALTER SCHEMA public OWNER TO CURRENT_USER")
		n.execute(t, test.take+n.role)
		for _, c := range test.refused {
			err := c.call()
			if e := lyceum.Public(err); e.Kind != lyceum.Unavailable || e.Detail != c.want {
				t.Errorf("%s, %s: %v, want %q", test.name, c.name, err, c.want)
			}
		}
		n.execute(t, test.give+n.role)
		for _, c := range all {
			if err := c.call(); err != nil {
				t.Errorf("%s, %s: %v with all rights", test.name, c.name, err)
			}
		}
	}
}

// TestPostgresIsCrowded checks that a database without a free connection is reported as such when
// a store is opened.
func TestPostgresIsCrowded(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.execute(t, "ALTER ROLE "+n.role+" CONNECTION LIMIT 0")
	_, err := sqlstore.OpenPostgres(t.Context(), n.place, sqlstore.Options{})
	if e := lyceum.Public(err); !strings.Contains(e.Detail, " accepts no more connections; raise max_connections") {
		t.Error("the error is", err)
	}
}

// TestPostgresLimitsOfReads checks that the limits that a database sets for statements and
// transactions do not end a read, such as an export whose receiver is slow.
func TestPostgresLimitsOfReads(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	n.execute(t, "ALTER ROLE "+n.role+" SET statement_timeout = '300ms'")
	n.execute(t, "ALTER ROLE "+n.role+" SET idle_in_transaction_session_timeout = '300ms'")
	store := n.open(t)
	school := storetest.MakeSchool(t, store)
	lasts := func(since, state string) bool {
		var lasts bool
		err := n.admin.QueryRowContext(t.Context(), "SELECT COALESCE(bool_or(clock_timestamp() - "+since+
			" > INTERVAL '600ms'), FALSE) FROM pg_stat_activity WHERE usename = $1 AND "+state, n.role).Scan(&lasts)
		if err != nil {
			t.Error(err)
		}
		return lasts
	}

	// While the table is locked, the statement waits.
	lock, err := n.admin.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.ExecContext(t.Context(), "LOCK TABLE schools"); err != nil {
		t.Fatal(err)
	}
	found := make(chan error, 1)
	go func() {
		_, err := store.FindSchools(t.Context())
		found <- err
	}()
	var early error
	ended := false
	storetest.Await(func() bool {
		select {
		case early = <-found:
			ended = true
		default:
		}
		return ended || lasts("query_start", "wait_event_type = 'Lock'")
	})
	_ = lock.Rollback()
	if !ended {
		early = <-found
	}
	if early != nil {
		t.Error("a statement that takes long:", early)
	}

	err = store.AtOnce(t.Context(), school, func(v lyceum.View) error {
		if _, err := v.GetSchool(); err != nil {
			return err
		}
		gone := func() bool {
			var open bool
			err := n.admin.QueryRowContext(t.Context(), "SELECT count(*) > 0 FROM pg_stat_activity WHERE usename = $1 AND "+
				"state = 'idle in transaction'", n.role).Scan(&open)
			return err != nil || !open
		}
		storetest.Await(func() bool { return lasts("state_change", "state = 'idle in transaction'") || gone() })
		_, err := v.GetSchool()
		return err
	})
	if err != nil {
		t.Error("a transaction that pauses:", err)
	}
}

// TestPostgresSchemaOfAnotherVersion checks that a store that could not reach its database while
// that was upgraded does not continue with the new schema.
func TestPostgresSchemaOfAnotherVersion(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	store := n.open(t)
	school := storetest.MakeSchool(t, store)
	n.execute(t, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, TRUE)")
	n.execute(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '"+n.role+"'")
	for name, call := range map[string]func() error{
		"read": func() error {
			_, err := store.FindSchools(t.Context())
			return err
		},
		"write": func() error {
			return store.Write(t.Context(), lyceum.Stamp{School: school, At: storetest.Begin, Actor: "test"}, func(tx lyceum.Tx) error {
				tx.Note(lyceum.SchoolUpdated, int32(school))
				return nil
			})
		},
	} {
		var last error
		refused := func() bool {
			last = call()
			return last == nil || strings.Contains(lyceum.Public(last).Detail, "the database has schema version 99999 but this lyceum")
		}
		if !storetest.Await(refused) || last == nil || lyceum.KindOf(last) != lyceum.Unavailable {
			t.Errorf("a %s ends with %v", name, last)
		}
	}
}
