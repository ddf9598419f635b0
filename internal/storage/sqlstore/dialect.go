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

// fault classifies an engine's error by what it means to a writer.
type fault uint8

const (
	faultOther    fault = iota
	faultRetry          // conflict with another transaction: run again
	faultDown           // the engine cannot be reached, or is shutting down
	faultFull           // no space to write
	faultConflict       // a key is taken
	faultReadOnly       // the files cannot be written
	faultDamaged        // the files are not what the engine wrote
	faultBusy           // waiting for a lock, or running a statement, took too long
	faultBarred         // the role lacks rights, or a table is missing
)

// querier is a database or one connection of it.
type querier interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// dialect has everything that differs between the two engines.
type dialect struct {
	name       string
	goose      database.Dialect
	migrations string
	// newest is the file with the schema that results from migrating an empty database. New
	// databases are created from it in one go. Empty for an engine whose migrations run one by
	// one.
	newest string
	// versioned is a query that reports whether the table of schema versions exists.
	versioned string
	// schemaTurn waits until no other process is changing the schema; empty for an engine that
	// has one writer at a time.
	schemaTurn string

	// rebind translates a statement with $n placeholders into one for the engine.
	rebind func(string) string
	// cancellable reports whether a context may interrupt a statement. SQLite connections have
	// been seen to return SQLITE_INTERRUPT forever after.
	cancellable bool
	// pipelined reports whether a statement is a round trip, so that the statements of a
	// change are sent together, and whether one that fails ends its transaction unless there
	// is a savepoint.
	pipelined bool
	// writers is how many groups of changes run at the same time, followers how many more may
	// wait for the commit of one of them, and slow how many more run for schools that another
	// transaction locks for long.
	writers, followers, slow int
	// turn waits until no other transaction is changing a school, and then keeps the others
	// waiting; empty for an engine that has one writer at a time. turns does so for several
	// schools, one after the other.
	turn, turns string
	// indexed makes a query use an index where SQLite would prefer another one. It goes after
	// the name of the table.
	indexed func(name string) string
	// earlierTerms is a query for the elements of p.earlier_terms of a pricing plan: their place in
	// the list, until in microseconds, and frequency.
	earlierTerms string
	ddl          ddl
	// references is a query for the pairs of tables of which the first refers to the second.
	references string
	// lease acquires or extends a lease; empty for an engine whose database is served by one
	// process.
	lease string
	// now is an expression for the time of the database, in microseconds; empty for an engine
	// whose database is served by one process.
	now string
	// origin is a text expression for JournalEnds.Origin.
	origin string
	// tableSizes lists the tables by name with their bytes and those of their indexes, and
	// fileSize returns the bytes of everything and how many of them are free.
	tableSizes, fileSize string
	// movePage shortens the file by a page, if its pages can be moved. fileSpace returns the
	// bytes of the file, how many of them are free, and a number that is not 0 if pages can be
	// moved. Both are empty for an engine that has no such file.
	movePage, fileSpace string
	// replan makes the queries of a transaction be planned for their actual values and for
	// many rows; empty for an engine that plans a text only once in any case.
	replan string
	// fault classifies an error of the driver.
	fault func(error) fault
	// undone reports whether an error at commit means that the engine kept nothing. After any
	// other error the outcome is unknown.
	undone func(error) bool
	// noRoom reports whether an error means that the log could not be extended, so that
	// nothing of the transaction is in it. checkpoint writes the log back and truncates it,
	// and reports whether it could. Both are nil for an engine that manages its log itself.
	noRoom     func(error) bool
	checkpoint func(context.Context, *sql.DB) (bool, error)
	// estimate tells the engine how many rows its indexes find, if it does not count them
	// itself.
	estimate func(context.Context, schemaDB) error
	// integrity lists the damage that the engine itself finds.
	integrity func(context.Context, querier) ([]string, error)
	// schemas returns the objects of a database, and those that the migrations create. Both are
	// nil if the role may not create a schema to compare with.
	schemas func(context.Context, *sql.Tx) (got, want map[string]object, err error)
}

// schoolLocks distinguishes the locks of schools from other locks in the database.
const schoolLocks = "1819894629"

// postgresOrigin is the system identifier, which a copy of the files shares, and the timeline,
// which a promotion changes. pg_control_checkpoint would show the new timeline only some time
// after the promotion.
const (
	postgresOrigin = `(SELECT system_identifier::text || '/' || CASE WHEN pg_is_in_recovery() THEN '-'
		ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END FROM pg_control_system())`
	noOrigin = "''"
)

// A table WITHOUT ROWID is an index of the same name. The triggers that replace foreign keys
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

