package sqlstore

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/lyceum-school/lyceum"
)

const (
	// reachWait is how long an entry of the journal is waited for.
	reachWait = time.Second
	// reachPause is how often the journal is asked meanwhile.
	reachPause = 100 * time.Millisecond
)

// Reach asks nothing where this process has seen the entry. Nothing that is read from
// the database afterwards is older.
func (s *Store) Reach(ctx context.Context, school lyceum.SchoolID, entry int64) error {
	if s.reached(school).Load() >= entry {
		return nil
	}
	late := time.NewTimer(reachWait)
	defer late.Stop()
	pause := time.NewTicker(reachPause)
	defer pause.Stop()
	for {
		changed := s.Changed(school) // before looking: what comes after is not missed
		ends, err := s.LastEntries(ctx, []lyceum.SchoolID{school})
		if err != nil {
			return err
		}
		last := ends.Last[school].Number
		s.noteReached(school, last)
		if last >= entry {
			return nil
		}
		select {
		case <-changed:
		case <-pause.C:
		case <-late.C:
			return lyceum.NotReached(entry)
		case <-ctx.Done():
			return lyceum.NotReached(entry)
		}
	}
}

// reached is the number of the last entry that this process knows to be on disk.
func (s *Store) reached(school lyceum.SchoolID) *atomic.Int64 {
	if known, ok := s.seen.Load(school); ok {
		return known.(*atomic.Int64)
	}
	known, _ := s.seen.LoadOrStore(school, new(atomic.Int64))
	return known.(*atomic.Int64)
}

func (s *Store) noteReached(school lyceum.SchoolID, entry int64) {
	known := s.reached(school)
	for before := known.Load(); before < entry && !known.CompareAndSwap(before, entry); before = known.Load() {
	}
}
