package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/lyceum-school/lyceum"
)

const (
	// maxGroup is how many changes share one commit at most.
	maxGroup = 256
	// maxTries is how often a group is run when other transactions are in the
	// way; the pauses between add up to about two seconds.
	maxTries = 9
	// groupTimeout bounds a group on an engine that may never answer.
	groupTimeout = 30 * time.Second
)

// lane is one writer: the changes that wait for it are committed together.
type lane struct{ waiting chan *change }

// change is one caller's write on its way through a lane.
type change struct {
	ctx    context.Context //nolint:containedctx // travels with the change to its lane
	school lyceum.SchoolID
	run    func(*session) error
	result error
	taken  atomic.Bool // by the lane, or by a caller that gave up waiting
	done   chan struct{}
}

// Write implements lyceum.Store.
func (s *Store) Write(ctx context.Context, stamp lyceum.Stamp, do func(lyceum.Tx) error) error {
	changed := false
	err := s.write(ctx, stamp.School, func(q *session) error {
		t := newTx(q, stamp)
		if err := do(t); err != nil {
			return err
		}
		changed = len(t.entries) > 0
		return t.finish()
	})
	if err == nil && changed {
		s.watch.changed(stamp.School)
	}
	return err
}

// write hands a change to its school's lane and waits until it is on disk or
// has failed.
func (s *Store) write(ctx context.Context, school lyceum.SchoolID, run func(*session) error) error {
	c := &change{ctx: ctx, school: school, run: run, done: make(chan struct{})}
	l := s.lanes[int(school)%len(s.lanes)]
	select {
	case l.waiting <- c:
	case <-s.closing:
		return errClosed
	case <-ctx.Done():
		return s.public(ctx.Err())
	}
	select {
	case <-c.done:
		return s.public(c.result)
	case <-s.closing:
	case <-ctx.Done():
	}
	if c.taken.CompareAndSwap(false, true) {
		if err := ctx.Err(); err != nil {
			return s.public(err)
		}
		return errClosed
	}
	<-c.done // it is being run: only its outcome is the truth
	return s.public(c.result)
}

var errClosed = lyceum.Errorf(lyceum.Unavailable, "the server is stopping; try again")

// run commits what waits in a lane, group by group, until the store closes.
func (s *Store) run(l *lane) {
	for {
		var first *change
		select {
		case first = <-l.waiting:
		case <-s.closing:
			return
		}
		group := take(nil, first)
		for len(group) < maxGroup && len(l.waiting) > 0 {
			group = take(group, <-l.waiting)
		}
		// Two processes that lock schools in the same order cannot deadlock.
		slices.SortStableFunc(group, func(a, b *change) int { return int(a.school) - int(b.school) })
		s.commit(group)
	}
}

func take(group []*change, c *change) []*change {
	if !c.taken.CompareAndSwap(false, true) {
		return group
	}
	return append(group, c)
}

// commit runs a group in one transaction, again while other transactions are
// in the way, and tells every caller the outcome.
func (s *Store) commit(group []*change) {
	if len(group) == 0 {
		return
	}
	var err error
	for try := range maxTries {
		if try > 0 {
			time.Sleep(rand.N(4*time.Millisecond<<try) + time.Millisecond)
		}
		if err = s.files.present(outcomeUnchanged); err != nil {
			break
		}
		if err = s.try(group); err == nil {
			err = s.files.present(outcomeUnknown)
		}
		if err == nil || s.dialect.fault(err) != faultRetry {
			break
		}
	}
	for _, c := range group {
		if err != nil {
			c.result = err
		}
		close(c.done)
	}
}

// try runs a group once. An error is one of the whole group; what a single
// change returned is its result.
func (s *Store) try(group []*change) error {
	ctx, cancel := context.WithTimeout(context.Background(), groupTimeout)
	defer cancel()
	return s.writes.transact(ctx, nil, func(q *session) (bool, error) {
		kept := false
		for i, c := range group {
			if s.dialect.turn != "" && (i == 0 || c.school != group[i-1].school) {
				if err := q.exec(s.dialect.turn, int64(c.school)); err != nil {
					return false, fmt.Errorf("take the school's turn: %w", err)
				}
			}
			if err := s.member(q, c, len(group) > 1); err != nil {
				return false, err
			}
			kept = kept || c.result == nil
		}
		return kept, nil
	})
}

