package sqlstore

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/lyceum-school/lyceum"
	"golang.org/x/sync/errgroup"
)

// scanPart is how many transactions a part of a scan has.
const scanPart = 2000

// ScanTransactions implements lyceum.Reader. To hand rows over costs the driver
// more than to find them, so that each processor takes parts.
func (s *Store) ScanTransactions(ctx context.Context, school lyceum.SchoolID, visit func([]lyceum.Transaction) error) error {
	var finding, visiting sync.Mutex
	var last int64 // the last id of a part that somebody has taken
	next := func(q *session) (from, to int64, err error) {
		finding.Lock()
		defer finding.Unlock()
		from = last
		_, err = q.one("SELECT COALESCE(max(p.transaction_id), 0) FROM (SELECT transaction_id FROM transactions WHERE school_id = $1 AND transaction_id > $2 ORDER BY transaction_id LIMIT $3) p",
			[]any{int64(school), from, int64(scanPart)}, scanInt(&to))
		last = max(last, to)
		return from, to, err
	}
	group, ctx := errgroup.WithContext(ctx)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() error {
			q := s.reads.single(ctx)
			rows := make([]lyceum.Transaction, 0, scanPart)
			var row lyceum.Transaction
			dest := transactions.scan(&row)
			for ctx.Err() == nil {
				from, to, err := next(q)
				if err != nil || to <= from {
					return err
				}
				rows = rows[:0]
				err = q.each("SELECT "+transactionColumns+" FROM transactions t WHERE t.school_id = $1 AND t.transaction_id > $2 AND t.transaction_id <= $3",
					[]any{int64(school), from, to}, dest, func() error { rows = append(rows, row); return nil })
				if err != nil {
					return err
				}
				visiting.Lock()
				err = visit(rows)
				visiting.Unlock()
				if err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return s.public(fmt.Errorf("scan transactions: %w", err))
	}
	return nil
}
