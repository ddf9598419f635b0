package sqlstore_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// pooling is how long a client of a pooler keeps a session of the server.
type pooling int

const (
	bySession pooling = iota
	byTransaction
	byStatement
)

// pooler is a connection pooler such as PgBouncer. By transaction and by statement, it accepts
// only simple queries without parameters.
type pooler struct {
	t       testing.TB
	mode    pooling
	place   string
	idle    chan *pgconn.HijackedConn // nil for sessions that were not opened yet
	clients atomic.Uint32
}

// newPooler starts a pooler with a number of sessions, and returns the URL of a database behind
// it.
func newPooler(t testing.TB, place string, mode pooling, sessions int) string {
	t.Helper()
	p := &pooler{t: t, mode: mode, place: place, idle: make(chan *pgconn.HijackedConn, sessions)}
	for range sessions {
		p.idle <- nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(func() {
		cancel()
		_ = l.Close()
	})
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(ctx, client)
		}
	}()
	at, err := url.Parse(place)
	if err != nil {
		t.Fatal(err)
	}
	return "postgres://lyceum@" + l.Addr().String() + at.Path + "?connect_timeout=10" // which a busy machine does not need for an answer
}

// session waits for a session of the server.
func (p *pooler) session(ctx context.Context) (*pgconn.HijackedConn, error) {
	select {
	case s := <-p.idle:
		if s != nil {
			return s, nil
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	conn, err := pgconn.Connect(ctx, p.place)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = conn.Conn().Close() })
	return conn.Hijack()
}

func (p *pooler) serve(ctx context.Context, client net.Conn) {
	stop := context.AfterFunc(ctx, func() { _ = client.Close() })
	defer stop()
	defer client.Close()
	backend := pgproto3.NewBackend(client, client)
	for {
		message, err := backend.ReceiveStartupMessage()
		if err != nil {
			return
		}
		if _, start := message.(*pgproto3.StartupMessage); start {
			break
		}
		if _, err := client.Write([]byte("N")); err != nil { // no TLS
			return
		}
	}
	for _, message := range []pgproto3.BackendMessage{
		&pgproto3.AuthenticationOk{},
		&pgproto3.ParameterStatus{Name: "server_encoding", Value: "UTF8"},
		&pgproto3.BackendKeyData{ProcessID: 1<<30 + p.clients.Add(1), SecretKey: []byte{1, 2, 3, 4}},
		&pgproto3.ReadyForQuery{TxStatus: 'I'},
	} {
		backend.Send(message)
	}
	if backend.Flush() != nil {
		return
	}
	if p.mode == bySession {
		p.lend(ctx, client)
		return
	}
	for p.transaction(ctx, backend) {
	}
}

// lend gives a client a session from its first query until it disconnects.
func (p *pooler) lend(ctx context.Context, client net.Conn) {
	first := make([]byte, 1<<16)
	n, err := client.Read(first)
	if err != nil {
		return
	}
	s, err := p.session(ctx)
	if err != nil {
		return
	}
	defer func() { p.idle <- nil }()
	defer s.Conn.Close()
	if _, err := s.Conn.Write(first[:n]); err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(client, s.Conn)
		_ = client.Close()
	}()
	_, _ = io.Copy(s.Conn, client)
}

// transaction runs the queries of a client until the transaction has ended, and reports whether
// there may be more.
func (p *pooler) transaction(ctx context.Context, backend *pgproto3.Backend) bool {
	var s *pgconn.HijackedConn
	for {
		message, err := backend.Receive()
		query, is := message.(*pgproto3.Query)
		if err != nil || !is {
			if s != nil {
				_ = s.Conn.Close()
				p.idle <- nil
			}
			return false
		}
		if p.mode == byStatement && query.String == "BEGIN" {
			backend.Send(&pgproto3.ErrorResponse{
				Severity: "FATAL", Code: "08P01", Message: "transaction blocks not allowed in statement pooling mode",
			})
			_ = backend.Flush()
			return false
		}
		if s == nil {
			if s, err = p.session(ctx); err != nil {
				return false
			}
		}
		s.Frontend.Send(query)
		status, err := forward(s.Frontend, backend)
		if err != nil {
			return false
		}
		if status == 'I' {
			p.idle <- s
			return true
		}
	}
}

