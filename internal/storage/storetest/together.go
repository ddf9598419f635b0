package storetest

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Savepoints counts the changes of groups that had to be written before a later change of the
// group began: these have a savepoint. Trace is for a store's options.
type Savepoints struct{ n atomic.Int64 }

// Trace records a statement.
func (s *Savepoints) Trace(text string) {
	if strings.HasPrefix(text, "SAVEPOINT") {
		s.n.Add(1)
	}
}

// Together makes n changes concurrently, none of which may have a savepoint.
func (s *Savepoints) Together(t *testing.T, what string, n int, change func(i int) error) {
	t.Helper()
	s.n.Store(0)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if err := change(i); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		})
	}
	all.Wait()
	if had := s.n.Load(); had > 0 {
		t.Errorf("%s: %d of %d changes had a savepoint", what, had, n)
	}
}
