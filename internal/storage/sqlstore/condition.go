package sqlstore

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Condition is how the storage of a database does.
type Condition struct {
	Moved   bool // files of SQLite are no longer those that are open
	Full    bool // the last change found no room, or the disk failed
	Damaged bool // something read was not what the engine had written
}

// condition is what is known of the storage besides its files.
type condition struct {
	full    atomic.Bool
	damaged atomic.Bool
	freed   time.Time // when room was made last, unless a group was written since; of SQLite's one writer
}

// Condition returns how the storage does, as of the last look and the last
// change.
func (s *Store) Condition() Condition {
	return Condition{
		Moved:   s.files != nil && s.files.moved.Load(),
		Full:    s.condition.full.Load(),
		Damaged: s.condition.damaged.Load(),
	}
}

// sound fails with Unavailable when the storage cannot take changes.
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

// What is wrong with a storage, in the words of a caller.
const (
	full        = "the database's disk is full or failing"
	damaged     = "the database is damaged, or no database of lyceum"
	damagedTodo = "restore a backup, and keep this one for analysis"
)

// noteRoom keeps in mind that a group was written.
func (s *Store) noteRoom() {
	if s.dialect.noRoom != nil {
		s.condition.freed = time.Time{}
	}
	if s.condition.full.Swap(false) {
		s.log.Warn("the database's disk has room again: changes are accepted")
	}
}

// noteFull keeps in mind that there was no room for a group, if that is why it
// failed.
func (s *Store) noteFull(err error) {
	if err != nil && s.dialect.fault(err) == faultFull && !s.condition.full.Swap(true) {
		s.log.Error("the database's disk is full or failing: changes fail until there is space", "err", err)
	}
}

// noteDamage keeps in mind that the database is damaged. Only a restart ends
// that: what is damaged does not mend by itself. Whoever is told logs it.
func (s *Store) noteDamage() { s.condition.damaged.Store(true) }

// freePause is how long no room is made again after that did not help.
const freePause = time.Second

// makeRoom writes the log of SQLite back into the database and cuts it: while
// changes fail nothing else does so, and it may be the log that fills the disk.
// It tells whether that is worth another try.
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

// tend looks after the storage now and then, until the store closes.
func (s *Store) tend() {
	tick := time.NewTicker(lookPause)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.closing:
			return
		}
		_ = s.files.look() // which logs by itself
		s.settleDoubts()
		if s.condition.full.Load() {
			s.probe()
		}
	}
}

// probe finds out whether there is room again, by a row that no school has.
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
