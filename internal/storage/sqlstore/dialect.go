package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
	zombiezen "zombiezen.com/go/sqlite"
)

// fault is what an engine's error means to a writer.
type fault uint8

const (
	faultOther    fault = iota
	faultRetry          // another transaction was in the way: run again
	faultDown           // the engine cannot be reached, or is shutting down
	faultFull           // no room to write
	faultConflict       // a key is taken
	faultReadOnly       // the files cannot be written
	faultDamaged        // the files are not what the engine wrote
	faultBusy           // a lock was waited for, or a statement ran, for too long
)

// querier is a database or one connection of it.
type querier interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// dialect names everything the two engines do not share.
type dialect struct {
	name       string
	goose      database.Dialect
	migrations string
	// newest is the file with the schema that the migrations of an empty database end in,
	// which is made at once from it; empty for an engine whose migrations run one by one.
	newest string
	// versioned is a query of whether there is a table of versions of the schema.
	versioned string
	// schemaTurn waits until no other process changes the schema; empty for an
	// engine that has one writer at a time.
	schemaTurn string

	// rebind turns $n into the engine's own placeholder.
	rebind func(string) string
	// cancellable tells that a context may end a statement midway. SQLite's
	// connections have been seen to answer SQLITE_INTERRUPT for ever after.
	cancellable bool
	// pipelined tells that a statement is a round trip, so that statements of a change
	// go together; and that one that fails ends its transaction, unless there is a
	// savepoint.
	pipelined bool
	// writers is how many groups of changes are run at once, followers how many more that
	// wait for the commit of one of them, and slow how many more of schools that another
	// transaction keeps for long.
	writers, followers, slow int
	// turn waits until no other transaction changes a school, and keeps the
	// others waiting; empty for an engine that has one writer at a time. turns takes those
	// of several schools one after the other.
	turn, turns string
	// indexed makes a query read an index, and stands after the table's name, where SQLite
	// takes another one for better.
	indexed func(name string) string
	ddl     ddl
	// references is a query of the tables that refer to other tables, each with one of those.
	references string
	// lease takes a lease, or holds it longer; empty for an engine whose database one
	// process serves.
	lease string
	// now is an expression for the time of the database, in microseconds; empty for an
	// engine whose database one process serves.
	now string
	// origin is an expression for JournalEnds.Origin, a text.
	origin string
	// tableSizes lists tables by name with their bytes and those of their indexes, and
	// fileSize gives the bytes of all and those of them that are free.
	tableSizes, fileSize string
	// movePage makes the file a page shorter, if its pages can be moved, which fileSpace
	// says: bytes of all, of those that are free, and not 0. Both are empty for an engine
	// that has no such file.
	movePage, fileSpace string
	// replan has the queries of a transaction planned for their values and for many rows; empty
	// for an engine that plans a text once anyway.
	replan string
	// fault reads an error of the driver.
	fault func(error) fault
	// undone tells of an error at commit that the engine kept nothing. After any
	// other one nobody knows.
	undone func(error) bool
	// noRoom tells of an error that the log could not be written further, so
	// that nothing of the transaction is in it. checkpoint writes the log back
	// and cuts it, and tells whether it could. Both are nil for an engine that
	// looks after its log by itself.
	noRoom     func(error) bool
	checkpoint func(context.Context, *sql.DB) (bool, error)
	// estimate tells the engine how many rows indexes find, if it does not count them by itself.
	estimate func(context.Context, schemaDB) error
	// integrity lists what the engine itself finds damaged.
	integrity func(context.Context, querier) ([]string, error)
}

// schoolLocks sets the locks of schools apart from others in the database.
const schoolLocks = "1819894629"

// postgresOrigin is the system identifier, which a copy of the files shares, and
// the timeline, which a promotion changes. pg_control_checkpoint would have the
// timeline only some time after the promotion.
const (
	postgresOrigin = `(SELECT system_identifier::text || '/' || CASE WHEN pg_is_in_recovery() THEN '-'
		ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END FROM pg_control_system())`
	noOrigin = "''"
)

