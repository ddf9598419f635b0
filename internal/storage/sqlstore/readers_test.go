package sqlstore

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// A read whose caller has gone is interrupted, and later reads are not affected.
func TestReadsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 2*mostReaders)
	const endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
	s, err := Open(t.Context(), t.TempDir(), Options{Synchronous: Off, Trace: func(text string) {
		if text == endless {
			begun <- struct{}{}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	school := storetest.MakeSchool(t, s)
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		var callers sync.WaitGroup
		for i := range mostReaders {
			callers.Go(func() {
				read := func(q *session) error {
					var n int64
					return q.each(endless, nil, []any{scanInt(&n)}, func() error { return nil })
				}
				err := read(s.reads.single(ctx))
				if i%2 == 0 {
					err = s.reads.snapshot(ctx, read)
				}
				if !errors.Is(err, context.Canceled) {
					t.Errorf("ended with %v", err)
				}
			})
		}
		for range mostReaders {
			<-begun
		}
		cancel()
		callers.Wait()
		if _, err := s.In(t.Context(), school).GetSchool(); err != nil {
			t.Error(err)
		}
	}
}
