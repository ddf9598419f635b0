package sqlstore

import (
	"os"
	"sync/atomic"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// indexAtOnce has every list of a store answered by an index from its first page on, and
// adds to pages those that were when the test ends.
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

// Of two processes on one database each has indexes, and follows what the other changes.
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
