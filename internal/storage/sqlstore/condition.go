package sqlstore

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Condition is the condition of a database's storage.
type Condition struct {
	Moved   bool // SQLite's files are no longer the ones that are open
	Full    bool // there was no space for the last change, or the disk failed
	Damaged bool // something was read that the engine had not written
}

// condition is what is known about the storage apart from its files.
type condition struct {
	full    atomic.Bool
	damaged atomic.Bool
	freed   time.Time // when space was last freed, unless a group was written since; for SQLite's single writer
}

// Condition returns the condition of the storage as of the last look at its files and the last
// change.
func (s *Store) Condition() Condition {
	return Condition{
		Moved:   s.files != nil && s.files.moved.Load(),
		Full:    s.condition.full.Load(),
		Damaged: s.condition.damaged.Load(),
	}
}

// sound fails with Unavailable if the storage cannot accept changes.
func (s *Store) sound() error {
	switch c := s.Condition(); {
	case c.Damaged:
		return lyceum.Errorf(lyceum.Unavailable, damaged+"; "+damagedTodo)
	case c.Full:
		return lyceum.Errorf(lyceum.Unavailable, full+"; "+outcomeRefused)
	default:
		return s.files.present(outcomeRefused)
	}
}

// Problems of a storage, as callers are told.
const (
	full        = "the database's disk is full or failing"
	barred      = "the server lacks rights in its database, or a table is missing"
	damaged     = "the database is damaged, or no database of lyceum"
	damagedTodo = "restore a backup, and keep this one for analysis"
)

// noteRoom records that a group was written.
func (s *Store) noteRoom() {
	if s.dialect.noRoom != nil {
		s.condition.freed = time.Time{}
	}
	if s.condition.full.Swap(false) {
		s.log.Warn("the database's disk has room again: changes are accepted")
	}
}

// noteFull records that there was no space for a group, if that is why it failed.
func (s *Store) noteFull(err error) {
	if err != nil && s.dialect.fault(err) == faultFull && !s.condition.full.Swap(true) {
		s.log.Error("the database's disk is full or failing: changes fail until there is space", "err", err)
	}
}

// noteDamage records that the database is damaged. Only a restart resets that, because damage
// does not repair itself. It is logged by the caller that receives the error.
func (s *Store) noteDamage() { s.condition.damaged.Store(true) }

// freePause is how long to wait before freeing space again after that did not help.
const freePause = time.Second

// makeRoom writes the SQLite log back into the database and truncates it: nothing else does so
// while changes fail, and it may be the log that fills the disk. It reports whether another
// try is worthwhile.
func (s *Store) makeRoom(err error) bool {
	if s.dialect.noRoom == nil || !s.dialect.noRoom(err) || time.Since(s.condition.freed) < freePause {
		return false
	}
	s.condition.freed = time.Now()
	freed, err := s.dialect.checkpoint(context.Background(), s.writes.db)
	if err != nil {
		s.log.Debug("the log of the database could not be cut", "err", err)
	}
	return freed
}

// tend checks the storage regularly until the store closes.
func (s *Store) tend() {
	tick := time.NewTicker(lookPause)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.closing:
			return
		}
		_ = s.files.look() // logs by itself
		s.settleDoubts()
		if s.condition.full.Load() {
			s.probe()
		}
	}
}

// probe finds out whether there is space again by writing a row of no school.
func (s *Store) probe() {
	err := s.write(context.Background(), 0, func(q *session) error {
		return q.exec("INSERT INTO rate_windows (school_id, start, used) VALUES (0, $1, 0) ON CONFLICT (school_id) DO "+
			"UPDATE SET start = excluded.start",
			micros(time.Now()))
	})
	if err != nil {
		s.log.Debug("there is no space for a change yet", "err", err)
	}
}
