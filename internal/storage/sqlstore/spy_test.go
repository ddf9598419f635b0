package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// spy stands between database/sql and SQLite. It notes the statements, and those
// that a context could end midway, and can lose what a commit answers.
type spy struct {
	sqlite driver.Driver
	dsn    string

	mu      sync.Mutex
	endable []string
	seen    []string
	lost    error
}

func (s *spy) Driver() driver.Driver { return s.sqlite }

func (s *spy) Connect(context.Context) (driver.Conn, error) {
	conn, err := s.sqlite.Open(s.dsn)
	return &spiedConn{Conn: conn, spy: s}, err
}

func (s *spy) see(ctx context.Context, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, text)
	if ctx.Done() != nil {
		s.endable = append(s.endable, text)
	}
}

type spiedConn struct {
	driver.Conn
	spy *spy
}

func (c *spiedConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	c.spy.see(ctx, text)
	stmt, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, text)
	return &spiedStmt{stmt, c.spy, text}, err
}

func (c *spiedConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	c.spy.see(ctx, text)
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, text, args)
}

func (c *spiedConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	c.spy.see(ctx, text)
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, text, args)
}

func (c *spiedConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	c.spy.see(ctx, "BEGIN")
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
	return &spiedTx{tx, c.spy}, err
}

type spiedStmt struct {
	driver.Stmt
	spy  *spy
	text string
}

func (s *spiedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.spy.see(ctx, s.text)
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

func (s *spiedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.spy.see(ctx, s.text)
	return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
}

type spiedTx struct {
	driver.Tx
	spy *spy
}

func (t *spiedTx) Commit() error {
	err := t.Tx.Commit()
	t.spy.mu.Lock()
	defer t.spy.mu.Unlock()
	return errors.Join(err, t.spy.lost)
}

// spied opens a store on a database file through a spy.
func spied(t *testing.T) (*Store, *spy) {
	t.Helper()
	path := filepath.Join(t.TempDir(), FileName)
	known, err := sql.Open("sqlite", "")
	if err != nil {
		t.Fatal(err)
	}
	defer known.Close()
	by := &spy{sqlite: known.Driver(), dsn: sqliteDSN(path, Full, "_txlock=immediate")}
	db := sql.OpenDB(by)
	db.SetMaxOpenConns(1)
	s, err := start(t.Context(), sqliteDialect(), nil, db, db, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	by.mu.Lock()
	by.endable = nil // of the migration, after which a connection that was interrupted is closed
	by.mu.Unlock()
	return s, by
}

// TestSQLiteIsNeverInterrupted: no context that can end reaches a connection
// to SQLite, which would be of no use to those who come after.
func TestSQLiteIsNeverInterrupted(t *testing.T) {
	t.Parallel()
	s, by := spied(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	school, err := s.CreateSchool(ctx, lyceum.School{Name: "Fernwood", CreatedAt: storetest.Begin}, "test")
	if err != nil {
		t.Fatal(err)
	}
	stamp := lyceum.Stamp{School: school.ID, At: storetest.Begin, Actor: "test"}
	for name, ask := range map[string]func() error{
		"ping":   func() error { return s.Ping(ctx) },
		"schema": func() error { _, _, err := s.SchemaVersion(ctx); return err },
		"read":   func() error { _, err := s.FindSchools(ctx); return err },
		"each": func() error {
			v := s.In(ctx, school.ID)
			return v.Users.Each(v, lyceum.UserFilter{}, func(*lyceum.User) error { return nil })
		},
		"write": func() error {
			return s.Write(ctx, stamp, func(tx lyceum.Tx) error { return tx.ChangeSchool(func(s *lyceum.School) { s.V2Disabled = true }) })
		},
		"sweep": func() error { return s.Sweep(ctx, school.ID, lyceum.Expired{Until: storetest.Begin}) },
		"bookkeep": func() error {
			return s.Bookkeep(ctx, lyceum.Bookkeeping{KeyUses: []lyceum.KeyUse{{School: school.ID, Key: 1}}})
		},
	} {
		if err := ask(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	by.mu.Lock()
	defer by.mu.Unlock()
	for _, text := range by.endable {
		t.Errorf("a context could end %q", text)
	}
}

// TestR22_UnknownOutcomeSQLite: after an error at commit nobody is told that
// nothing was changed.
func TestR22_UnknownOutcomeSQLite(t *testing.T) {
	t.Parallel()
	s, by := spied(t)
	school := storetest.MakeSchool(t, s)
	by.mu.Lock()
	by.lost = errors.New("disk I/O error")
	by.mu.Unlock()
	err := s.Write(t.Context(), lyceum.Stamp{School: school, At: storetest.Begin, Actor: "test"}, func(tx lyceum.Tx) error { return tx.ChangeSchool(func(s *lyceum.School) { s.V2Disabled = true }) })
	wantUnknown(t, err)
	if kept, err := s.In(t.Context(), school).GetSchool(); err != nil || !kept.V2Disabled {
		t.Errorf("this one was kept after all: %v, %v", kept, err)
	}
}

// ranTexts are the statements that a store ran.
type ranTexts struct {
	mu    sync.Mutex
	texts []string
}

func (r *ranTexts) note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts = append(r.texts, text)
}

// take gives those since it was called before.
func (r *ranTexts) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	texts := r.texts
	r.texts = nil
	return texts
}
