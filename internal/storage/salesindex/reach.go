package salesindex

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// reachWait is how long an index may take to reach an entry.
const reachWait = time.Second

// Reach also waits until the school's index, if it has one, has processed the entry. An index
// that cannot do so stops serving.
func (s *Store) Reach(ctx context.Context, id lyceum.SchoolID, entry int64) error {
	if err := s.Store.Reach(ctx, id, entry); err != nil {
		return err
	}
	k := s.of(id)
	if k.ready.Load() != nil && k.reached.Load() >= entry {
		return nil
	}
	done := make(chan struct{})
	go func() { // the caller may stop waiting before it is done
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
