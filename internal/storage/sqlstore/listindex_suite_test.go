package sqlstore

import (
	"os"
	"sync/atomic"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// indexAtOnce makes every list of a store use an index from its first page on, and adds the
// number of pages that did to pages when the test ends.
func indexAtOnce(t *testing.T, s *Store, pages *atomic.Int64) lyceum.Store {
	t.Helper()
	s.IndexLists(64 << 20)
	s.lists.after, s.lists.eager = 0, true
	t.Cleanup(func() {
		pages.Add(s.ListStats().Hits)
		_ = s.Close()
	})
	return s
}

func TestIndexedSQLite(t *testing.T) {
	t.Parallel()
	var pages atomic.Int64
	storetest.Run(t, func(t *testing.T) lyceum.Store {
		s, err := Open(t.Context(), t.TempDir(), Options{Synchronous: Off})
		if err != nil {
			t.Fatal(err)
		}
		return indexAtOnce(t, s, &pages)
	})
	if pages.Load() == 0 {
		t.Error("no index answered")
	}
}

// TestIndexedPairOnPostgres checks that two processes on one database each have indexes, and
// follow each other's changes.
func TestIndexedPairOnPostgres(t *testing.T) {
	t.Parallel()
	var pages atomic.Int64
	storetest.Run(t, func(t *testing.T) lyceum.Store {
		address := storetest.Postgres(t)
		open := func() lyceum.Store {
			s, err := OpenPostgres(t.Context(), address, Options{})
			if err != nil {
				t.Fatal(err)
			}
			return indexAtOnce(t, s, &pages)
		}
		return storetest.Pair(open(), open())
	})
	if pages.Load() == 0 && os.Getenv(storetest.PostgresVariable) != "" {
		t.Error("no index answered")
	}
}
