package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"
)

// direct is a connection to a SQLite file that goes past database/sql and past
// the lock which its driver takes for every value. It is for reading a whole
// school, where handing the values over costs more than finding them. It
// belongs to one goroutine.
type direct struct {
	conn  *sqlite.Conn
	trace func(string)
}

// openDirect opens a connection for reading. The end of the context ends a
// statement midway.
func openDirect(ctx context.Context, f *files, trace func(string)) (*direct, error) {
	if moved := f.look(); moved != nil {
		return nil, moved
	}
	conn, err := sqlite.OpenConn(f.path, sqlite.OpenReadOnly)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", f.path, err)
	}
	if moved := f.look(); moved != nil { // it may be another file that was opened
		return nil, errors.Join(moved, conn.Close())
	}
	conn.SetInterrupt(ctx.Done())
	return &direct{conn: conn, trace: trace}, nil
}

func (d *direct) close() error { return d.conn.Close() }

// each does as that of a session. The arguments are of type int64.
func (d *direct) each(text string, args, dest []any, visit func() error) (err error) {
	d.trace(text)
	statement, err := d.conn.Prepare(sqlitePlaceholders(text))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, statement.Reset()) }()
	for i, arg := range args {
		statement.BindInt64(i+1, arg.(int64))
	}
	for {
		more, err := statement.Step()
		if err != nil || !more {
			return err
		}
		for i, to := range dest {
			if n, is := to.(*number); is && statement.ColumnType(i) == sqlite.TypeInteger {
				n.take(statement.ColumnInt64(i))
				continue
			}
			if err := to.(sql.Scanner).Scan(valueOf(statement, i)); err != nil {
				return fmt.Errorf("scan: %w", err)
			}
		}
		if err := visit(); err != nil {
			return err
		}
	}
}

// valueOf gives a value as database/sql would.
func valueOf(s *sqlite.Stmt, i int) any {
	switch s.ColumnType(i) {
	case sqlite.TypeInteger:
		return s.ColumnInt64(i)
	case sqlite.TypeText:
		return s.ColumnText(i)
	case sqlite.TypeFloat:
		return s.ColumnFloat(i)
	case sqlite.TypeBlob:
		b := make([]byte, s.ColumnLen(i))
		return b[:s.ColumnBytes(i, b)]
	default:
		return nil
	}
}
