package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lyceum-school/lyceum"
)

var (
	errShared = errors.New("a connection is not always served by the same process of PostgreSQL")
	errSilent = errors.New("a connection was accepted, but its first query was not answered")
)

// pooled reports whether there is a connection pooler between this program and PostgreSQL. It
// returns an error if the transactions of one connection go to different sessions, because
// settings, prepared statements and locks would then leak to other clients. For the same reason,
// it probes with connections that set nothing.
func pooled(ctx context.Context, config *pgx.ConnConfig) (bool, error) {
	is, err := findPooler(ctx, config)
	if errors.Is(err, errShared) {
		return is, unreachable(config, err)
	}
	if err != nil {
		return is, unopened(config, postgresDialect().public(err))
	}
	return is, nil
}

// unpooled returns an error if there is any connection pooler: a pooler keeps connections open,
// and it cannot be told whether they are in use.
func unpooled(ctx context.Context, config *pgx.ConnConfig) error {
	is, err := pooled(ctx, config)
	if is && err == nil {
		err = lyceum.Errorf(lyceum.Unavailable, "PostgreSQL at %s is behind a connection pooler, which hides whether "+
			"others use the database; name PostgreSQL itself in the database URL", hostsOf(config))
	}
	return err
}

func findPooler(ctx context.Context, config *pgx.ConnConfig) (bool, error) {
	first, err := pgconn.ConnectConfig(ctx, &config.Config)
	if err != nil {
		return false, err
	}
	defer closeConn(first)
	served, err := servedBy(ctx, first, config.ConnectTimeout)
	if err != nil {
		return false, errors.Join(errSilent, err)
	}
	if served == strconv.FormatUint(uint64(first.PID()), 10) { // a pooler makes up the PID that it reports
		return false, nil
	}
	// Others may be using the pooler, or there may be several poolers: one success could be
	// chance.
	for range 3 {
		if err := keepsSession(ctx, config, first, served); err != nil {
			return true, err
		}
	}
	return true, nil
}

// keepsSession checks that a connection is served by the same process while another connection is
// in a transaction.
func keepsSession(ctx context.Context, config *pgx.ConnConfig, first *pgconn.PgConn, served string) error {
	second, err := pgconn.ConnectConfig(ctx, &config.Config)
	if err != nil {
		return err
	}
	defer closeConn(second)
	if _, err := servedBy(ctx, second, config.ConnectTimeout); err != nil {
		return errors.Join(errSilent, err)
	}
	if _, err := second.Exec(ctx, "BEGIN").ReadAll(); err != nil { // some poolers refuse transactions
		return errors.Join(errShared, err)
	}
	inside, err := servedBy(ctx, second, config.ConnectTimeout)
	if err != nil {
		return errors.Join(errShared, err)
	}
	now, err := servedBy(ctx, first, config.ConnectTimeout)
	if err != nil || inside == served || now != served {
		return errors.Join(errShared, err)
	}
	return nil
}

func closeConn(conn *pgconn.PgConn) { _ = conn.Close(context.Background()) }

// servedBy returns the PID of the PostgreSQL process that serves a connection.
func servedBy(ctx context.Context, conn *pgconn.PgConn, within time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	results, err := conn.Exec(ctx, "SELECT pg_backend_pid()").ReadAll()
	if err != nil {
		return "", err
	}
	return string(results[0].Rows[0][0]), nil
}

// connectAll opens all connections of a server, one after the other. Otherwise, if a pooler had
// too few sessions, the reading connections would hold all of them and nothing could be written.
func connectAll(ctx context.Context, config *pgx.ConnConfig, pools ...*sql.DB) error {
	var held []*sql.Conn
	defer func() {
		for _, conn := range held {
			_ = conn.Close()
		}
	}()
	all := 0
	for _, db := range pools {
		all += db.Stats().MaxOpenConnections
	}
	for _, db := range pools {
		for range db.Stats().MaxOpenConnections {
			conn, err := db.Conn(ctx)
			if err != nil {
				return &lyceum.Error{Kind: lyceum.Unavailable, Err: err, Detail: fmt.Sprintf("PostgreSQL at %s is behind a "+
					"connection pooler that gives this process only %d of the %d connections that it needs; make its pool "+
					"larger, or name PostgreSQL itself in the database URL", hostsOf(config), len(held), all)}
			}
			held = append(held, conn)
		}
	}
	return nil
}
