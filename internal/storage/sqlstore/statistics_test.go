package sqlstore

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestGrownTables checks that a table is counted once many rows were inserted by large groups,
// and again when it has four times as many.
func TestGrownTables(t *testing.T) {
	t.Parallel()
	var s statistics
	counted := 0
	for i, tc := range []struct{ inserted, counted int }{
		{manyAtOnce - 1, 0}, {worthCounting - 1, 0}, {manyAtOnce, 1}, {3 * worthCounting, 1}, {3 * manyAtOnce, 2}, {13 * worthCounting, 2}, {4 * manyAtOnce, 3},
	} {
		counted += len(s.add(map[string]int{"users": tc.inserted}))
		if counted != tc.counted {
			t.Errorf("after %d groups the table was counted %d times, want %d", i+1, counted, tc.counted)
		}
	}
}

// TestGrownTablesAreAnalyzed checks that PostgreSQL knows of many new rows immediately, not only
// within a minute.
func TestGrownTablesAreAnalyzed(t *testing.T) {
	t.Parallel()
	store := openTestPostgres(t)
	school := storetest.MakeSchool(t, store)
	var users []lyceum.User
	for id := range lyceum.UserID(worthCounting) {
		users = append(users, lyceum.User{ID: id + 1, Email: fmt.Sprintf("user%d@example.com", id), CreatedAt: storetest.Begin})
	}
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, users...)
		return err
	})
	known := lines(t, store, "SELECT DISTINCT tablename FROM pg_stats WHERE tablename IN ('users', 'journal', 'courses') ORDER BY 1", 1)
	if want := [][]string{{"journal"}, {"users"}}; !slices.EqualFunc(known, want, slices.Equal) {
		t.Errorf("PostgreSQL knows of %v, want %v", known, want)
	}
}
