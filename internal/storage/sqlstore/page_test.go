package sqlstore

import (
	"sync/atomic"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestListsWithoutRowsAreReadOnce checks that a first page without rows is not counted, which
// would scan the same rows again.
func TestListsWithoutRowsAreReadOnce(t *testing.T) {
	t.Parallel()
	var statements atomic.Int64
	bothEngines(t, Options{Trace: func(string) { statements.Add(1) }}, func(t *testing.T, s *Store) {
		school := storetest.MakeSchool(t, s)
		storetest.Write(t, s, school, func(tx lyceum.Tx) error {
			return tx.Users.Insert(tx, lyceum.User{
				ID: 1, Email: "mira@example.com", Name: lyceum.Some("Mira"), CreatedAt: storetest.Begin,
			})
		})
		v := s.In(t.Context(), school)
		for _, row := range []struct {
			name  string
			page  int32
			total int64
			once  bool
		}{{"Nobody", 1, 0, true}, {"Nobody", 2, 0, false}, {"Mira", 1, 1, true}, {"Mira", 2, 1, false}} {
			before := statements.Load()
			list, err := v.Users.List(v, lyceum.UserFilter{Name: lyceum.Some(row.name)}, lyceum.Page{Number: row.page, Size: 20})
			if err != nil || list.Total != row.total {
				t.Errorf("page %d of %s: a total of %d, want %d (%v)", row.page, row.name, list.Total, row.total, err)
			}
			if n := statements.Load() - before; (n == 1) != row.once {
				t.Errorf("page %d of %s takes %d statements", row.page, row.name, n)
			}
		}
	})
}
