package sqlstore

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"
)

// direct is a connection to a SQLite file that bypasses database/sql and the lock that its
// driver takes for every value: passing the values on costs more than finding them. It belongs
// to one goroutine.
type direct struct {
	conn  *sqlite.Conn
	trace func(string)
	kept  map[string]*sqlite.Stmt // not in use, by text with $n

	unkeyed   bool // foreign keys are not enforced; only on a connection that may write
	inserting behind
}

// openDirect opens a connection and sets pragmas on it.
func openDirect(f *files, trace func(string), flags sqlite.OpenFlags, pragmas ...string) (*direct, error) {
	if moved := f.look(); moved != nil {
		return nil, moved
	}
	conn, err := sqlite.OpenConn(f.path, flags)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", f.path, err)
	}
	if moved := f.look(); moved != nil { // another file may have been opened
		return nil, errors.Join(moved, conn.Close())
	}
	conn.SetBusyTimeout(busyTimeout)
	d := &direct{conn: conn, trace: trace, kept: map[string]*sqlite.Stmt{}}
	for _, pragma := range pragmas {
		if err := d.run("PRAGMA " + pragma); err != nil {
			return nil, errors.Join(err, d.close())
		}
	}
	return d, nil
}

func (d *direct) close() error {
	return errors.Join(d.forget(), d.conn.Close())
}

// each implements link.
func (d *direct) each(text string, args, dest []any, visit func() error) error {
	if err := d.inserting.wait(); err != nil {
		return err
	}
	d.trace(text)
	return d.step(text, args, dest, visit)
}

// later implements link. It runs the statement immediately, because that costs no round trip.
func (d *direct) later(text string, args []any) error {
	return d.each(text, args, nil, nothing)
}

// insert runs a statement with many rows while the change continues. The caller may overwrite
// the arguments as soon as it returns. If the statement fails, the transaction is lost: SQLite
// need not record how to undo what the statement did until then.
func (d *direct) insert(text string, args []any) {
	text = strings.Replace(text, "INSERT ", "INSERT OR FAIL ", 1)
	d.trace(text)
	args = slices.Clone(args)
	d.inserting.add(func() error { return d.step(text, args, nil, nothing) })
}

// run runs a statement that returns no rows and is not one of a change.
func (d *direct) run(text string) error {
	if err := d.inserting.wait(); err != nil {
		return err
	}
	return d.step(text, nil, nil, nothing)
}

// setUnkeyed turns off, or on, the enforcement of foreign keys on a connection that may write,
// between transactions. SQLite prepares all statements again when that changes.
func (d *direct) setUnkeyed(unkeyed bool) error {
	if d.unkeyed == unkeyed {
		return nil
	}
	value := "1"
	if unkeyed {
		value = "0"
	}
	err := d.run("PRAGMA foreign_keys = " + value)
	if err == nil {
		d.unkeyed = unkeyed
	}
	return err
}

func nothing() error { return nil }

func (d *direct) step(text string, args, dest []any, visit func() error) (err error) {
	statement, done, err := d.statement(text)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	for i, arg := range args {
		if err := bindValue(statement, i+1, arg); err != nil {
			return err
		}
	}
	for {
		more, err := statement.Step()
		if err != nil || !more {
			return err
		}
		for i, to := range dest {
			if err := scanValue(statement, i, to); err != nil {
				return fmt.Errorf("scan: %w", err)
			}
		}
		if err := visit(); err != nil {
			return err
		}
	}
}

// statement returns the kept statement for a text, or a new one while that is in use: visit
// may run the same query again. Values stay bound until others are, because clearing them
// would make SQLite plan some statements again.
func (d *direct) statement(text string) (s *sqlite.Stmt, done func() error, err error) {
	s, found := d.kept[text]
	if found {
		delete(d.kept, text)
	} else if s, _, err = d.conn.PrepareTransient(sqliteText(text)); err != nil {
		return nil, nil, err
	}
	return s, func() error {
		if _, again := d.kept[text]; again {
			return s.Finalize()
		}
		err := s.Reset()
		if len(d.kept) >= maxKept {
			err = errors.Join(err, d.forget())
		}
		d.kept[text] = s
		return err
	}, nil
}

// maxKept is how many statements a connection keeps. Some texts contain the id of a course.
const maxKept = 1_000

// forget finalizes the kept statements.
func (d *direct) forget() error {
	var err error
	for _, s := range d.kept {
		err = errors.Join(err, s.Finalize())
	}
	clear(d.kept)
	return err
}

// bindValue binds a value as database/sql would.
func bindValue(s *sqlite.Stmt, i int, value any) error {
	switch v := value.(type) {
	case int64:
		s.BindInt64(i, v)
	case string:
		s.BindText(i, v)
	case []byte:
		s.BindBytes(i, v)
	case float64:
		s.BindFloat(i, v)
	case bool:
		s.BindBool(i, v)
	case nil:
		s.BindNull(i)
	default:
		v, err := driver.DefaultParameterConverter.ConvertValue(v)
		if err != nil {
			return fmt.Errorf("argument %d: %w", i, err)
		}
		return bindValue(s, i, v)
	}
	return nil
}

func scanValue(s *sqlite.Stmt, i int, to any) error {
	switch to := to.(type) {
	case *number:
		if s.ColumnType(i) == sqlite.TypeInteger {
			to.take(s.ColumnInt64(i))
			return nil
		}
		return to.Scan(valueOf(s, i))
	case *textScanner:
		if s.ColumnType(i) == sqlite.TypeText {
			return to.take(s.ColumnText(i))
		}
		return to.Scan(valueOf(s, i))
	case *valueColumn:
		to.value = valueOf(s, i)
		return nil
	}
	scanner, is := to.(sql.Scanner)
	if !is {
		return fmt.Errorf("column %d goes to a %T, which is no sql.Scanner", i+1, to)
	}
	return scanner.Scan(valueOf(s, i))
}

// valueOf returns the value of a column as database/sql would.
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
