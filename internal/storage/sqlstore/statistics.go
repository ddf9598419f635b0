package sqlstore

import (
	"context"
	"sync"
)

// statistics makes PostgreSQL count the rows of tables that grow fast. It plans with the last
// known numbers, and counts by itself only once a minute: until then it takes such a table for
// small, and reads all of a school's rows for each list of ids.
type statistics struct {
	mu    sync.Mutex
	known map[string]int // rows that were inserted here before the table was last counted
	since map[string]int // rows that were inserted since then
}

const (
	// manyAtOnce is the smallest number of rows that a group inserts into a table for them to be
	// counted.
	manyAtOnce = 500
	// worthCounting is how many rows a table must gain before it is counted.
	worthCounting = 4_000
	// countedAt is the factor by which a table must have grown to be counted again. In between,
	// PostgreSQL extrapolates from the size of its file.
	countedAt = 4
)

// add adds the rows that a group inserted, and returns the tables to be counted.
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

// grown makes PostgreSQL count the tables into which groups have inserted many rows.
func (s *Store) grown(inserted map[string]int) {
	if !s.dialect.pipelined {
		return
	}
	for _, table := range s.statistics.add(inserted) {
		ctx, cancel := context.WithTimeout(context.Background(), s.patience)
		if _, err := s.writes.db.ExecContext(ctx, "ANALYZE "+table); err != nil {
			s.log.Warn("a table that grew could not be analyzed; PostgreSQL will do so automatically", "table", table,
				"err", err)
		}
		cancel()
	}
}