// A table WITHOUT ROWID is an index of its own name. The triggers that stand for foreign keys
// have the table that refers to theirs as their first argument.
const (
	sqliteTableSizes = `SELECT m.tbl_name, sum(CASE WHEN m.name = m.tbl_name THEN d.pgsize ELSE 0 END),
		sum(CASE WHEN m.name = m.tbl_name THEN 0 ELSE d.pgsize END)
		FROM dbstat d JOIN sqlite_schema m ON m.name = d.name WHERE d.aggregate = TRUE
		GROUP BY m.tbl_name ORDER BY m.tbl_name`
	sqliteReferences = `SELECT m.name, k."table" FROM sqlite_schema m, pragma_foreign_key_list(m.name) k
		WHERE m.type = 'table' AND m.name <> k."table"`
	postgresReferences = `SELECT c.relname, f.relname FROM pg_constraint k
		JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class f ON f.oid = k.confrelid
		WHERE k.contype = 'f' AND c.oid <> f.oid AND c.relnamespace = (SELECT relnamespace FROM pg_class
			WHERE oid = 'schools'::regclass)
		UNION SELECT c.relname, f.relname FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
		JOIN pg_class f ON f.oid = t.tgrelid JOIN pg_class c ON c.relnamespace = f.relnamespace
			AND c.relname = split_part(encode(t.tgargs, 'escape'), '\000', 1)
		WHERE p.proname = 'keep_referred' AND f.relnamespace = (SELECT relnamespace FROM pg_class
			WHERE oid = 'schools'::regclass)`
	postgresTableSizes = `SELECT CAST(c.relname AS TEXT), pg_table_size(c.oid), pg_indexes_size(c.oid) FROM pg_class c
		WHERE c.relkind = 'r' AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'schools'::regclass)
		ORDER BY 1`
)

// hasty takes turns, which it gives up after a time; other locks are waited for longer.
func (d *dialect) hasty(turn string, wait, others time.Duration) string {
	limit := func(d time.Duration) string {
		return fmt.Sprintf("set_config('lock_timeout', '%d', true)", max(d.Milliseconds(), 1))
	}
	if turn == "" {
		return ""
	}
	return "SELECT " + limit(wait) + ", (" + turn + "), " + limit(others)
}

func sqliteDialect() *dialect {
	return &dialect{
		name:       "sqlite",
		goose:      database.DialectSQLite3,
		migrations: "migrations/sqlite",
		newest:     "migrations/sqlite.sql",
		versioned:  "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = '" + goose.DefaultTablename + "')",
		rebind:     sqliteText,
		writers:    1,
		indexed:    func(name string) string { return " INDEXED BY " + name },
		ddl:        sqliteDDL,
		origin:     noOrigin,
		references: sqliteReferences,
		tableSizes: sqliteTableSizes,
		fileSize: "SELECT page_count * page_size, freelist_count * page_size FROM pragma_page_count, pragma_page_size, " +
			"pragma_freelist_count",
		movePage: "PRAGMA incremental_vacuum(1)",
		fileSpace: "SELECT page_count * page_size, freelist_count * page_size, auto_vacuum FROM pragma_page_count, " +
			"pragma_page_size, pragma_freelist_count, pragma_auto_vacuum",
		fault:      sqliteFault,
		undone:     func(err error) bool { return sqliteFault(err) == faultRetry },
		noRoom:     sqliteNoRoom,
		checkpoint: sqliteCheckpoint,
		estimate:   estimateSQLite,
		integrity:  sqliteIntegrity,
	}
}

