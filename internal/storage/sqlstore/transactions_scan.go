package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/lyceum-school/lyceum"
	"golang.org/x/sync/errgroup"
	"zombiezen.com/go/sqlite"
)

// scanPart is how many rows a part of a scan has.
const scanPart = 2000

// walk is a way to read all transactions of a school, in parts of scanPart rows.
type walk struct {
	end  string // query of the end of the part after $2; $2 itself if there are no more
	part string // query of the transactions of school $1 after $2, up to $3
}

// byID reads a school's part of the primary key.
var byID = walk{
	end: "SELECT COALESCE(max(p.transaction_id), $2) FROM (SELECT transaction_id FROM transactions WHERE school_id = " +
		"$1 AND transaction_id > $2 ORDER BY transaction_id LIMIT $3) p",
	part: "SELECT " + transactionColumns + " FROM transactions t WHERE t.school_id = $1 AND t.transaction_id > $2 AND " +
		"t.transaction_id <= $3",
}

// byRow reads a SQLite file in the order in which rows are stored, skipping those of other
// schools.
var byRow = walk{
	end: "SELECT min($2 + $3, (SELECT COALESCE(max(rowid), 0) FROM transactions))",
	part: "SELECT " + transactionColumns + " FROM transactions t NOT INDEXED WHERE t.school_id = $1 AND t.rowid > $2 " +
		"AND t.rowid <= $3",
}

// walkOf returns the fastest way to read a school: if it is most of the file, looking up every
// row by the primary key would be a detour.
func (s *Store) walkOf(ctx context.Context, school lyceum.SchoolID) (walk, error) {
	if s.files == nil {
		return byID, nil
	}
	var own, rows int64
	_, err := s.reads.single(ctx).one("SELECT (SELECT COALESCE(max(value), 0) FROM counters WHERE school_id = $1 AND "+
		"name = $2), (SELECT COALESCE(max(rowid), 0) FROM transactions)",
		[]any{int64(school), transactions.counter}, scanInt(&own), scanInt(&rows))
	if err != nil || own < rows/2 {
		return byID, err
	}
	return byRow, nil
}

// ScanTransactions reads and converts parts on all processors, because handing rows from one
// goroutine to another costs more than finding them.
func (s *Store) ScanTransactions(
	ctx context.Context, school lyceum.SchoolID, visit func([]lyceum.Transaction) error,
) error {
	way, err := s.walkOf(ctx, school)
	if err != nil {
		return s.public(fmt.Errorf("scan transactions: %w", err))
	}
	var finding, visiting sync.Mutex
	var last int64 // end of the last part that was taken
	next := func(q reading) (from, to int64, err error) {
		finding.Lock()
		defer finding.Unlock()
		from = last
		err = q.each(way.end, []any{int64(school), from, int64(scanPart)}, []any{scanInt(&last)}, func() error { return nil })
		return from, last, err
	}
	group, ctx := errgroup.WithContext(ctx)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() error {
			return s.reading(ctx, func(q reading) error {
				rows := make([]lyceum.Transaction, 0, scanPart)
				r := transactions.reader()
				defer transactions.done(r)
				for {
					from, to, err := next(q)
					if err != nil || to <= from {
						return err
					}
					rows = rows[:0]
					err = q.each(way.part, []any{int64(school), from, to}, r.dest, func() error {
						rows = append(rows, r.row)
						return nil
					})
					if err != nil {
						return err
					}
					visiting.Lock()
					err = visit(rows)
					visiting.Unlock()
					if err := errors.Join(err, ctx.Err()); err != nil {
						return err
					}
				}
			})
		})
	}
	if err := group.Wait(); err != nil {
		return s.public(fmt.Errorf("scan transactions: %w", err))
	}
	return nil
}

// reading runs queries outside a transaction.
type reading interface {
	each(text string, args, dest []any, visit func() error) error
}

// reading calls do with the fastest connection for reading many rows.
func (s *Store) reading(ctx context.Context, do func(reading) error) (err error) {
	if s.files == nil {
		return do(s.reads.single(ctx))
	}
	q, err := openDirect(s.files, s.reads.trace, sqlite.OpenReadOnly)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.close()) }()
	q.conn.SetInterrupt(ctx.Done()) // the connection is not used afterwards
	return do(q)
}
