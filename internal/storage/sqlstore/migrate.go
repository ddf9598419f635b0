package sqlstore

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lyceum-school/lyceum"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations
var migrationFiles embed.FS

// migration takes the schema from one version to the next.
type migration struct {
	version    int64
	name       string // of its file, without number and extension
	statements []string
}

// Step is a migration that ran.
type Step struct {
	Version int64
	Name    string
	Changes []Changes
	Took    time.Duration
}

// Changes is how many rows a migration wrote to a table.
type Changes struct {
	Table string
	Rows  int64
}

// readMigrations returns the dialect's migrations in order.
func (d *dialect) readMigrations() ([]migration, error) {
	names, err := fs.Glob(migrationFiles, d.migrations+"/*.sql")
	if err != nil {
		return nil, err
	}
	list := make([]migration, len(names))
	for i, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, err
		}
		text, err := fs.ReadFile(migrationFiles, name)
		if err != nil {
			return nil, err
		}
		_, plain, _ := strings.Cut(strings.TrimSuffix(path.Base(name), ".sql"), "_")
		list[i] = migration{version, plain, splitStatements(string(text))}
	}
	return list, nil
}

// splitStatements splits a migration into statements. A statement ends with a semicolon at the
// end of a line, outside $$. A comment belongs to the statement after it.
func splitStatements(text string) []string {
	var statements []string
	begun := false // within $$
	for part := range strings.SplitAfterSeq(text, ";\n") {
		if begun {
			statements[len(statements)-1] += part
		} else if strings.TrimSpace(part) != "" {
			statements = append(statements, part)
		}
		begun = begun != (strings.Count(part, "$$")%2 == 1)
	}
	return statements
}

// written matches a statement that writes rows, and captures its table.
var written = regexp.MustCompile(`(?m)\A(?:\s*(?:--.*)?$)*\s*(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)`)

// run executes the statements one by one and counts the rows that each writes, then does the
// migration's work in Go, if any.
func (m *migration) run(ctx context.Context, tx *sql.Tx, d *dialect) (Step, error) {
	step, begin := Step{Version: m.version, Name: m.name}, time.Now()
	for _, text := range m.statements {
		result, err := tx.ExecContext(ctx, text)
		if err != nil {
			return step, fmt.Errorf("%05d_%s: %w", m.version, m.name, err)
		}
		found := written.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		rows, err := result.RowsAffected()
		if err != nil {
			return step, err
		}
		step.count(found[1], rows)
	}
	if work := works[m.name]; work != nil {
		changes, err := work(ctx, tx, d)
		if err != nil {
			return step, fmt.Errorf("%05d_%s: %w", m.version, m.name, err)
		}
		step.Changes = append(step.Changes, changes...)
	}
	step.Took = time.Since(begin)
	return step, nil
}

func (s *Step) count(table string, rows int64) {
	for i := range s.Changes {
		if s.Changes[i].Table == table {
			s.Changes[i].Rows += rows
			return
		}
	}
	s.Changes = append(s.Changes, Changes{table, rows})
}

// versions returns goose's store for the version table.
func (d *dialect) versions() (database.Store, error) {
	return database.NewStore(d.goose, goose.DefaultTablename)
}

// noSchema is the schema version of a new database.
const noSchema = -1

// schemaVersion returns the version of a database's schema, and the migrations that it has run.
// If the database lacks a migration with a lower number than the newest one, the version is the
// one before that gap.
func (d *dialect) schemaVersion(
	ctx context.Context, db database.DBTxConn, list []migration,
) (version int64, ran map[int64]bool, err error) {
	var versioned bool
	if err := db.QueryRowContext(ctx, d.versioned).Scan(&versioned); err != nil || !versioned {
		return noSchema, nil, err
	}
	versions, err := d.versions()
	if err != nil {
		return 0, nil, err
	}
	rows, err := versions.ListMigrations(ctx, db)
	if err != nil {
		return 0, nil, err
	}
	ran = map[int64]bool{}
	for _, row := range rows {
		ran[row.Version] = row.IsApplied
		version = max(version, row.Version)
	}
	if version > newestOf(list) {
		return version, ran, nil
	}
	version = 0
	for i := range list {
		if !ran[list[i].version] {
			break
		}
		version = list[i].version
	}
	return version, ran, nil
}