func postgresDialect() *dialect {
	return &dialect{
		name:        "postgres",
		goose:       database.DialectPostgres,
		migrations:  "migrations/postgres",
		versioned:   "SELECT to_regclass('" + goose.DefaultTablename + "') IS NOT NULL",
		schemaTurn:  schemaLock,
		rebind:      func(text string) string { return text },
		cancellable: true,
		pipelined:   true,
		writers:     2,
		followers:   2,
		slow:        4,
		indexed:     func(string) string { return "" },
		ddl:         postgresDDL,
		lease:       postgresLease,
		now:         postgresNow,
		origin:      postgresOrigin,
		references:  postgresReferences,
		tableSizes:  postgresTableSizes,
		fileSize:    "SELECT pg_database_size(current_database()), CAST(0 AS BIGINT)",
		turn:        "SELECT pg_advisory_xact_lock(" + schoolLocks + ", $1)",
		turns:       "SELECT count(pg_advisory_xact_lock(" + schoolLocks + ", s)) FROM unnest($1::int4[]) s",
		replan:      planAgain,
		fault:       postgresFault,
		undone:      postgresUndone,
		estimate:    func(context.Context, schemaDB) error { return nil },
		integrity:   func(context.Context, querier) ([]string, error) { return nil, nil },
	}
}

// planOnce has PostgreSQL plan a text once, for whatever values, and as for a page. Left to itself
// it plans each page again for its limit, which can take several times as long as reading it.
// Without knowing the limit it expects many rows, and would join whole tables.
const planOnce = "SET plan_cache_mode = force_generic_plan; SET enable_hashjoin = off; SET enable_mergejoin = off"

// planAgain undoes planOnce until the transaction ends.
const planAgain = "SELECT set_config('plan_cache_mode', 'auto', true), set_config('enable_hashjoin', 'on', true), " +
	"set_config('enable_mergejoin', 'on', true)"

// byPrimaryKey stands after the name of a table that has an index of the columns of its
// primary key besides. Left to itself SQLite takes that one, and looks for the row once more.
const byPrimaryKey = " /* by primary key */"

var byPrimaryKeyOf = regexp.MustCompile(`([a-z_]+)` + regexp.QuoteMeta(byPrimaryKey))

// byYear stands after the column of transactions that names their user, in a condition of
// the school $1. SQLite has the index of users by years: buyers come in no order, so that in
// one of all times each transaction would change another page. A user is looked for in every
// year in which the school sold something.
const byYear = " /* by year */"

var byYearOf = regexp.MustCompile(`(t\.)?user_id` + regexp.QuoteMeta(byYear))

// year is 365 days in microseconds.
const year = "31536000000000"

// years are those in which a school sold something. Each is found by the one before.
const years = `(WITH RECURSIVE sold(n) AS (
	SELECT (SELECT q.created_at / ` + year + ` FROM transactions q INDEXED BY transactions_user
		WHERE q.school_id = $1 ORDER BY q.created_at / ` + year + ` LIMIT 1)
	UNION ALL SELECT (SELECT q.created_at / ` + year + ` FROM transactions q INDEXED BY transactions_user
		WHERE q.school_id = $1 AND q.created_at / ` + year + ` > n ORDER BY q.created_at / ` + year + ` LIMIT 1)
	FROM sold WHERE n IS NOT NULL)
	SELECT n FROM sold WHERE n IS NOT NULL)`

// opaque keeps SQLite from looking at values while it plans, and so from planning a statement
// again whenever others are bound: another limit, or 0 or 1 where it had another id.
var opaque = strings.NewReplacer("LIMIT $", "LIMIT +$", "= $", "= +$")

// sqliteText turns a statement into one of SQLite.
func sqliteText(text string) string {
	text = byPrimaryKeyOf.ReplaceAllString(text, "$1 INDEXED BY sqlite_autoindex_${1}_1")
	text = byYearOf.ReplaceAllString(text, "${1}created_at / "+year+" IN "+
		strings.ReplaceAll(years, "$", "$$")+" AND ${1}user_id")
	return sqlitePlaceholders(opaque.Replace(text))
}

