package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// filterIndex is an index of transactions that no migration creates.
type filterIndex struct{ name, columns string }

// filterIndexes are the indexes for queries that are otherwise answered from memory: the
// transactions of a pricing plan or a course, of an affiliate and of an author. Writing them
// takes a fifth of an import, so a database has them only while nothing is indexed in memory.
var filterIndexes = []filterIndex{
	{"transactions_plan", "(school_id, pricing_plan_id, created_at, transaction_id)"},
	{
		"transactions_affiliate",
		"(school_id, affiliate_id, created_at, transaction_id) WHERE affiliate_id IS NOT NULL",
	},
	{
		"transactions_author",
		"(school_id, author_id, created_at, transaction_id) WHERE author_id IS NOT NULL",
	},
}

func isFilterIndex(name string) bool {
	return slices.ContainsFunc(filterIndexes, func(i filterIndex) bool { return i.name == name })
}

// create returns the statement that creates the index, with an option of the engine.
func (i *filterIndex) create(option string) string {
	return "CREATE INDEX" + option + " IF NOT EXISTS " + i.name + " ON transactions " + i.columns
}

// parts returns the names of its columns, and whether it is a partial index.
func (i *filterIndex) parts() (names []string, ofSome bool) {
	list, condition, _ := strings.Cut(strings.TrimPrefix(i.columns, "("), ")")
	return strings.Split(list, ", "), condition != ""
}

// KeepFilterIndexes creates the indexes by which the database finds the transactions of a
// pricing plan, a course, an affiliate or an author, which takes some seconds per million
// transactions, or drops them. Without them, lists with such a filter are just as correct, but
// those that are not answered from memory read all transactions of the school. On PostgreSQL
// others can write meanwhile.
func (s *Store) KeepFilterIndexes(ctx context.Context, keep bool) (err error) {
	ddl := &s.dialect.ddl
	conn, err := s.writes.db.Conn(ctx)
	if err != nil {
		return s.public(err)
	}
	defer func() { err = errors.Join(err, ddl.giveBack(conn)) }()
	if err := ddl.await(ctx, conn); err != nil {
		return s.public(err)
	}
	var failed []error
	for i := range filterIndexes {
		if err := s.keepFilterIndex(ctx, conn, &filterIndexes[i], keep); err != nil {
			failed = append(failed, s.public(fmt.Errorf("make or drop the index %s: %w", filterIndexes[i].name, err)))
		}
	}
	return errors.Join(failed...)
}

func (s *Store) keepFilterIndex(ctx context.Context, conn *sql.Conn, x *filterIndex, keep bool) error {
	ddl := &s.dialect.ddl
	var state int
	if err := conn.QueryRowContext(ctx, s.dialect.rebind(ddl.state), x.name).Scan(&state); err != nil {
		return err
	}
	var steps []string
	if state != indexMissing && (!keep || state == indexBroken) {
		steps = append(steps, "DROP INDEX"+ddl.online+" IF EXISTS "+x.name)
	}
	if keep && state != indexWhole {
		if err := s.dialect.estimate(ctx, conn); err != nil { // SQLite forgets the estimates of a dropped index
			return err
		}
		steps = append(steps, x.create(ddl.online))
	}
	if len(steps) == 0 {
		return nil
	}
	begun := time.Now()
	for _, text := range slices.Concat(ddl.before, steps, ddl.after) {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	done := "filter index dropped"
	if keep {
		done = "filter index made"
	}
	s.log.InfoContext(ctx, done, "name", x.name, "took", time.Since(begun).Round(time.Millisecond).String())
	return nil
}

// ddl is how an engine creates and drops indexes.
type ddl struct {
	state  string // a query for the state of the index named $1
	online string // an option that allows others to write meanwhile
	// before and after are statements that change settings of the connection for it.
	before, after []string
	// turn is a query that reports whether it is this connection's turn, which lasts as long
	// as the connection; empty for an engine whose database is served by one process.
	turn string
}

// States of an index. PostgreSQL leaves a broken one behind if creating it was interrupted.
const (
	indexMissing = iota
	indexBroken
	indexWhole
)

var (
	// SQLite sorts the rows of a new index either in memory or in files.
	sqliteDDL = ddl{
		state:  "SELECT 2 * count(*) FROM sqlite_schema WHERE type = 'index' AND name = $1",
		before: []string{"PRAGMA temp_store = file"},
		after:  []string{"PRAGMA temp_store = memory"},
	}
	postgresDDL = ddl{
		state: "SELECT COALESCE((SELECT CASE WHEN indisvalid THEN 2 ELSE 1 END FROM pg_index " +
			"WHERE indexrelid = to_regclass($1)), 0)",
		online: " CONCURRENTLY",
		before: []string{"SET statement_timeout = 0"},
		turn:   "SELECT pg_try_advisory_lock(" + schoolLocks + ", -1)",
	}
)

const (
	// ddlPatience is how long to wait for another process that creates indexes.
	ddlPatience = time.Minute
	ddlPause    = 200 * time.Millisecond
)

// await waits until no other process creates indexes. It polls, because waiting for a lock in
// PostgreSQL would keep others from creating an index.
func (d *ddl) await(ctx context.Context, conn *sql.Conn) error {
	for deadline := time.Now().Add(ddlPatience); d.turn != ""; {
		var ours bool
		if err := conn.QueryRowContext(ctx, d.turn).Scan(&ours); err != nil || ours {
			return err
		}
		if time.Now().After(deadline) {
			return &lyceum.Error{Kind: lyceum.Unavailable, Detail: "another process makes or drops indexes; try again"}
		}
		select {
		case <-time.After(ddlPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// giveBack releases a connection. One that may have the turn, or settings of its own, is not
// used again.
func (d *ddl) giveBack(conn *sql.Conn) error {
	if d.turn == "" {
		return conn.Close()
	}
	err := conn.Raw(func(any) error { return driver.ErrBadConn })
	if errors.Is(err, driver.ErrBadConn) {
		return nil
	}
	return err
}