// newestOf returns the version after all migrations.
func newestOf(list []migration) int64 { return list[len(list)-1].version }

// schemaChange is a transaction in which no other process can change the schema.
type schemaChange struct {
	ctx        context.Context //nolint:containedctx // of the transaction
	tx         *sql.Tx
	dialect    *dialect
	migrations []migration
	ran        map[int64]bool // by version
	from, to   int64          // versions; to is this program's newest
}

// beginSchema starts a schemaChange. It waits up to wait for other processes that are changing
// the schema.
func (d *dialect) beginSchema(ctx context.Context, db *sql.DB, wait time.Duration) (*schemaChange, error) {
	list, err := d.readMigrations()
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, d.schemaBusy(err)
	}
	c := &schemaChange{ctx: ctx, tx: tx, dialect: d, migrations: list, to: newestOf(list)}
	if d.schemaTurn != "" {
		for _, text := range []string{
			"SET LOCAL lock_timeout = " + strconv.FormatInt(wait.Milliseconds(), 10),
			d.schemaTurn,
		} {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				_ = tx.Rollback()
				return nil, d.schemaBusy(err)
			}
		}
	}
	if c.from, c.ran, err = d.schemaVersion(ctx, tx, list); err != nil {
		_ = tx.Rollback()
		return nil, fmt.Errorf("read schema version: %w", err)
	}
	return c, nil
}

func (d *dialect) schemaBusy(err error) error {
	if f := d.fault(err); f != faultBusy && f != faultRetry {
		return err
	}
	return &lyceum.Error{
		Kind:   lyceum.Unavailable,
		Detail: "another process is creating or upgrading the database; try again when it has finished", Err: err,
	}
}

// schemaLock takes the advisory lock under which versions of lyceum change the schema of a
// PostgreSQL database.
var schemaLock = "SELECT pg_advisory_xact_lock(" + strconv.FormatInt(lock.DefaultLockID, 10) + ")"

