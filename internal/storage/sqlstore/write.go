package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

const (
	// maxGroup is how many changes share one commit at most.
	maxGroup = 256
	// groupBudget is how long a group works before it commits. Changes that it has not begun by
	// then come first in the next group.
	groupBudget = 20 * time.Millisecond
	// maxTries is how often a group is tried if other transactions conflict with it; the pauses
	// in between add up to about two seconds.
	maxTries = 9
	// yields is how often a writer yields at least before it takes a group, so that the next
	// changes of callers that were just answered are in it.
	yields = 3
	// lull is the time without new changes after which a writer stops waiting for them.
	lull = 50 * time.Microsecond
	// patience is how long a change waits for its turn, and then how long its group may take.
	// Together they are less than the server's time limit for a response.
	patience = 10 * time.Second
	// hasty limits how long a group waits for a school that another transaction has locked, to
	// its patience divided by hasty. Then the school goes alone.
	hasty = 40
)

func (s *Store) Write(ctx context.Context, stamp lyceum.Stamp, do func(lyceum.Tx) error) error {
	var last int64
	err := s.submit(ctx, &change{school: stamp.School, many: stamp.Many, run: func(q *session) error {
		t := s.newTx(q, stamp)
		if err := do(lyceum.Tx{Tables: &tables, Changes: t}); err != nil {
			return err
		}
		return t.finish(&last)
	}})
	if err == nil && last > 0 {
		s.seen.note(stamp.School, mark{last, micros(stamp.At)})
		s.watch.changed(stamp.School)
		lyceum.NoteWrote(ctx, last)
	}
	return err
}

// write submits a change without a stamp.
func (s *Store) write(ctx context.Context, school lyceum.SchoolID, run func(*session) error) error {
	return s.submit(ctx, &change{school: school, run: run})
}

// submit passes a change to the writers and waits until it is on disk or has failed. When it
// returns, the change is no longer running.
func (s *Store) submit(ctx context.Context, c *change) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.patience, errNoTurn)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return s.outcome(err)
	}
	c.ctx, c.since, c.done = ctx, time.Now(), make(chan struct{})
	s.queue.add(c)
	var err error
	select {
	case <-c.done:
		return s.outcome(c.result)
	case <-s.closing:
		err = errClosed
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if s.queue.withdraw(c) {
		return s.outcome(err)
	}
	<-c.done // it is running: only its outcome counts
	return s.outcome(c.result)
}

var (
	errClosed = lyceum.Errorf(lyceum.Unavailable, "the server is shutting down; try again")
	errNoTurn = lyceum.Errorf(lyceum.Unavailable, "the database is busy and the change did not run; nothing was "+
		"changed; try again")
)

// work commits waiting changes, group by group, until the store closes.
func (s *Store) work() {
	for {
		for n := 0; n < yields || s.queue.gathers(time.Now()); n++ {
			runtime.Gosched()
		}
		if h := s.queue.take(); h != nil {
			s.commit(s.queue, h)
			continue
		}
		select {
		case <-s.queue.wake:
		case <-s.closing:
			return
		}
	}
}

// commit runs a group in one transaction, and reports the outcome to every caller whose change
// was begun. The changes of a school whose turn another transaction blocks are put back in the
// queue, to go alone.
func (s *Store) commit(l *queue, h *hand) {
	begin := time.Now()
	begun, err := s.run(l, h)
	for len(h.changes) > 0 && !h.slow {
		held, is := errors.AsType[*heldError](err)
		if !is {
			break
		}
		of, rest := held.split(h.changes)
		l.slowed(h, held.school, rest, s.stillWaiting(of))
		begun, err = 0, nil
		if len(rest) > 0 {
			begun, err = s.run(l, h)
		}
	}
	done := h.changes[:begun]
	l.finish(h, begun, s.stillWaiting(h.changes[begun:]), err == nil && time.Since(begin) < s.patience/hasty)
	for _, c := range done {
		if err != nil {
			c.result = err
		}
		close(c.done)
	}
}

// stillWaiting completes the changes whose callers have given up, and returns the others.
func (s *Store) stillWaiting(changes []*change) (rest []*change) {
	for _, c := range changes {
		if c.ctx.Err() == nil {
			rest = append(rest, c)
			continue
		}
		c.result = context.Cause(c.ctx)
		close(c.done)
	}
	return rest
}