// sqlitePlaceholders turns $n into SQLite's placeholders. Numbers that simply
// count up become a bare ?: SQLite keeps a numbered one as a name, and the
// driver looks every name up in a list, which for a statement with a thousand
// of them costs more than to run it.
func sqlitePlaceholders(text string) string {
	parts := strings.Split(text, "$")
	numbered := false
	for i, part := range parts[1:] {
		digits := len(part) - len(strings.TrimLeft(part, "0123456789"))
		numbered = numbered || part[:digits] != strconv.Itoa(i+1)
	}
	if numbered {
		return strings.Join(parts, "?")
	}
	for i, part := range parts[1:] {
		parts[i+1] = strings.TrimLeft(part, "0123456789")
	}
	return strings.Join(parts, "?")
}

func sqliteCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return int(zombiezen.ErrCode(err))
}

func sqliteFault(err error) fault {
	code := sqliteCode(err)
	switch code {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return faultConflict
	}
	switch code & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return faultRetry
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
		return faultFull
	case sqlite3.SQLITE_READONLY:
		return faultReadOnly
	case sqlite3.SQLITE_CANTOPEN:
		return faultDown
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return faultDamaged
	}
	return faultOther
}

func postgresFault(err error) fault {
	if _, connect := errors.AsType[*pgconn.ConnectError](err); connect {
		return faultDown
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case e.Code == "40001", e.Code == "40P01":
			return faultRetry
		case e.Code == "23505":
			return faultConflict
		case e.Code == "55P03", e.Code == "57014":
			return faultBusy
		case e.Code == "53100", strings.HasPrefix(e.Code, "58"):
			return faultFull
		case e.Code == "25006":
			return faultReadOnly
		case strings.HasPrefix(e.Code, "08"), strings.HasPrefix(e.Code, "57P"), strings.HasPrefix(e.Code, "53"),
			e.Code == "25P03", e.Code == "25P04": // it ended a transaction that took too long, with its connection
			return faultDown
		}
		return faultOther
	}
	_, network := errors.AsType[net.Error](err)
	if network || pgconn.SafeToRetry(err) || pgconn.Timeout(err) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return faultDown
	}
	return faultOther
}

// postgresUndone tells an error with which the server refused to commit from the
// end of its connection, which may have come after the commit.
func postgresUndone(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.SeverityUnlocalized == "ERROR"
	}
	return errors.Is(err, pgx.ErrTxCommitRollback) || errors.Is(err, sql.ErrTxDone) || pgconn.SafeToRetry(err)
}

// sqliteNoRoom leaves out a failed sync, after which all may be in the log.
func sqliteNoRoom(err error) bool {
	switch sqliteCode(err) {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE:
		return true
	}
	return false
}

// sqliteCheckpoint waits for readers a moment only: writers wait for it.
func sqliteCheckpoint(ctx context.Context, db *sql.DB) (cut bool, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer func() {
		_, again := conn.ExecContext(ctx, "PRAGMA busy_timeout = "+pragmaTimeout(busyTimeout))
		err = errors.Join(err, again, conn.Close())
	}()
	if _, err := conn.ExecContext(ctx, "PRAGMA busy_timeout = 200"); err != nil {
		return false, err
	}
	var busy, pages, written int64
	err = conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &written)
	return err == nil && busy == 0, err
}

func sqliteIntegrity(ctx context.Context, db querier) ([]string, error) {
	var found []string
	rows, err := db.QueryContext(ctx, "PRAGMA integrity_check(20)")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return nil, err
		}
		for finding := range strings.Lines(line) { // a page's findings come in one row, below a heading
			if finding = strings.TrimSpace(finding); finding != "ok" && finding != "" && !strings.HasPrefix(finding, "***") {
				found = append(found, finding)
			}
		}
	}
	return found, rows.Err()
}
