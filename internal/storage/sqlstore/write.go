package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

const (
	// maxGroup is how many changes share one commit at most.
	maxGroup = 256
	// groupBudget is how long a group works before it commits. What it has not
	// begun by then comes first in the next group.
	groupBudget = 20 * time.Millisecond
	// maxTries is how often a group is run when other transactions are in the
	// way; the pauses between add up to about two seconds.
	maxTries = 9
	// patience is how long a change waits for its turn, and then again how long
	// its group may take. Both together are less than a server's time for an
	// answer.
	patience = 10 * time.Second
)

func (s *Store) Write(ctx context.Context, stamp lyceum.Stamp, do func(lyceum.Tx) error) error {
	var last int64
	err := s.write(ctx, stamp.School, func(q *session) error {
		t := s.newTx(q, stamp)
		err := do(lyceum.Tx{Tables: &tables, Changes: t})
		if err != nil {
			return err
		}
		last, err = t.finish()
		return err
	})
	if err == nil && last > 0 {
		s.noteReached(stamp.School, last)
		s.watch.changed(stamp.School)
		lyceum.NoteWrote(ctx, last)
	}
	return err
}

// write hands a change to its school's lane and waits until it is on disk or
// has failed. When it returns, the change is not being run any more.
func (s *Store) write(ctx context.Context, school lyceum.SchoolID, run func(*session) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.patience, errNoTurn)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return s.outcome(err)
	}
	c := &change{ctx: ctx, school: school, run: run, since: time.Now(), done: make(chan struct{})}
	l := s.lanes[int(school)%len(s.lanes)]
	l.add(c)
	var err error
	select {
	case <-c.done:
		return s.outcome(c.result)
	case <-s.closing:
		err = errClosed
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if l.withdraw(c) {
		return s.outcome(err)
	}
	<-c.done // it is being run: only its outcome is the truth
	return s.outcome(c.result)
}

var (
	errClosed = lyceum.Errorf(lyceum.Unavailable, "the server is shutting down; try again")
	errNoTurn = lyceum.Errorf(lyceum.Unavailable, "the database is busy and the change did not run; nothing was "+
		"changed; try again")
)

// run commits what waits in a lane, group by group, until the store closes.
func (s *Store) run(l *lane) {
	for {
		if group := l.take(); len(group) > 0 {
			s.commit(l, group)
			continue
		}
		select {
		case <-l.wake:
		case <-s.closing:
			return
		}
	}
}

// commit runs a group in one transaction, again while other transactions are
// in the way, and reports the outcome to every caller whose change was begun.
func (s *Store) commit(l *lane, group []*change) {
	ctx, cancel := context.WithTimeout(context.Background(), s.patience)
	defer cancel()
	var begun int
	var err error
	for try := range maxTries {
		if try > 0 {
			time.Sleep(rand.N(4*time.Millisecond<<try) + time.Millisecond)
		}
		if err = s.files.present(outcomeUnchanged); err != nil {
			break
		}
		if begun, err = s.try(ctx, group); err == nil {
			err = s.files.present(outcomeUnknown)
		}
		if err == nil || s.dialect.fault(err) != faultRetry && !s.makeRoom(err) || ctx.Err() != nil {
			break
		}
	}
	s.noteFull(err)
	held, isHeld := errors.AsType[*heldError](err)
	if isHeld {
		// Only the changes of the school that another transaction holds fail.
		group, begun = held.first(group)
	} else if begun == 0 {
		begun = len(group) // the transaction did not begin
	}
	var rest []*change
	for _, c := range group[begun:] {
		if c.ctx.Err() == nil {
			rest = append(rest, c)
			continue
		}
		c.result = context.Cause(c.ctx)
		close(c.done)
	}
	again := isHeld && len(rest) > 0
	if again {
		l.begin(rest)
	} else {
		l.finish(rest)
	}
	for _, c := range group[:begun] {
		if err != nil {
			c.result = err
		}
		close(c.done)
	}
	if again { // before the held school has another change to wait for
		s.commit(l, rest)
	}
}