// hasty returns a statement that takes a turn but gives up waiting for it after wait;
// afterwards locks are waited for up to others.
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
		earlierTerms: "SELECT e.key AS place, unixepoch(e.value ->> 'until') * 1000000 AS until, " +
			"e.value ->> 'frequency' AS frequency FROM json_each(p.earlier_terms) e",
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
		schemas:    sqliteSchemas,
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
		earlierTerms: "SELECT e.place, " +
			"CAST(extract(epoch FROM CAST(e.value ->> 'until' AS timestamptz)) * 1000000 AS BIGINT) AS until, " +
			"e.value ->> 'frequency' AS frequency " +
			"FROM json_array_elements(CAST(p.earlier_terms AS json)) WITH ORDINALITY e (value, place)",
		ddl:        postgresDDL,
		lease:      postgresLease,
		now:        postgresNow,
		origin:     postgresOrigin,
		references: postgresReferences,
		tableSizes: postgresTableSizes,
		fileSize:   "SELECT pg_database_size(current_database()), CAST(0 AS BIGINT)",
		turn:       "SELECT pg_advisory_xact_lock(" + schoolLocks + ", $1)",
		turns:      "SELECT count(pg_advisory_xact_lock(" + schoolLocks + ", s)) FROM unnest($1::int4[]) s",
		replan:     planAgain,
		fault:      postgresFault,
		undone:     postgresUndone,
		estimate:   func(context.Context, schemaDB) error { return nil },
		integrity:  func(context.Context, querier) ([]string, error) { return nil, nil },
		schemas:    postgresSchemas,
	}
}

// planOnce makes PostgreSQL plan a text once, whatever its values, and as for a page. By
// default it plans each page again for its limit, which can take several times as long as
// reading it. Without knowing the limit it expects many rows and would join whole tables, so
// those joins are turned off.
const planOnce = "SET plan_cache_mode = force_generic_plan; SET enable_hashjoin = off; SET enable_mergejoin = off"

// planAgain undoes planOnce until the transaction ends.
const planAgain = "SELECT set_config('plan_cache_mode', 'auto', true), set_config('enable_hashjoin', 'on', true), " +
	"set_config('enable_mergejoin', 'on', true)"

// byPrimaryKey goes after the name of a table that has another index on the columns of its
// primary key. By default SQLite uses that one and then has to look up the row as well.
const byPrimaryKey = " /* by primary key */"

var byPrimaryKeyOf = regexp.MustCompile(`([a-z_]+)` + regexp.QuoteMeta(byPrimaryKey))

// byYear goes after the user_id of transactions in a condition for the school $1. SQLite has
// the index of users by year: buyers come in no particular order, so that in an index of all
// times each transaction would change a different page. A user is looked up in every year in
// which the school sold something.
const byYear = " /* by year */"

var byYearOf = regexp.MustCompile(`(t\.)?user_id` + regexp.QuoteMeta(byYear))

// year is 365 days in microseconds.
const year = "31536000000000"

// years selects the years in which a school sold something. Each is found from the one before.
const years = `(WITH RECURSIVE sold(n) AS (
	SELECT (SELECT q.created_at / ` + year + ` FROM transactions q INDEXED BY transactions_user
		WHERE q.school_id = $1 ORDER BY q.created_at / ` + year + ` LIMIT 1)
	UNION ALL SELECT (SELECT q.created_at / ` + year + ` FROM transactions q INDEXED BY transactions_user
		WHERE q.school_id = $1 AND q.created_at / ` + year + ` > n ORDER BY q.created_at / ` + year + ` LIMIT 1)
	FROM sold WHERE n IS NOT NULL)
	SELECT n FROM sold WHERE n IS NOT NULL)`

// opaque keeps SQLite from looking at values while it plans, and so from planning a statement
// again whenever different values are bound: another limit, or 0 or 1 instead of some other
// id.
var opaque = strings.NewReplacer("LIMIT $", "LIMIT +$", "= $", "= +$")

// sqliteText translates a statement into one for SQLite.
func sqliteText(text string) string {
	text = byPrimaryKeyOf.ReplaceAllString(text, "$1 INDEXED BY sqlite_autoindex_${1}_1")
	text = byYearOf.ReplaceAllString(text, "${1}created_at / "+year+" IN "+
		strings.ReplaceAll(years, "$", "$$")+" AND ${1}user_id")
	return sqlitePlaceholders(opaque.Replace(text))
}

// sqlitePlaceholders replaces $n with SQLite's placeholders. Numbers that simply count up
// become a bare ?: SQLite keeps a numbered one as a name, and the driver looks every name up
// in a list, which for a statement with a thousand of them costs more than running it.
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
		// A table is also undefined if the role lacks rights in its schema.
		case e.Code == "42501", e.Code == "42P01", e.Code == "3F000":
			return faultBarred
		case strings.HasPrefix(e.Code, "08"), strings.HasPrefix(e.Code, "57P"), strings.HasPrefix(e.Code, "53"),
			e.Code == "25P03", e.Code == "25P04": // the server ended a transaction that took too long, and its connection
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

// postgresUndone distinguishes an error with which the server refused to commit from the loss
// of the connection, which may have come after the commit.
func postgresUndone(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.SeverityUnlocalized == "ERROR"
	}
	return errors.Is(err, pgx.ErrTxCommitRollback) || errors.Is(err, sql.ErrTxDone) || pgconn.SafeToRetry(err)
}

// sqliteNoRoom excludes a failed sync, after which everything may be in the log.
func sqliteNoRoom(err error) bool {
	switch sqliteCode(err) {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE:
		return true
	}
	return false
}

// sqliteCheckpoint waits for readers only briefly, because writers wait for it.
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
		for finding := range strings.Lines(line) { // the findings about a page are in one row, below a heading
			if finding = strings.TrimSpace(finding); finding != "ok" && finding != "" && !strings.HasPrefix(finding, "***") {
				found = append(found, finding)
			}
		}
	}
	return found, rows.Err()
}
