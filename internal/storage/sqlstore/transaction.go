package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"zombiezen.com/go/sqlite"
)

// change calls do in a transaction that may write, and commits if do returns true. On SQLite,
// unkeyed turns off the enforcement of foreign keys.
func (p *pool) change(ctx context.Context, unkeyed bool, do func(*session) (commit bool, err error)) error {
	if p.dialect.pipelined {
		return p.changePostgres(ctx, do)
	}
	return p.changeSQLite(ctx, unkeyed, do)
}

// writer is the connection that writes a SQLite file, bypassing database/sql. It is opened on
// first use, and used by one goroutine.
type writer struct {
	files   *files
	pragmas []string
	conn    *direct
}

func (w *writer) open(trace func(string)) (*direct, error) {
	if w.conn != nil {
		return w.conn, nil
	}
	d, err := openDirect(w.files, trace, sqlite.OpenReadWrite, w.pragmas...)
	if err == nil {
		w.conn = d
	}
	return d, err
}

func (w *writer) close() error {
	if w == nil || w.conn == nil {
		return nil
	}
	return w.conn.close()
}

func (p *pool) changeSQLite(ctx context.Context, unkeyed bool, do func(*session) (commit bool, err error)) (err error) {
	d, err := p.writer.open(p.trace)
	if err != nil {
		return err
	}
	if err := d.setUnkeyed(unkeyed); err != nil {
		return err
	}
	if err := d.run("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() { // also if do panics; some errors end the transaction themselves
		_ = d.inserting.wait()
		if d.conn.AutocommitEnabled() {
			return
		}
		if failed := d.run("ROLLBACK"); failed != nil { // closing it rolls back, too
			err = errors.Join(err, failed, p.writer.close())
			p.writer.conn = nil
		}
	}()
	commit, err := do(&session{ctx: p.context(ctx), pool: p, link: d})
	if err != nil || !commit {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := d.run("COMMIT"); err != nil {
		return &commitError{err}
	}
	return nil
}

// onPostgres calls do with a connection that begins a transaction with its first statement.
func (p *pool) onPostgres(ctx context.Context, begin string, do func(*pipeline) error) error {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return conn.Raw(func(raw any) error {
		q := &pipeline{ctx: ctx, conn: raw.(*stdlib.Conn).Conn(), trace: p.trace, queue: &pgx.Batch{}, combined: &p.combined}
		defer func() { // also if do panics
			q.rollBack()
			q.learn()
			q.prepare()
		}()
		q.queue.Queue(begin)
		return do(q)
	})
}

func (p *pool) snapshotPostgres(ctx context.Context, read func(*session) error) error {
	return p.onPostgres(ctx, "BEGIN READ ONLY ISOLATION LEVEL REPEATABLE READ", func(q *pipeline) error {
		return read(&session{ctx: ctx, pool: p, link: q})
	})
}

func (p *pool) changePostgres(ctx context.Context, do func(*session) (commit bool, err error)) error {
	return p.onPostgres(ctx, "BEGIN", func(q *pipeline) error {
		commit, err := do(&session{ctx: ctx, pool: p, link: q})
		if err != nil || !commit {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := q.commit(); err != nil {
			return err
		}
		if overtaken(q.conn.PgConn()) {
			return &commitError{errOvertaken}
		}
		return nil
	})
}

// rollBack ends a transaction that was not committed. If there is no response, the connection is
// not used again.
func (p *pipeline) rollBack() {
	_ = p.copying.wait()
	p.abandon()
	if p.conn.IsClosed() || p.conn.PgConn().TxStatus() == 'I' {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _ = p.conn.Exec(ctx, "ROLLBACK")
}

// commit sends the queued statements and commits. If the database rejected a queued statement,
// the error is a queuedError, and nothing was saved.
func (p *pipeline) commit() error {
	if p.outstanding != nil {
		return p.commitOutstanding()
	}
	p.queue.Queue(commitText)
	texts := p.texts
	results, n, err := p.send()
	if err != nil {
		return err
	}
	for i := range n {
		var tag pgconn.CommandTag
		if to := texts[i]; to != nil {
			err = results.QueryRow().Scan(to)
		} else {
			tag, err = results.Exec()
		}
		if err := committed(i, n, tag, err); err != nil {
			_ = results.Close()
			return err
		}
	}
	if err := results.Close(); err != nil {
		return &commitError{err}
	}
	return nil
}

// committed returns the error of commit for the result of statement i of n, the last of which is
// the commit.
func committed(i, n int, tag pgconn.CommandTag, err error) error {
	switch _, rejected := errors.AsType[*pgconn.PgError](err); {
	case err == nil && i == n-1 && tag.String() == "ROLLBACK":
		return &commitError{pgx.ErrTxCommitRollback}
	case err == nil:
		return nil
	case rejected && i < n-1:
		return &queuedError{i, err}
	}
	return &commitError{err}
}