// try runs a group once, as far as its budget goes, and reports how many
// changes it has begun. An error is one of the whole transaction; what a single
// change returned is its result.
func (s *Store) try(ctx context.Context, group []*change) (begun int, err error) {
	kept := false
	err = s.writes.transact(ctx, nil, func(q *session) (bool, error) {
		if err := s.turns(q, group); err != nil {
			return false, err
		}
		for begin := s.clock(); begun < len(group) && (begun == 0 || s.clock().Sub(begin) < groupBudget); begun++ {
			c := group[begun]
			if err := s.member(q, c, len(group) > 1); err != nil {
				begun++
				return false, err
			}
			kept = kept || c.result == nil
		}
		return kept, nil
	})
	if kept && err == nil {
		s.noteRoom()
	}
	return begun, err
}

// turns keeps other processes from changing the schools of a group. Two
// processes that lock schools in the same order cannot deadlock.
func (s *Store) turns(q *session, group []*change) error {
	if s.dialect.turn == "" {
		return nil
	}
	schools := make([]lyceum.SchoolID, len(group))
	for i, c := range group {
		schools[i] = c.school
	}
	slices.Sort(schools)
	for _, school := range slices.Compact(schools) {
		if err := q.exec(s.dialect.turn, int64(school)); err != nil {
			err = fmt.Errorf("take the school's turn: %w", err)
			if s.dialect.fault(err) == faultBusy {
				return &heldError{school, err}
			}
			return err
		}
	}
	return nil
}

// heldError tells that another transaction holds a school for too long.
type heldError struct {
	school lyceum.SchoolID
	err    error
}

func (e *heldError) Error() string { return e.err.Error() }
func (e *heldError) Unwrap() error { return e.err }

// first moves the changes of the held school to the front of a group, and
// counts them.
func (e *heldError) first(group []*change) (moved []*change, n int) {
	for _, c := range group {
		if c.school == e.school {
			moved = slices.Insert(moved, n, c)
			n++
		} else {
			moved = append(moved, c)
		}
	}
	return moved, n
}

// member runs one change of a group under its own savepoint. It returns an
// error when the whole transaction is lost.
func (s *Store) member(q *session, c *change, shared bool) error {
	if c.result = nil; c.ctx.Err() != nil {
		c.result = context.Cause(c.ctx)
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

func (s *Store) CreateSchool(ctx context.Context, school lyceum.School, actor string) (lyceum.School, error) {
	if school.ID < 0 {
		return lyceum.School{}, lyceum.Invalidf("a school's id must be from 1 to %d", lyceum.MaxID)
	}
	asked := school.ID
	if school.Policy == (lyceum.SalePolicy{}) {
		school.Policy = lyceum.DefaultSalePolicy()
	}
	if school.Retention == (lyceum.Retention{}) {
		school.Retention = lyceum.DefaultRetention()
	}
	if school.TimeZone == "" {
		school.TimeZone = lyceum.UTC
	}
	err := s.write(ctx, asked, func(q *session) error {
		school.ID = asked
		all := s.newTx(q, lyceum.Stamp{})
		if school.ID == 0 {
			id, err := all.nextID(schoolSequence)
			if err != nil {
				return err
			}
			school.ID = lyceum.SchoolID(id)
		} else if err := all.raise(schoolSequence, int32(school.ID)); err != nil {
			return err
		}
		values := bindSchool(&school)
		err := q.exec("INSERT INTO schools (school_id, "+schoolColumns+") VALUES "+placeholders(1, len(values)), values...)
		if err != nil {
			if s.dialect.fault(err) == faultConflict {
				return lyceum.Errorf(lyceum.Conflict, "school %d already exists", school.ID)
			}
			return fmt.Errorf("insert school: %w", err)
		}
		t := s.newTx(q, lyceum.Stamp{School: school.ID, At: school.CreatedAt, Actor: actor})
		t.Note(lyceum.SchoolCreated, int32(school.ID))
		_, err = t.finish()
		return err
	})
	if err != nil {
		return lyceum.School{}, err
	}
	return school, nil
}