// forward sends a query to the server and its results to the client, and returns the transaction
// status.
func forward(server *pgproto3.Frontend, client *pgproto3.Backend) (byte, error) {
	if err := server.Flush(); err != nil {
		return 0, err
	}
	for {
		message, err := server.Receive()
		if err != nil {
			return 0, err
		}
		client.Send(message)
		if ready, is := message.(*pgproto3.ReadyForQuery); is {
			return ready.TxStatus, client.Flush()
		}
	}
}

// TestPoolers checks that a server works behind a session pooler with enough sessions, and that
// otherwise servers and commands report at the start what is wrong.
func TestPoolers(t *testing.T) {
	t.Parallel()
	const (
		shared = " is behind a connection pooler in which transactions share sessions; use session pooling, or name "
		few    = " is behind a connection pooler that gives this process only 25 of the 26 connections that it needs; make "
		silent = " accepts connections, but does not answer; if it is a connection pooler, make its pool larger"
	)
	for _, test := range []struct {
		name     string
		mode     pooling
		sessions int
		server   bool
		want     string
	}{
		{"a server", bySession, 26, true, ""},
		{"a server, too few", bySession, 25, true, few},
		{"a command", bySession, 4, false, ""},
		{"used up", bySession, 0, false, silent},
		{"used up by one", bySession, 1, false, silent},
		{"transactions", byTransaction, 3, false, shared},
		{"transactions, one session", byTransaction, 1, false, shared},
		{"statements", byStatement, 3, false, shared},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			place := newPooler(t, storetest.EmptyPostgres(t), test.mode, test.sessions)
			store, err := sqlstore.OpenPostgres(t.Context(), place, sqlstore.Options{Primary: test.server})
			if test.want != "" {
				if e := lyceum.Public(err); e.Kind != lyceum.Unavailable || !strings.Contains(e.Detail, test.want) {
					t.Errorf("the error is %v, want %q", err, test.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			school := storetest.MakeSchool(t, store)
			storetest.Write(t, store, school, func(tx lyceum.Tx) error {
				tx.Note(lyceum.SchoolUpdated, int32(school))
				return nil
			})
		})
	}
}

// TestPoolersOfUpgrades checks that commands that need exclusive use of the database refuse any
// pooler, and change nothing.
func TestPoolersOfUpgrades(t *testing.T) {
	t.Parallel()
	place := newPooler(t, storetest.EmptyPostgres(t), bySession, 4)
	const want = "is behind a connection pooler, which hides whether others use the database"
	_, err := sqlstore.UpgradePostgres(t.Context(), place, sqlstore.UpgradeOptions{})
	if e := lyceum.Public(err); !strings.Contains(e.Detail, want) {
		t.Errorf("an upgrade: %v", err)
	}
	err = sqlstore.RestorePostgres(t.Context(), place, sqlstore.RestoreOptions{})
	if e := lyceum.Public(err); !strings.Contains(e.Detail, want) {
		t.Errorf("a restore: %v", err)
	}
}

// TestStatementsArePrepared uses URLs that ask for another mode, as examples for poolers do.
func TestStatementsArePrepared(t *testing.T) {
	t.Parallel()
	place := storetest.EmptyPostgres(t)
	for _, option := range []string{"default_query_exec_mode=simple_protocol", "statement_cache_capacity=0"} {
		at, err := url.Parse(place)
		if err != nil {
			t.Fatal(err)
		}
		at.RawQuery = strings.Trim(at.RawQuery+"&"+option, "&")
		store, err := sqlstore.OpenPostgres(t.Context(), at.String(), sqlstore.Options{})
		if err != nil {
			t.Fatal(option, err)
		}
		defer store.Close()
		school := storetest.MakeSchool(t, store)
		if last, err := store.In(t.Context(), school).LastEntry(); err != nil || last == 0 {
			t.Errorf("%s: the last entry is %d, %v", option, last, err)
		}
	}
}
