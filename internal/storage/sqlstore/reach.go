package sqlstore

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

const (
	// reachWait is how long to wait for an entry of the journal.
	reachWait = time.Second
	// reachPause is how often the journal is queried meanwhile.
	reachPause = 100 * time.Millisecond
)

// Reach queries nothing if this process has already seen the entry. Nothing that is read from the
// database afterwards is older.
func (s *Store) Reach(ctx context.Context, school lyceum.SchoolID, entry int64) error {
	if s.seen.last(school) >= entry {
		return nil
	}
	late := time.NewTimer(reachWait)
	defer late.Stop()
	pause := time.NewTicker(reachPause)
	defer pause.Stop()
	for {
		changed := s.Changed(school) // before the query, so that later changes are not missed
		ends, err := s.LastEntries(ctx, []lyceum.SchoolID{school})
		if err != nil {
			return err
		}
		last := ends.Last[school]
		s.seen.note(school, mark{last.Number, micros(last.At)})
		if last.Number >= entry {
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

// knownEnds are the last journal entries that this process knows to be on disk, by school.
type knownEnds struct {
	mu       sync.Mutex
	of       map[lyceum.SchoolID]mark
	doubtful map[lyceum.SchoolID]mark // known before a failover, which may have lost them
}

func newKnownEnds() *knownEnds { return &knownEnds{of: map[lyceum.SchoolID]mark{}} }

func (k *knownEnds) last(school lyceum.SchoolID) int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.of[school].number
}

func (k *knownEnds) note(school lyceum.SchoolID, m mark) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if m.number > k.of[school].number {
		k.of[school] = m
	}
}

// doubt discards what is known, after a failover. After two failovers, what was known before the
// first one counts.
func (k *knownEnds) doubt() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.doubtful == nil {
		k.doubtful = k.of
	}
	k.of = map[lyceum.SchoolID]mark{}
}

func (k *knownEnds) inDoubt() map[lyceum.SchoolID]mark {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.doubtful
}

func (k *knownEnds) settled() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.doubtful = nil
}

// settleDoubts checks after a failover whether the database still has what this process knew, and
// logs the result.
func (s *Store) settleDoubts() {
	known := s.seen.inDoubt()
	if known == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.patience)
	defer cancel()
	lost, err := s.lacks(ctx, known)
	if err != nil {
		s.log.Debug("the journals could not be compared after a failover", "err", err)
		return // tried again the next time
	}
	s.seen.settled()
	if len(lost) == 0 {
		s.log.Warn("another PostgreSQL server was promoted; it has every change that this process knows of")
		return
	}
	s.log.Error("the PostgreSQL server that was promoted lacks changes that were acknowledged: stop all servers of "+
		"this database, run lyceum restore on it, and start them again", "schools", len(lost), "first_school", lost[0])
}

// lacks returns the schools whose journals lack a known entry.
func (s *Store) lacks(ctx context.Context, known map[lyceum.SchoolID]mark) (lost []lyceum.SchoolID, err error) {
	schools := slices.Sorted(maps.Keys(known))
	ends, err := s.LastEntries(ctx, schools)
	if err != nil {
		return nil, err
	}
	for _, school := range schools {
		want := known[school]
		is, err := markAt(s.reads.single(ctx), school, want.number)
		if err != nil {
			return nil, s.public(err)
		}
		other := is.at != 0 && is != want // markAt does not find an entry in the middle of a run
		if ends.Last[school].Number < want.number || other {
			lost = append(lost, school)
		}
	}
	return lost, nil
}
