package sqlstore

import (
	"context"
	"sync"
)

// statistics let PostgreSQL count the rows of tables that grow fast. It plans with what it
// knew last, and counts by itself only once a minute: until then it takes a table for small,
// and reads all of a school's rows for each list of ids.
type statistics struct {
	mu    sync.Mutex
	known map[string]int // rows of a table that were inserted here before it was counted last
	since map[string]int // and since then
}

const (
	// manyAtOnce is how many rows one group inserts into a table at least for them to matter.
	manyAtOnce = 500
	// worthCounting is how many rows a table gains at least before it is counted.
	worthCounting = 4_000
	// countedAt is how many times as many rows a table has when it is counted again. In
	// between, PostgreSQL goes by the size of its file.
	countedAt = 4
)

// add takes the rows that a group inserted, and returns the tables that are to be counted.
func (s *statistics) add(inserted map[string]int) (due []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known, s.since = map[string]int{}, map[string]int{}
	}
	for table, n := range inserted {
		if n < manyAtOnce {
			continue
		}
		if s.since[table] += n; s.since[table] >= max(worthCounting, (countedAt-1)*s.known[table]) {
			due = append(due, table)
			s.known[table] += s.since[table]
			s.since[table] = 0
		}
	}
	return due
}

// grown counts the tables into which a group inserted many rows.
func (s *Store) grown(inserted map[string]int) {
	if !s.dialect.pipelined {
		return
	}
	for _, table := range s.statistics.add(inserted) {
		ctx, cancel := context.WithTimeout(context.Background(), s.patience)
		if _, err := s.writes.db.ExecContext(ctx, "ANALYZE "+table); err != nil {
			s.log.Warn("a table that grew could not be analyzed; PostgreSQL will do so by itself", "table", table, "err", err)
		}
		cancel()
	}
}
