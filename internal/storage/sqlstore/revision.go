package sqlstore

import (
	"errors"
	"sync"

	"github.com/lyceum-school/lyceum"
)

// revisions numbers the states of a SQLite file, using a connection that does nothing else:
// SQLite tells it whether another connection committed anything, in this process or another one.
type revisions struct {
	mu      sync.Mutex
	conn    *direct // nil until it is needed
	version int64   // that SQLite reported last
	number  int64
}

// Revision implements lyceum.Reader. On PostgreSQL no revision is known, because finding it would
// take as long as the request itself.
func (s *Store) Revision(lyceum.SchoolID) (r lyceum.Revision, known bool) {
	if s.reads.direct == nil {
		return lyceum.Revision{}, false
	}
	number, err := s.reads.direct.revision()
	return lyceum.Revision{Database: number}, err == nil
}

func (r *readers) revision() (int64, error) {
	v := &r.revisions
	v.mu.Lock()
	defer v.mu.Unlock()
	select {
	case <-r.closed:
		return 0, errClosed
	default:
	}
	if v.conn == nil {
		conn, err := r.open()
		if err != nil {
			return 0, err
		}
		v.conn = conn
	}
	var version int64
	err := v.conn.step("PRAGMA data_version", nil, []any{scanInt(&version)}, func() error { return nil })
	if err != nil {
		conn := v.conn
		v.conn = nil
		v.number++ // changes until the next connection is opened would go unnoticed
		return 0, errors.Join(err, conn.close())
	}
	if version != v.version {
		v.version = version
		v.number++
	}
	return v.number, nil
}

func (v *revisions) close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.conn == nil {
		return nil
	}
	conn := v.conn
	v.conn = nil
	return conn.close()
}
