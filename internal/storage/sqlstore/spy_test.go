package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// watched is a driver between database/sql and SQLite. It records the statements that a context
// could interrupt.
type watched struct {
	sqlite driver.Driver
	dsn    string

	mu      sync.Mutex
	endable []string
}

func (s *watched) Driver() driver.Driver { return s.sqlite }

func (s *watched) Connect(context.Context) (driver.Conn, error) {
	conn, err := s.sqlite.Open(s.dsn)
	return &watchedConn{Conn: conn, by: s}, err
}

func (s *watched) see(ctx context.Context, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Done() != nil {
		s.endable = append(s.endable, text)
	}
}

type watchedConn struct {
	driver.Conn
	by *watched
}

func (c *watchedConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	c.by.see(ctx, text)
	stmt, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, text)
	return &watchedStmt{stmt, c.by, text}, err
}

func (c *watchedConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	c.by.see(ctx, text)
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, text, args)
}

func (c *watchedConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	c.by.see(ctx, text)
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, text, args)
}

func (c *watchedConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	c.by.see(ctx, "BEGIN")
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
}

type watchedStmt struct {
	driver.Stmt
	by   *watched
	text string
}

func (s *watchedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.by.see(ctx, s.text)
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

func (s *watchedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.by.see(ctx, s.text)
	return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
}

// opened opens a store on a SQLite file with the connections that open returns.
func opened(t *testing.T, o Options, open func(of *files, dsn string) (*sql.DB, error)) *Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), FileName)
	before, err := writable(path)
	if err != nil {
		t.Fatal(err)
	}
	o.Synchronous = Full
	of := &files{path: path, cache: cachePragma(0)}
	reads, readsErr := open(of, sqliteDSN(path, Full, "_txlock=immediate"))
	writes, writesErr := open(of, sqliteDSN(path, Full, "_txlock=immediate"))
	if err := errors.Join(readsErr, writesErr); err != nil {
		t.Fatal(err)
	}
	writes.SetMaxOpenConns(1)
	s, err := start(t.Context(), sqliteDialect(), of, reads, writes, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := of.remember(before); err != nil {
		t.Fatal(err)
	}
	return s
}

// spy records statements as SQLite receives them.
type spy struct {
	mu   sync.Mutex
	seen []string
}

func (s *spy) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, sqliteText(text))
}

// statements returns the statements that a read runs, at least one.
func (s *spy) statements(t *testing.T, name string, read func() error) []string {
	t.Helper()
	s.mu.Lock()
	s.seen = nil
	s.mu.Unlock()
	if err := read(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen) == 0 {
		t.Fatalf("%s: nothing was asked", name)
	}
	return slices.Clone(s.seen)
}

// planOf returns the steps of SQLite's plan for a statement.
func planOf(t *testing.T, store *Store, text string) (plan []string) {
	t.Helper()
	for _, step := range lines(t, store, "EXPLAIN QUERY PLAN "+placeholder.ReplaceAllString(text, "1"), 4) {
		plan = append(plan, step[3])
	}
	return plan
}

// spied opens a store on a SQLite file whose statements a spy records.
func spied(t *testing.T) (*Store, *spy) {
	t.Helper()
	by := &spy{}
	return opened(t, Options{Trace: by.note}, (*files).open), by
}

// TestSQLiteIsNeverInterrupted checks that no context that can be canceled reaches a connection
// of database/sql to SQLite, which would be unusable afterwards.
func TestSQLiteIsNeverInterrupted(t *testing.T) {
	t.Parallel()
	known, err := sql.Open("sqlite", "")
	if err != nil {
		t.Fatal(err)
	}
	defer known.Close()
	by := &watched{sqlite: known.Driver()}
	s := opened(t, Options{}, func(_ *files, dsn string) (*sql.DB, error) {
		by.dsn = dsn
		return sql.OpenDB(by), nil
	})
	by.mu.Lock()
	by.endable = nil // of the migration, after which an interrupted connection is closed
	by.mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, _, err := s.SchemaVersion(ctx); err != nil {
		t.Error(err)
	}
	by.mu.Lock()
	defer by.mu.Unlock()
	for _, text := range by.endable {
		t.Errorf("a context could end %q", text)
	}
}

// TestR22_UnknownOutcomeSQLite checks that after an error at commit, it is not reported that
// nothing was changed.
func TestR22_UnknownOutcomeSQLite(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	school := storetest.MakeSchool(t, s)
	storetest.Write(t, s, school, func(tx lyceum.Tx) error {
		return tx.Authors.Insert(tx, lyceum.AuthorProfile{ID: 1})
	})
	err = s.write(t.Context(), school, func(q *session) error { // SQLite refuses to commit that
		return errors.Join(q.exec("PRAGMA defer_foreign_keys = 1"), q.exec("DELETE FROM schools"))
	})
	wantUnknown(t, err)
	storetest.Write(t, s, school, func(tx lyceum.Tx) error {
		return tx.ChangeSchool(func(s *lyceum.School) { s.V2Disabled = true })
	})
	if kept, err := s.In(t.Context(), school).GetSchool(); err != nil || !kept.V2Disabled {
		t.Errorf("afterwards: %v, %v", kept, err)
	}
}

// ranTexts records the statements that a store ran.
type ranTexts struct {
	mu    sync.Mutex
	texts []string
}

func (r *ranTexts) note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts = append(r.texts, text)
}

// take returns the statements since the last call.
func (r *ranTexts) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	texts := r.texts
	r.texts = nil
	return texts
}
