package sqlstore

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"
)

// primary is the PostgreSQL server that accepts changes, as far as this process knows. Each
// promotion begins a timeline. A server of an earlier timeline may live on, or come back: what it
// returns is old, and what it commits is lost. So connections to it are closed, and no new ones
// are opened.
type primary struct {
	only bool // standbys are rejected
	last atomic.Pointer[timeline]
	seen *knownEnds
}

// timeline is a timeline of a cluster, which is identified by its system identifier.
type timeline struct {
	cluster string
	number  int64
}

var (
	errStandby   = errors.New("the server is a standby")
	errOvertaken = errors.New("another server was promoted since this one was the primary")
)

// admits checks new connections, after the check that the database URL asks for. If a server is
// rejected, the next one in the URL is tried.
func (p *primary) admits(configured pgconn.ValidateConnectFunc) pgconn.ValidateConnectFunc {
	return func(ctx context.Context, conn *pgconn.PgConn) error {
		if configured != nil {
			if err := configured(ctx, conn); err != nil {
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

// reaches records the timeline of a connection. It fails if a later one is known.
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

// timelineOf returns the timeline of a server, or nil for a standby and for a database that does
// not report it; see Store.findOrigin.
func timelineOf(ctx context.Context, conn *pgconn.PgConn) (*timeline, error) {
	results, err := conn.Exec(ctx, "SELECT "+postgresOrigin).ReadAll()
	if _, refused := errors.AsType[*pgconn.PgError](err); refused && unreported(postgresFault(err)) {
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

// unreported reports whether a fault means that a database does not report its timeline.
func unreported(f fault) bool { return f == faultOther || f == faultBarred }

// before reports whether other is a later timeline of the same cluster.
func (t *timeline) before(other *timeline) bool {
	return other != nil && t.cluster == other.cluster && t.number < other.number
}

const overtakenKey = "lyceum.overtaken"

// overtaken reports whether a connection is to a server that is no longer the primary.
func overtaken(conn *pgconn.PgConn) bool {
	is, known := conn.CustomData()[overtakenKey].(func() bool)
	return known && is()
}
