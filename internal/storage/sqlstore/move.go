package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lyceum-school/lyceum"
)

// Moved is what MoveToPostgres copied.
type Moved struct {
	Schools int
	Rows    int64
}

// movedAtOnce is how many rows one COPY sends. PostgreSQL checks their references at its end, and
// until then keeps a note of each row in memory.
const movedAtOnce = 50_000

// MoveToPostgres copies the SQLite database in a data folder into a PostgreSQL database without
// schools, in one transaction: if it fails, nothing was copied. Everything keeps its id, and
// sessions, keys and the numbers of the journal remain valid. Nothing can be written to the SQLite
// database meanwhile, and it is left as it is. It refuses a database of an older version, and
// with Conflict a PostgreSQL database that has schools or is in use. Progress is called with the
// number of rows copied so far, and of all.
func MoveToPostgres(
	ctx context.Context, dir, address string, progress func(done, all int64),
) (moved Moved, err error) {
	config, err := postgresConfig(address)
	if err != nil {
		return moved, err
	}
	if err := unpooled(ctx, config); err != nil {
		return moved, err
	}
	from, err := Open(ctx, dir, Options{})
	if err != nil {
		return moved, err
	}
	if err := from.Close(); err != nil {
		return moved, err
	}
	if err := newPostgres(ctx, config, address); err != nil {
		return moved, err
	}
	db, err := sql.Open("sqlite", sqliteDSN(filepath.Join(dir, FileName), Full, "_txlock=immediate"))
	if err != nil {
		return moved, err
	}
	defer db.Close()
	read, err := db.BeginTx(ctx, nil) // nobody else can write until it ends
	if err != nil {
		return moved, sqliteDialect().public(err)
	}
	defer func() { _ = read.Rollback() }() // it changes nothing
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return moved, unreachable(config, err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, strings.Join(unhurried, "; ")); err != nil {
		return moved, postgresDialect().public(err)
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		moved, err = moveTables(ctx, read, tx, progress)
		return err
	})
	return moved, postgresDialect().public(err)
}

// newPostgres creates the schema in a database that nothing else uses, unless it exists already.
func newPostgres(ctx context.Context, config *pgx.ConnConfig, address string) error {
	db := postgresPool(config, 1)
	err := unusedPostgres(ctx, db)
	if err = errors.Join(err, db.Close()); err != nil {
		return unopened(config, postgresDialect().public(err))
	}
	to, err := OpenPostgres(ctx, address, Options{Primary: true})
	if err != nil {
		return err
	}
	return to.Close()
}

// moveTables copies all tables, each after those that it refers to.
func moveTables(
	ctx context.Context, from *sql.Tx, to pgx.Tx, progress func(done, all int64),
) (moved Moved, err error) {
	if _, err := to.Exec(ctx, "LOCK TABLE schools IN EXCLUSIVE MODE"); err != nil {
		return moved, err
	}
	if err := to.QueryRow(ctx, "SELECT count(*) FROM schools").Scan(&moved.Schools); err != nil {
		return moved, err
	}
	if moved.Schools > 0 {
		return moved, lyceum.Errorf(lyceum.Conflict, "the PostgreSQL database already has schools; create an empty one")
	}
	tables, err := tablesToMove(ctx, from)
	if err != nil {
		return moved, err
	}
	all := int64(0)
	for i := range tables {
		var rows int64
		if err := from.QueryRowContext(ctx, "SELECT count(*) FROM "+tables[i].name).Scan(&rows); err != nil {
			return moved, err
		}
		all += rows
	}
	for i := range tables {
		rows, err := tables[i].move(ctx, from, to, func(rows int64) { progress(moved.Rows+rows, all) })
		if err != nil {
			return moved, fmt.Errorf("copy %s: %w", tables[i].name, unmovable(tables[i].name, err))
		}
		moved.Rows += rows
	}
	if moved.Rows != all {
		return moved, fmt.Errorf("%d of %d rows were copied", moved.Rows, all)
	}
	if err := from.QueryRowContext(ctx, "SELECT count(*) FROM schools").Scan(&moved.Schools); err != nil {
		return moved, err
	}
	_, err = to.Exec(ctx, "ANALYZE")
	return moved, err
}

// unmovable explains what PostgreSQL rejects although SQLite stored it.
func unmovable(table string, err error) error {
	const notInRepertoire, untranslatable = "22021", "22P05"
	refused, is := errors.AsType[*pgconn.PgError](err)
	if !is || refused.Code != notInRepertoire && refused.Code != untranslatable {
		return err
	}
	return &lyceum.Error{Kind: lyceum.Conflict, Err: err, Detail: "a text in the table " + table + " is not valid UTF-8 " +
		"or contains a NUL character, which PostgreSQL cannot store; correct it and repeat the command"}
}

// movedTable is a table of which all columns are copied.
type movedTable struct {
	name    string
	columns []string
	after   []string // tables that it refers to
}

// tablesToMove returns the tables of a SQLite database, each after those that it refers to. A
// PostgreSQL database has the same tables and columns.
func tablesToMove(ctx context.Context, tx *sql.Tx) ([]movedTable, error) {
	// The names cannot contain the separators.
	rows, err := tx.QueryContext(ctx, `SELECT name, (SELECT group_concat(c.name) FROM pragma_table_info(m.name) c),
		COALESCE((SELECT group_concat(DISTINCT f."table") FROM pragma_foreign_key_list(m.name) f), '')
		FROM sqlite_schema m WHERE type = 'table' AND name NOT LIKE 'sqlite#_%' ESCAPE '#' AND name <> 'goose_db_version'`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var tables []movedTable
	for rows.Next() {
		var t movedTable
		var columns, after string
		if err := rows.Scan(&t.name, &columns, &after); err != nil {
			return nil, err
		}
		t.columns, t.after = strings.Split(columns, ","), strings.Split(after, ",")
		tables = append(tables, t)
	}
	return dependenciesFirst(tables), rows.Err()
}

// dependenciesFirst sorts tables so that each comes after those that it refers to.
func dependenciesFirst(tables []movedTable) (sorted []movedTable) {
	begun := map[string]bool{}
	var add func(name string)
	add = func(name string) {
		i := slices.IndexFunc(tables, func(t movedTable) bool { return t.name == name })
		if i < 0 || begun[name] {
			return
		}
		begun[name] = true
		for _, other := range tables[i].after {
			add(other)
		}
		sorted = append(sorted, tables[i])
	}
	for i := range tables {
		add(tables[i].name)
	}
	return sorted
}

// move copies the rows of the table and returns their number. Progress is called with the number
// so far.
func (t *movedTable) move(
	ctx context.Context, from *sql.Tx, to pgx.Tx, progress func(rows int64),
) (done int64, err error) {
	rows, err := from.QueryContext(ctx, "SELECT "+strings.Join(t.columns, ", ")+" FROM "+t.name)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	values, pointers := make([]any, len(t.columns)), make([]any, len(t.columns))
	for i := range values {
		pointers[i] = &values[i]
	}
	for more := rows.Next(); more; {
		sent := 0
		n, err := to.CopyFrom(ctx, pgx.Identifier{t.name}, t.columns, pgx.CopyFromFunc(func() ([]any, error) {
			if !more || sent == movedAtOnce {
				return nil, nil
			}
			if err := rows.Scan(pointers...); err != nil {
				return nil, err
			}
			sent++
			more = rows.Next()
			return values, nil
		}))
		if err != nil {
			return done, err
		}
		done += n
		progress(done)
	}
	return done, rows.Err()
}