// member runs one change of a group under its own savepoint. It returns an
// error when the whole transaction is lost.
func (s *Store) member(q *session, c *change, shared bool) error {
	if c.result = c.ctx.Err(); c.result != nil {
		return nil //nolint:nilerr // the outcome of one change, not of the transaction
	}
	if !shared {
		c.result = guard(q, c.run)
		return s.lost(c.result)
	}
	if err := q.exec("SAVEPOINT member"); err != nil {
		return fmt.Errorf("open savepoint: %w", err)
	}
	if c.result = guard(q, c.run); c.result != nil {
		if err := s.lost(c.result); err != nil {
			return err
		}
		if err := q.exec("ROLLBACK TO SAVEPOINT member"); err != nil {
			return errors.Join(c.result, fmt.Errorf("roll back to savepoint: %w", err))
		}
	}
	if err := q.exec("RELEASE SAVEPOINT member"); err != nil {
		return fmt.Errorf("release savepoint: %w", err)
	}
	return nil
}

// lost gives err when it ends the whole transaction, and nil when the
// savepoint can be gone back to.
func (s *Store) lost(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*lyceum.Error](err); ok {
		return nil
	}
	switch s.dialect.fault(err) {
	case faultRetry, faultFull, faultReadOnly, faultDown, faultDamaged:
		return err
	default:
		return nil
	}
}

// guard runs a change and turns a panic in it into its error, so that it takes
// neither the lane nor its neighbours with it.
func guard(q *session, run func(*session) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("a change panicked: %v", r)
		}
	}()
	return run(q)
}

// CreateSchool implements lyceum.Store.
func (s *Store) CreateSchool(ctx context.Context, school lyceum.School, actor string) (lyceum.School, error) {
	if school.ID < 0 {
		return lyceum.School{}, lyceum.Invalidf("a school's id must be from 1 to %d", lyceum.MaxID)
	}
	asked := school.ID
	if school.Policy == (lyceum.SalePolicy{}) {
		school.Policy = lyceum.DefaultSalePolicy()
	}
	if school.TimeZone == "" {
		school.TimeZone = lyceum.UTC
	}
	err := s.write(ctx, asked, func(q *session) error {
		school.ID = asked
		all := newTx(q, lyceum.Stamp{})
		if school.ID == 0 {
			id, err := all.NextID(schoolSequence)
			if err != nil {
				return err
			}
			school.ID = lyceum.SchoolID(id)
		} else if err := all.raise(schoolSequence, int32(school.ID)); err != nil {
			return err
		}
		err := q.exec("INSERT INTO schools (school_id, "+schoolColumns+") VALUES "+placeholders(1, 9), bindSchool(&school)...)
		if err != nil {
			if s.dialect.fault(err) == faultConflict {
				return lyceum.Errorf(lyceum.Conflict, "school %d exists already", school.ID)
			}
			return fmt.Errorf("insert school: %w", err)
		}
		t := newTx(q, lyceum.Stamp{School: school.ID, At: school.CreatedAt, Actor: actor})
		t.entry(lyceum.SchoolCreated, int32(school.ID))
		return t.finish()
	})
	if err != nil {
		return lyceum.School{}, err
	}
	return school, nil
}

// Bookkeep implements lyceum.Store.
func (s *Store) Bookkeep(ctx context.Context, b lyceum.Bookkeeping) error {
	return s.write(ctx, 0, func(q *session) error {
		for _, use := range b.KeyUses {
			err := q.exec(`UPDATE api_keys SET last_used_at = $3
				WHERE school_id = $1 AND api_key_id = $2 AND (last_used_at IS NULL OR last_used_at < $3)`,
				int64(use.School), int64(use.Key), micros(use.At))
			if err != nil {
				return fmt.Errorf("keep use of API key: %w", err)
			}
		}
		for _, use := range b.GrantUses {
			err := q.exec("UPDATE grants SET last_used_at = $3 WHERE school_id = $1 AND grant_id = $2 AND (last_used_at IS NULL OR last_used_at < $3)",
				int64(use.School), int64(use.Grant), micros(use.At))
			if err != nil {
				return fmt.Errorf("keep use of grant: %w", err)
			}
		}
		for _, use := range b.AppUses {
			err := q.exec("UPDATE oauth_apps SET last_used_at = $3 WHERE school_id = $1 AND oauth_app_id = $2 AND (last_used_at IS NULL OR last_used_at < $3)",
				int64(use.School), int64(use.App), micros(use.At))
			if err != nil {
				return fmt.Errorf("keep use of OAuth app: %w", err)
			}
		}
		for _, w := range b.RateWindows {
			err := q.exec(`INSERT INTO rate_windows (school_id, start, used) VALUES ($1, $2, $3)
				ON CONFLICT (school_id) DO UPDATE SET start = excluded.start, used = excluded.used`,
				int64(w.School), micros(w.Start), w.Used)
			if err != nil {
				return fmt.Errorf("keep rate window: %w", err)
			}
		}
		return nil
	})
}
