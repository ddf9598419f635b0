package sqlstore

import (
	"context"
	"time"
)

const (
	// At least spareBytes of a SQLite file, and one part in spareShare of it, stay free for
	// new rows.
	spareBytes = 16 << 20
	spareShare = 8
	// compactTime is how long one write moves pages.
	compactTime = 3 * time.Millisecond
)

// Compact moves a few pages at a time, so that no writer waits for long. It stops when the files are
// being cleaned of erased data.
func (s *Store) Compact(ctx context.Context) error { return s.compact(ctx, spareBytes) }

func (s *Store) compact(ctx context.Context, spare int64) error {
	for more := s.dialect.movePage != ""; more; {
		begin := time.Now()
		if !s.moving.TryLock() {
			return nil
		}
		err := s.write(ctx, 0, func(q *session) (err error) {
			more, err = s.movePages(q, spare)
			return err
		})
		s.moving.Unlock()
		if err != nil {
			return err
		}
		select {
		case <-time.After(sweepRest * time.Since(begin)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// movePages moves pages from the end of the file into free ones, and reports whether there is
// more to do.
func (s *Store) movePages(q *session, spare int64) (more bool, err error) {
	for begin := time.Now(); time.Since(begin) < compactTime; {
		var bytes, free, mode int64
		_, err := q.one(s.dialect.fileSpace, nil, scanInt(&bytes), scanInt(&free), scanInt(&mode))
		if err != nil || mode == 0 || free <= max(spare, bytes/spareShare) {
			return false, err
		}
		for range 16 {
			if err := q.exec(s.dialect.movePage); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}