// run runs the migrations up to a version. It calls announce before each one.
func (c *schemaChange) run(to int64, announce func(*migration)) ([]Step, error) {
	versions, err := c.begin()
	if err != nil {
		return nil, err
	}
	var steps []Step
	for i := range c.migrations {
		m := &c.migrations[i]
		if c.ran[m.version] || m.version > to {
			continue
		}
		announce(m)
		step, err := m.run(c.ctx, c.tx, c.dialect)
		if err == nil {
			err = versions.Insert(c.ctx, c.tx, database.InsertRequest{Version: m.version})
		}
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// begin returns goose's store for the version table, which it creates in a new database.
func (c *schemaChange) begin() (database.Store, error) {
	versions, err := c.dialect.versions()
	if err != nil || c.from != noSchema {
		return versions, err
	}
	if err := versions.CreateVersionTable(c.ctx, c.tx); err != nil {
		return nil, err
	}
	return versions, versions.Insert(c.ctx, c.tx, database.InsertRequest{})
}

// create creates the newest schema in a new database. The result is the same as that of running
// all migrations, in a tenth of the time.
func (c *schemaChange) create() error {
	if c.dialect.newest == "" {
		_, err := c.run(c.to, func(*migration) {})
		return err
	}
	text, err := fs.ReadFile(migrationFiles, c.dialect.newest)
	if err != nil {
		return err
	}
	versions, err := c.begin()
	if err != nil {
		return err
	}
	if _, err := c.tx.ExecContext(c.ctx, string(text)); err != nil {
		return err
	}
	for i := range c.migrations {
		request := database.InsertRequest{Version: c.migrations[i].version}
		if err := versions.Insert(c.ctx, c.tx, request); err != nil {
			return err
		}
	}
	return nil
}

func (c *schemaChange) hasSchools() (has bool, err error) {
	if c.from < 1 {
		return false, nil
	}
	err = c.tx.QueryRowContext(c.ctx, "SELECT EXISTS (SELECT 1 FROM schools)").Scan(&has)
	return has, err
}

// migrate creates or updates the schema of a database that has no school yet. A database with
// schools has to be upgraded with lyceum upgrade, which makes a backup first.
func (s *Store) migrate(ctx context.Context, o *Options) error {
	current, newest, err := s.SchemaVersion(ctx)
	if err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	if current > newest {
		return newerSchema(current, newest)
	}
	if current == newest || o.AnySchema && current != noSchema {
		return nil
	}
	c, err := s.dialect.beginSchema(ctx, s.schemaDB(), s.patience)
	if err != nil {
		return s.public(err)
	}
	defer func() { _ = c.tx.Rollback() }()
	if c.from >= c.to {
		return nil // another process was faster
	}
	has, err := c.hasSchools()
	if err != nil {
		return s.public(err)
	}
	if has {
		return olderSchema(c.from, c.to)
	}
	if c.from == noSchema {
		err = c.create()
	} else {
		_, err = c.run(c.to, func(*migration) {})
	}
	if err != nil {
		return s.public(fmt.Errorf("migrate schema: %w", err))
	}
	return s.public(c.tx.Commit())
}

// knowsSchema returns an error if the schema of a database is newer than this program. A server that
// could not reach the database during an upgrade would otherwise continue with the new schema.
func knowsSchema(ctx context.Context, conn *pgx.Conn) error {
	list, err := postgresMigrations()
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	var is sql.NullInt64
	err = conn.QueryRow(ctx, "SELECT max(version_id) FROM "+goose.DefaultTablename, pgx.QueryExecModeExec).Scan(&is)
	if missing, refused := errors.AsType[*pgconn.PgError](err); refused && missing.Code == "42P01" {
		return nil // a new database
	}
	if err == nil && is.Int64 > newestOf(list) {
		err = newerSchema(is.Int64, newestOf(list))
	}
	return err
}

var postgresMigrations = sync.OnceValues(func() ([]migration, error) { return postgresDialect().readMigrations() })

func newerSchema(current, newest int64) error {
	return lyceum.Errorf(lyceum.Unavailable,
		"the database has schema version %d but this lyceum only knows versions up to %d; run a newer lyceum, or "+
			"restore a backup made by this one", current, newest)
}

func olderSchema(current, newest int64) error {
	return lyceum.Errorf(lyceum.Unavailable,
		"the database has schema version %d and this lyceum needs version %d; stop every program that uses the database, "+
			"then run lyceum upgrade, which makes a backup first (lyceum upgrade --dry-run shows what it changes)",
		current, newest)
}

// Openable returns an error if a file is not a SQLite database or its schema is not the version
// of this program. No process may have the file open.
func Openable(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", sqliteDSN(path, Full, "mode=ro&immutable=1"))
	if err != nil {
		return err
	}
	defer db.Close()
	d := sqliteDialect()
	list, err := d.readMigrations()
	if err != nil {
		return err
	}
	current, _, err := d.schemaVersion(ctx, db, list)
	newest := newestOf(list)
	switch {
	case err != nil:
		return d.public(err)
	case current > newest:
		return newerSchema(current, newest)
	case current < newest:
		return olderSchema(current, newest)
	}
	return nil
}

// schemaDB returns the pool whose connections may change the schema and whose statements may take
// long.
func (s *Store) schemaDB() *sql.DB {
	if s.dialect.name == "sqlite" {
		return s.writes.db
	}
	return s.reads.db
}

// SchemaVersion returns the version of the database's schema and the newest version that this
// program knows.
func (s *Store) SchemaVersion(ctx context.Context) (current, newest int64, err error) {
	list, err := s.dialect.readMigrations()
	if err != nil {
		return 0, 0, fmt.Errorf("read migrations: %w", err)
	}
	current, _, err = s.dialect.schemaVersion(s.writes.context(ctx), s.schemaDB(), list)
	return current, newestOf(list), s.public(s.dialect.schemaBusy(err))
}