// run runs a group, again if other transactions conflict with it. It returns how many of its
// changes have the outcome err.
func (s *Store) run(l *queue, h *hand) (begun int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.patience)
	defer cancel()
	as := manner{
		unkeyed:   !s.dialect.pipelined && !slices.ContainsFunc(h.changes, func(c *change) bool { return !c.many }),
		presuming: s.dialect.pipelined && !h.slow,
	}
	pause := false
	for try := range maxTries {
		if pause {
			time.Sleep(rand.N(4*time.Millisecond<<try) + time.Millisecond)
		}
		if err = s.files.present(outcomeUnchanged); err != nil {
			break
		}
		if begun, err = s.try(ctx, l, h, as); err == nil {
			err = s.files.present(outcomeUnknown)
		}
		pause = s.dialect.fault(err) == faultRetry
		lost, together := errors.AsType[*lostError](err)
		together = together && s.lost(lost.err) == nil
		as = manner{
			alone:   as.alone || together && !errors.Is(err, errKeys) && !errors.Is(err, errGuessed),
			unkeyed: as.unkeyed && !together,
		}
		if err == nil || !pause && !together && !s.makeRoom(err) || ctx.Err() != nil {
			break
		}
	}
	if errors.Is(err, errKeys) { // there was no time left to run it with foreign keys
		if err = ctx.Err(); err == nil {
			err = errNoTurn
		}
	}
	s.noteFull(err)
	if _, held := errors.AsType[*heldError](err); held || begun == 0 { // the transaction did not begin
		begun = len(h.changes)
	}
	return begun, err
}

// manner is how a group is run.
type manner struct {
	alone     bool // see group
	unkeyed   bool // see group
	presuming bool // guesses may be presumed to be right
}

// try runs a group once, within its budget, and returns how many changes it has begun. An error
// concerns the whole transaction; the outcome of a single change is in its result.
func (s *Store) try(ctx context.Context, l *queue, h *hand, as manner) (begun int, err error) {
	members := h.changes
	var g *group
	kept, sent, inserted, learn := false, false, map[string]int(nil), func() {}
	err = s.writes.change(ctx, as.unkeyed, func(q *session) (_ bool, err error) {
		g = newGroup(q, len(members) > 1, as.alone)
		g.patient, inserted = h.slow || h.follows, g.inserted
		if s.dialect.pipelined {
			g.guesses = &s.guesses
			learn = func() {
				if !sent {
					s.guesses.learn(g)
				}
				if g.presumed || !g.shared {
					s.guesses.judge(members, g.guessed)
				}
			}
		} else {
			if err := s.known.handOver(g, q.link.(*direct)); err != nil {
				return false, err
			}
			learn = func() { s.known.learn(g) }
			if g.unkeyed = as.unkeyed; g.unkeyed {
				if found, err := g.knowSchools(members); err != nil || !found {
					return false, &lostError{errors.Join(err, errKeys)}
				}
			}
		}
		done := false
		if s.dialect.pipelined && !as.alone && (g.shared || as.presuming && s.guesses.promises(members[0])) {
			if begun, done, err = s.rehearse(g, members, as.presuming); err != nil {
				return false, err
			}
			members = members[:begun]
		} else if err := s.turns(q, members, nil); err != nil {
			return false, err
		}
		if !done {
			if begun, err = s.members(g, members, groupBudget); err != nil {
				return false, err
			}
		}
		kept = g.presumed || slices.ContainsFunc(members[:begun], func(c *change) bool { return c.result == nil })
		if !kept {
			return false, nil
		}
		if err := g.close(); err != nil {
			return false, err
		}
		if sent = g.wentAhead() && begun == len(h.changes) && len(schoolsOf(members)) == 1; sent {
			s.guesses.learn(g) // for the group that follows
			q.link.(*pipeline).committing = func() { l.sent(h) }
		}
		return true, nil
	})
	switch queued, ok := errors.AsType[*queuedError](err); {
	case g != nil && g.presumed:
		err = s.conclude(g, members, err)
	case ok && !as.alone:
		err = &lostError{queued}
	}
	if kept && err == nil {
		s.noteRoom()
		s.grown(inserted)
		learn()
	} else if sent {
		s.guesses.forget(members[0].school)
		l.lost(h)
	}
	return begun, err
}

// members runs the changes of a group in order, within a budget.
func (s *Store) members(g *group, members []*change, budget time.Duration) (begun int, err error) {
	for begin := s.clock(); begun < len(members) && (begun == 0 || s.clock().Sub(begin) < budget); {
		begun++
		if err := s.member(g, members[begun-1]); err != nil {
			return begun, err
		}
	}
	return begun, nil
}

