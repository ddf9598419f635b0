package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"time"
)

// filterIndex is an index of a table that no migration makes.
type filterIndex struct{ name, table, columns string }

// filterIndexes are those by which the database finds what memory otherwise does: the
// transactions of a pricing plan or a course, of an affiliate and of an author. To write them
// takes a fifth of an import, so a database has them only while nothing is indexed in memory.
var filterIndexes = []filterIndex{
	{"transactions_plan", "transactions", "(school_id, pricing_plan_id, created_at, transaction_id)"},
	{
		"transactions_affiliate", "transactions",
		"(school_id, affiliate_id, created_at, transaction_id) WHERE affiliate_id IS NOT NULL",
	},
	{
		"transactions_author", "transactions",
		"(school_id, author_id, created_at, transaction_id) WHERE author_id IS NOT NULL",
	},
}

func isFilterIndex(name string) bool {
	return slices.ContainsFunc(filterIndexes, func(i filterIndex) bool { return i.name == name })
}

// create is the statement that makes the index, with an option of the engine.
func (i *filterIndex) create(option string) string {
	return "CREATE INDEX" + option + " IF NOT EXISTS " + i.name + " ON " + i.table + " " + i.columns
}

// KeepFilterIndexes makes the indexes by which the database finds the transactions of a
// pricing plan, a course, an affiliate or an author, which takes some seconds for each million,
// or drops them. Without them lists with such a filter are as correct, and read all
// transactions of the school where memory does not answer them. On PostgreSQL others can write
// meanwhile.
func (s *Store) KeepFilterIndexes(ctx context.Context, keep bool) (err error) {
	ddl := s.dialect.ddl
	conn, err := s.writes.db.Conn(ctx)
	if err != nil {
		return s.public(err)
	}
	defer func() { err = errors.Join(err, ddl.giveBack(conn)) }()
	for i := range filterIndexes {
		x := &filterIndexes[i]
		var state int
		if err := conn.QueryRowContext(ctx, s.dialect.rebind(ddl.state), x.name).Scan(&state); err != nil {
			return s.public(fmt.Errorf("look for the index %s: %w", x.name, err))
		}
		var steps []string
		if state != indexMissing && (!keep || state == indexBroken) {
			steps = append(steps, "DROP INDEX"+ddl.online+" IF EXISTS "+x.name)
		}
		if keep && state != indexWhole {
			steps = append(steps, x.create(ddl.online))
		}
		if len(steps) == 0 {
			continue
		}
		begun := time.Now()
		if ddl.unhurried != "" {
			steps = slices.Insert(steps, 0, ddl.unhurried)
		}
		for _, text := range steps {
			if _, err := conn.ExecContext(ctx, text); err != nil {
				return s.public(fmt.Errorf("make or drop the index %s: %w", x.name, err))
			}
		}
		done := "filter index dropped"
		if keep {
			done = "filter index made"
		}
		s.log.InfoContext(ctx, done, "name", x.name, "took", time.Since(begun).Round(time.Millisecond).String())
	}
	return nil
}

// ddl is how an engine makes and drops indexes.
type ddl struct {
	state     string // a query of the state of the index named $1
	online    string // option with which others can write meanwhile
	unhurried string // lets a statement of the connection take as long as it takes; may be empty
}

// States of an index. PostgreSQL leaves a broken one where it was stopped while it made it.
const (
	indexMissing = iota
	indexBroken
	indexWhole
)

var (
	sqliteDDL   = ddl{state: "SELECT 2 * count(*) FROM sqlite_schema WHERE type = 'index' AND name = $1"}
	postgresDDL = ddl{
		state: "SELECT COALESCE((SELECT CASE WHEN indisvalid THEN 2 ELSE 1 END FROM pg_index " +
			"WHERE indexrelid = to_regclass($1)), 0)",
		online:    " CONCURRENTLY",
		unhurried: "SET statement_timeout = 0",
	}
)

// giveBack closes a connection that has settings of its own.
func (d *ddl) giveBack(conn *sql.Conn) error {
	if d.unhurried == "" {
		return conn.Close()
	}
	err := conn.Raw(func(any) error { return driver.ErrBadConn })
	if errors.Is(err, driver.ErrBadConn) {
		return nil
	}
	return err
}
