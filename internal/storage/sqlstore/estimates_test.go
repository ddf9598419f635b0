package sqlstore

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestEstimates checks what SQLite is told about an index: all rows, those of a school, and
// then fewer and fewer.
func TestEstimates(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		columns        []string
		unique, ofSome bool
		want           string
	}{
		{[]string{"school_id"}, true, false, "10 1"},
		{[]string{"school_id"}, false, false, "1000000 100000"},
		{[]string{"school_id", "user_id"}, true, false, "1000000 100000 1"},
		{[]string{"school_id", "user_id"}, false, false, "1000000 100000 5"},
		{[]string{"school_id", "user_id", "quiz_id"}, false, false, "1000000 100000 5 2"},
		{[]string{"school_id", "state", "email_id"}, false, false, "1000000 100000 10000 2"},
		{[]string{"school_id", "course_id", "user_id"}, false, false, "1000000 100000 2000 2"},
		{[]string{"school_id", "product_type", "product_id", "entitlement_id"}, false, true, "100000 10000 1000 20 2"},
		{[]string{"school_id", "", "user_id"}, false, false, "1000000 100000 10000 2"},
	} {
		if got := estimateRows(tc.columns, tc.unique, tc.ofSome); got != tc.want {
			t.Errorf("of %q (unique %t, of some rows %t) SQLite is told %q, want %q", tc.columns, tc.unique, tc.ofSome, got, tc.want)
		}
	}
}

// TestSQLiteKnowsEveryIndex checks that SQLite knows all indexes: of a new database, of one
// that was analyzed or had no estimates, and filter indexes that come and go. With an index
// that it knows nothing about next to others that it knows, SQLite plans badly.
func TestSQLiteKnowsEveryIndex(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), FileName)
	for _, before := range []string{
		"", "ANALYZE", "DROP TABLE IF EXISTS sqlite_stat1", "DELETE FROM sqlite_stat1",
		"UPDATE sqlite_stat1 SET stat = '3 2 1' WHERE idx = 'users_created'",
		"CREATE INDEX users_mine ON users (school_id, role)", "DROP INDEX users_mine",
	} {
		store, err := OpenFile(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		wantEstimated(t, store, before)
		storetest.MakeSchool(t, store)
		for _, keep := range []bool{true, false, true} {
			if err := store.KeepFilterIndexes(t.Context(), keep); err != nil {
				t.Fatal(err)
			}
			wantEstimated(t, store, before)
		}
		if before != "" {
			if _, err := store.writes.db.ExecContext(t.Context(), before); err != nil {
				t.Fatalf("%s: %v", before, err)
			}
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// wantEstimated checks that SQLite knows all indexes of tables of schools, and has the right
// estimate for one of them.
func wantEstimated(t *testing.T, store *Store, before string) {
	t.Helper()
	unknown := textsOf(t, store.reads.db, `SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name NOT LIKE 'goose%'
		AND name NOT IN (SELECT idx FROM sqlite_stat1)`)
	if len(unknown) > 0 {
		t.Errorf("after %q SQLite does not know %q", before, unknown)
	}
	if seen := textsOf(t, store.reads.db, "SELECT DISTINCT idx FROM sqlite_stat4"); len(seen) > 0 {
		t.Errorf("after %q SQLite knows values of %q", before, seen)
	}
	known := textsOf(t, store.reads.db, "SELECT stat FROM sqlite_stat1 WHERE idx = 'users_created'")
	if want := []string{"1000000 100000 5 2"}; !slices.Equal(known, want) {
		t.Errorf("after %q SQLite knows %q of an index, want %q", before, known, want)
	}
}