// rehearse takes the turns of the group's schools, and runs the group without the database until
// everything that it queries is known. done is true if it needed nothing else.
func (s *Store) rehearse(g *group, members []*change, presuming bool) (begun int, done bool, err error) {
	g.lookups = lookups{}
	begun, budget, turns, looks := len(members), groupBudget, true, 0
	for range maxRehearsals {
		r := &rehearsal{}
		g.reset()
		g.rehearsal = r
		begun, err = s.members(g, members[:begun], budget)
		g.rehearsal = nil
		if err != nil {
			return begun, false, err
		}
		if done = !r.incomplete && !r.ended; !r.incomplete && !turns {
			break
		}
		budget = math.MaxInt64
		if turns && presuming && looks < maxLooks {
			again, err := s.look(g, members[:begun], r)
			if err != nil {
				return begun, false, err
			}
			if again {
				looks++
				g.lookups = lookups{}
				continue
			}
		}
		stale := false
		if turns && presuming {
			if done, stale, err = s.presume(g, members[:begun], r); done || err != nil {
				return begun, done, err
			}
		}
		if turns && !g.shared {
			g.reset()
			g.lookups = lookups{}
			return begun, false, s.turns(g.session, members, nil)
		}
		if turns {
			err = s.turns(g.session, members[:begun], r.missing)
		} else if err = g.session.link.(*pipeline).fetch(r.missing); err != nil {
			err = &lostError{err}
		}
		if err != nil {
			return begun, false, err
		}
		if turns && !stale {
			s.guesses.judge(members[:begun], r)
		}
		if done = done || !stale && r.guessedRight(); done || !r.incomplete {
			break
		}
		turns = false
	}
	if !done {
		g.reset()
	}
	return begun, done, nil
}

// turns prevents other processes from changing the schools of a group, and sends the missing
// queries with the same message.
func (s *Store) turns(q *session, group []*change, missing []*lookup) error {
	if s.dialect.turn == "" {
		return nil
	}
	schools := s.takeTurns(q.group, group)
	return s.turned(schools, len(missing) > 0, q.link.(*pipeline).fetch(missing))
}

// takeTurns queues the turns of the group's schools for the next message, and returns the
// schools. Two processes that lock schools in the same order cannot deadlock.
func (s *Store) takeTurns(g *group, members []*change) []lyceum.SchoolID {
	schools, turn := schoolsOf(members), s.turnOf(g)
	for _, school := range schools {
		_ = g.session.later(turn, []any{int64(school)})
	}
	return schools
}

// turnOf returns the statement that takes a school's turn for a group.
func (s *Store) turnOf(g *group) string {
	if g.patient {
		return s.dialect.turn
	}
	return s.hastyTurn
}

// schoolsOf returns the schools of changes in ascending order, each once.
func schoolsOf(members []*change) []lyceum.SchoolID {
	schools := make([]lyceum.SchoolID, len(members))
	for i, c := range members {
		schools[i] = c.school
	}
	slices.Sort(schools)
	return slices.Compact(schools)
}

// turned interprets the error of the message that takes turns.
func (s *Store) turned(schools []lyceum.SchoolID, queried bool, err error) error {
	queued, ok := errors.AsType[*queuedError](err)
	switch {
	case err == nil:
		return nil
	case !ok || queued.at == 0 && queried: // the first statement begins the transaction, or a query could not be prepared
		return &lostError{err}
	case queued.at > 0 && s.dialect.fault(err) == faultBusy:
		return &heldError{schools[queued.at-1], fmt.Errorf("take the school's turn: %w", queued.err)}
	}
	return fmt.Errorf("begin a change: %w", queued.err)
}

// heldError means that another transaction has locked a school for too long.
type heldError struct {
	school lyceum.SchoolID
	err    error
}

func (e *heldError) Error() string { return e.err.Error() }
func (e *heldError) Unwrap() error { return e.err }

// split separates the changes of the locked school from the others.
func (e *heldError) split(changes []*change) (held, rest []*change) {
	for _, c := range changes {
		if c.school == e.school {
			held = append(held, c)
		} else {
			rest = append(rest, c)
		}
	}
	return held, rest
}

// member runs one change of a group. It returns an error only if the whole transaction is lost.
func (s *Store) member(g *group, c *change) error {
	if c.result = nil; c.ctx.Err() != nil {
		c.result = context.Cause(c.ctx)
		return nil //nolint:nilerr // the outcome of one change, not of the transaction
	}
	if err := g.begin(); err != nil {
		return err
	}
	c.result = guard(g.session, c.run)
	if g.broken != nil {
		return g.broken
	}
	if g.rehearsal == nil {
		if err := s.lost(c.result); err != nil {
			return err
		}
	}
	if err := g.end(c.result != nil); err != nil {
		return errors.Join(c.result, err)
	}
	return nil
}

// lost returns err if it ends the whole transaction, and nil if it is enough to roll back to the
// savepoint.
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

// guard runs a change and turns a panic into an error, so that it stops neither the writer nor
// the other changes.
func guard(q *session, run func(*session) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("a change panicked: %v", r)
		}
	}()
	return run(q)
}
