package salesindex

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// reachWait is how long an index may take to know of an entry.
const reachWait = time.Second

// Reach also waits until the index of a school, if it has one, knows of the entry. An
// index that cannot be brought up to it does not answer.
func (s *Store) Reach(ctx context.Context, id lyceum.SchoolID, entry int64) error {
	if err := s.Store.Reach(ctx, id, entry); err != nil {
		return err
	}
	k := s.of(id)
	if k.ready.Load() != nil && k.reached.Load() >= entry {
		return nil
	}
	done := make(chan struct{})
	go func() { // whoever waits for it may go
		defer close(done)
		s.catchUp(k)
	}()
	late := time.NewTimer(reachWait)
	defer late.Stop()
	select {
	case <-done:
		return nil
	case <-late.C:
	case <-ctx.Done():
	}
	return lyceum.NotReached(entry)
}
