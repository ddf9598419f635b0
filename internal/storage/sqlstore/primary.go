package sqlstore

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"
)

// primary is the PostgreSQL server that takes changes, as far as this process knows. Each promotion
// begins a timeline. A server of an earlier one may live on, or come back: what it answers is old,
// and what it commits is lost. So connections to it are given up, and no others are opened.
type primary struct {
	only bool // standbys are refused
	last atomic.Pointer[timeline]
	seen *knownEnds
}

// timeline is one of a cluster, which the system identifier names.
type timeline struct {
	cluster string
	number  int64
}

var (
	errStandby   = errors.New("the server is a standby")
	errOvertaken = errors.New("another server was promoted since this one was the primary")
)

// admits checks new connections, after what the address of the database asks for. A server that is
// refused is passed over for the next one of the address.
func (p *primary) admits(asked pgconn.ValidateConnectFunc) pgconn.ValidateConnectFunc {
	return func(ctx context.Context, conn *pgconn.PgConn) error {
		if asked != nil {
			if err := asked(ctx, conn); err != nil {
				return err
			}
		}
		if p.only && conn.ParameterStatus("in_hot_standby") == "on" {
			return errStandby
		}
		at, err := timelineOf(ctx, conn)
		if err != nil || at == nil {
			return err
		}
		conn.CustomData()[overtakenKey] = func() bool { return at.before(p.last.Load()) }
		return p.reaches(at)
	}
}

// reaches takes note of the timeline of a connection.
func (p *primary) reaches(at *timeline) error {
	for {
		last := p.last.Load()
		switch {
		case at.before(last):
			return errOvertaken
		case last != nil && *last == *at:
			return nil
		case p.last.CompareAndSwap(last, at):
			if last != nil {
				p.seen.doubt()
			}
			return nil
		}
	}
}

// timelineOf returns nil for a standby, and where the database does not tell; see Store.findOrigin.
func timelineOf(ctx context.Context, conn *pgconn.PgConn) (*timeline, error) {
	results, err := conn.Exec(ctx, "SELECT "+postgresOrigin).ReadAll()
	if _, refused := errors.AsType[*pgconn.PgError](err); refused && postgresFault(err) == faultOther {
		return nil, nil //nolint:nilnil // unknown
	}
	if err != nil {
		return nil, err
	}
	cluster, at, _ := strings.Cut(string(results[0].Rows[0][0]), "/")
	number, err := strconv.ParseInt(at, 16, 64)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // a standby
	}
	return &timeline{cluster, number}, nil
}

// before reports whether another timeline of the cluster is later.
func (t *timeline) before(other *timeline) bool {
	return other != nil && t.cluster == other.cluster && t.number < other.number
}

const overtakenKey = "lyceum.overtaken"

// overtaken reports whether a connection is to a server that is no longer the primary.
func overtaken(conn *pgconn.PgConn) bool {
	is, known := conn.CustomData()[overtakenKey].(func() bool)
	return known && is()
}
