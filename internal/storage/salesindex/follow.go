package salesindex

import (
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// follow lets the indexes know of what other processes keep, and of what did
// not reach them at once, until the store closes. No school waits for another.
func (s *Store) follow() {
	tick := time.NewTicker(followPause)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return
		}
		ids := s.asked()
		if len(ids) == 0 {
			continue
		}
		late := time.AfterFunc(trustPause, s.distrust)
		ends, err := s.LastEntries(s.ctx, ids)
		late.Stop()
		if err != nil {
			s.distrust()
			continue
		}
		for k := range s.each {
			if k.lags(&ends) {
				s.work.Go(func() { s.catchUp(k) })
			}
		}
	}
}

// asked gives the schools that were asked for.
func (s *Store) asked() (ids []lyceum.SchoolID) {
	for k := range s.each {
		ids = append(ids, k.id)
	}
	return ids
}

// distrust lets no index answer while the journal cannot be read: nobody knows
// what has come since.
func (s *Store) distrust() {
	for k := range s.each {
		k.ready.Store(nil)
	}
}

// lags tells whether the index of a school has something to catch up with, is
// of another journal, or does not answer although it has nothing to catch up
// with. While somebody is at it, it does not lag.
func (k *school) lags(ends *lyceum.JournalEnds) bool {
	if !k.mu.TryLock() {
		return false
	}
	defer k.mu.Unlock()
	if k.index == nil {
		return false
	}
	last := ends.Last[k.id]
	k.behind.Store(max(last.Number-k.state.last.Number, 0))
	return !k.state.follows(ends.Origin, last) || k.ready.Load() == nil
}

// runMaintenance measures the indexes once a minute, lets those go for which there
// is no room, and keeps snapshots, until the store closes.
func (s *Store) runMaintenance() {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.measure()
		case <-s.ctx.Done():
			return
		}
	}
}

// measure looks how large the indexes are, lets those go for which there is no
// room, and keeps snapshots.
func (s *Store) measure() {
	for k := range s.each {
		k.mu.Lock()
		if k.index != nil {
			k.bytes.Store(k.index.Bytes())
		}
		k.mu.Unlock()
		s.saveIfMuch(k)
	}
	for s.taken() > s.Memory && s.evict(nil, time.Now()) {
	}
	s.Resized(s.taken())
}

// taken is the memory of all indexes in bytes.
func (s *Store) taken() (bytes int64) {
	for k := range s.each {
		bytes += k.bytes.Load()
	}
	return bytes
}

// room makes room for the index of a school, where others have not been asked
// for lately.
func (s *Store) room(k *school) error {
	listing, err := s.Store.FindTransactions(s.ctx, k.id, lyceum.TransactionFilter{}, lyceum.NewestFirst,
		lyceum.Page{Number: 1, Size: 1})
	if err != nil {
		return err
	}
	need := max(listing.Total*bytesPerSale, k.needs)
	if need > s.Memory {
		return &refusal{fmt.Sprintf("its %d sales need about %d MB, and all indexes may take %d MB", listing.Total,
			megabytes(need), megabytes(s.Memory)), true}
	}
	for s.taken()+need > s.Memory {
		if !s.evict(k, time.Now().Add(-idlePause)) {
			return &refusal{fmt.Sprintf("the indexes of other schools, asked for within %v, leave no memory for its %d "+
				"sales", idlePause, listing.Total), false}
		}
	}
	return nil
}

// megabytes rounds up.
func megabytes(bytes int64) int64 { return (bytes + 1<<20 - 1) >> 20 }

// evict lets the index go that was asked for least recently, if that was
// before a moment.
func (s *Store) evict(but *school, before time.Time) bool {
	var oldest *school
	for k := range s.each {
		if k != but && k.bytes.Load() > 0 && k.asked.Load() < before.UnixNano() &&
			(oldest == nil || k.asked.Load() < oldest.asked.Load()) {
			oldest = k
		}
	}
	if oldest == nil {
		return false
	}
	s.save(oldest)
	oldest.mu.Lock()
	s.drop(oldest)
	oldest.mu.Unlock()
	oldest.later.Store(0)
	s.Log.InfoContext(s.ctx, "sales index evicted", "school", oldest.id)
	return true
}

// Stats is how the indexes of a store do.
type Stats struct {
	Schools  int64 // whose list is answered from an index
	Building int64 // schools whose index is being built or waits for it, and does not answer yet
	Sales    int64
	Bytes    int64
	Behind   int64 // entries of journals not looked at yet, of the school with the most
	Hits     int64 // lists that an index answered
	Misses   int64 // lists that the database answered
	Failures int64 // indexes that could not be built
}

// Stats tells how the indexes do. A school counts as answered or as being built,
// never as both: the snapshot is saved by whoever built the index, while it
// answers.
func (s *Store) Stats() Stats {
	stats := Stats{Hits: s.hits.Load(), Misses: s.misses.Load(), Failures: s.failed.Load()}
	for k := range s.each {
		building := k.building.Load() != nil // before ready, which is set while it is true
		if x := k.ready.Load(); x != nil {
			stats.Schools++
			stats.Sales += int64(x.Len())
		} else if building {
			stats.Building++
		}
		stats.Bytes += k.bytes.Load()
		stats.Behind = max(stats.Behind, k.behind.Load())
	}
	return stats
}
