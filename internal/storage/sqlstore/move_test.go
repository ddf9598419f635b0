package sqlstore_test

import (
	"database/sql"
	"net/url"
	"sync"
	"testing"

	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestMoveWithTimeouts checks that the limits that a PostgreSQL database sets for transactions do not
// end a move, which takes as long as the school is large.
func TestMoveWithTimeouts(t *testing.T) {
	t.Parallel()
	dir, place := t.TempDir(), storetest.EmptyPostgres(t)
	from, err := sqlstore.Open(t.Context(), dir, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	storetest.MakeSchool(t, from)
	if err := from.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("pgx", place)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxIdleConns(0) // a move refuses a database that others use
	at, err := url.Parse(place)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "ALTER DATABASE "+at.Path[1:]+" SET idle_in_transaction_session_timeout = '500ms'"); err != nil {
		t.Fatal(err)
	}
	outlast := sync.OnceFunc(func() {
		for waiting := true; waiting; {
			err := db.QueryRowContext(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction'
				AND datname = current_database() AND clock_timestamp() - state_change < INTERVAL '600ms')`).Scan(&waiting)
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	moved, err := sqlstore.MoveToPostgres(t.Context(), dir, place, func(int64, int64) { outlast() })
	if err != nil || moved.Schools != 1 {
		t.Errorf("%d schools, %v", moved.Schools, err)
	}
}
