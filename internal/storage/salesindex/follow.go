package salesindex

import (
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// follow updates the indexes with the changes of other processes, and with those that did not
// reach them immediately, until the store closes. No school waits for another.
func (s *Store) follow() {
	tick := time.NewTicker(followPause)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return
		}
		ids := s.queried()
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

// queried returns the schools that were queried.
func (s *Store) queried() (ids []lyceum.SchoolID) {
	for k := range s.each {
		ids = append(ids, k.id)
	}
	return ids
}

// distrust stops all indexes from serving while the journal cannot be read, because it is not
// known what has changed since.
func (s *Store) distrust() {
	for k := range s.each {
		k.ready.Store(nil)
	}
}

// lags reports whether the index of a school is behind, follows another journal, or is not
// serving although it is up to date. It returns false while someone else is working on the index.
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

// runMaintenance measures the indexes once a minute, evicts those for which there is no room, and
// saves snapshots, until the store closes.
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

// measure determines the sizes of the indexes, evicts those for which there is no room, and saves
// snapshots.
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

// taken returns the size of all indexes in bytes.
func (s *Store) taken() (bytes int64) {
	for k := range s.each {
		bytes += k.bytes.Load()
	}
	return bytes
}

// room makes room for the index of a school by evicting others that were not queried recently.
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

// evict evicts the index that was queried least recently, if that was before the given time. It
// reports whether it evicted one.
func (s *Store) evict(but *school, before time.Time) bool {
	var oldest *school
	for k := range s.each {
		if k != but && k.bytes.Load() > 0 && k.lastQuery.Load() < before.UnixNano() &&
			(oldest == nil || k.lastQuery.Load() < oldest.lastQuery.Load()) {
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

// Stats are statistics of a store's indexes.
type Stats struct {
	Schools  int64 // whose list is served from an index
	Building int64 // schools whose index is being built, or waits to be, and does not serve yet
	Sales    int64
	Bytes    int64
	Behind   int64 // journal entries not processed yet, of the school with the most
	Hits     int64 // lists that were served from an index
	Misses   int64 // lists that were read from the database
	Failures int64 // indexes that could not be built
}

// Stats returns statistics of the indexes. A school counts as served or as being built, never as
// both: the goroutine that built an index saves its snapshot while the index already serves.
func (s *Store) Stats() Stats {
	stats := Stats{Hits: s.hits.Load(), Misses: s.misses.Load(), Failures: s.failed.Load()}
	for k := range s.each {
		building := k.building.Load() != nil // read before ready, which is set while building is set
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
