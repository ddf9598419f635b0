package sqlstore

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// pipeline is a connection to PostgreSQL in a transaction. A statement whose result is not needed
// immediately is sent with the next one that is waited for.
type pipeline struct {
	ctx     context.Context //nolint:containedctx // it lives as long as the call that opened it
	conn    *pgx.Conn
	trace   func(string)
	queue   *pgx.Batch
	queries map[int][]*lookup // queries in the queue, by position
	texts   map[int]*string   // by position, where a statement in the queue puts its single value; for commit
	copying behind

	outstanding *outstanding    // nil if all results were read
	committing  func()          // called after the commit is sent, if outstanding results were as guessed
	unprepared  map[string]bool // texts to be prepared, so that they can be outstanding

	combined *sync.Map       // text -> combination, of the texts for which it is known
	wanted   map[string]bool // texts for which it is not known
}

// queuedError is the error of a statement that was sent together with others.
type queuedError struct {
	at  int // position of the statement in the pipeline
	err error
}

func (e *queuedError) Error() string { return e.err.Error() }
func (e *queuedError) Unwrap() error { return e.err }

// later implements link.
func (p *pipeline) later(text string, args []any) error {
	p.trace(text)
	if p.outstanding != nil {
		if p.mayBeOutstanding(text) {
			if err := p.put(text, args, nil); err != nil {
				return err
			}
			return p.outstanding.pipeline.Flush() // so that PostgreSQL runs it while the next one is being prepared
		}
		if err := p.await(); err != nil {
			return err
		}
	}
	if err := texts(args); err != nil {
		return err
	}
	p.queue.Queue(text, args...)
	return nil
}

// send sends the queued statements, after any rows that are being copied. The n results are then
// read one by one.
func (p *pipeline) send() (results pgx.BatchResults, n int, err error) {
	if err := errors.Join(p.copying.wait(), p.await()); err != nil {
		return nil, 0, err
	}
	n = p.queue.Len()
	results = p.conn.SendBatch(p.ctx, p.queue)
	p.queue, p.queries, p.texts = &pgx.Batch{}, nil, nil
	return results, n, nil
}

// passed reads the results of n statements that return no rows.
func passed(results pgx.BatchResults, n int) error {
	for i := range n {
		if _, err := results.Exec(); err != nil {
			return &queuedError{i, err}
		}
	}
	return nil
}

// each implements link.
func (p *pipeline) each(text string, args, dest []any, visit func() error) (err error) {
	if err := p.later(text, args); err != nil {
		return err
	}
	results, n, err := p.send()
	if err != nil {
		return err
	}
	defer closing(results, &err) // also when visit panics
	if err := passed(results, n-1); err != nil {
		return err
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	return p.eachRow(rows, func(row []any) error {
		if err := scanRow(row, dest); err != nil {
			return err
		}
		return visit()
	})
}

// closing reads the remaining results, and sets *err to the error of that unless it is already
// set.
func closing(results pgx.BatchResults, err *error) {
	if failed := results.Close(); *err == nil {
		*err = failed
	}
}

// fetch runs queries in one round trip.
func (p *pipeline) fetch(missing []*lookup) (err error) {
	for _, together := range p.grouped(missing) {
		if err := p.enqueue(together); err != nil {
			return err
		}
	}
	queries := p.queries
	results, n, err := p.send()
	if err != nil {
		return err
	}
	defer closing(results, &err)
	for i := range n {
		if together := queries[i]; together != nil {
			var rows pgx.Rows
			if rows, err = results.Query(); err == nil {
				err = p.collect(rows, together)
			}
		} else if _, err = results.Exec(); err != nil {
			err = &queuedError{i, err}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// collect stores the rows of a statement that answers several queries together.
func (p *pipeline) collect(rows pgx.Rows, together []*lookup) error {
	err := p.eachRow(rows, func(row []any) error {
		l := together[0]
		if len(together) > 1 {
			l, row = together[row[0].(int64)-1], row[1:]
		}
		if l.huge = l.huge || len(l.rows) == maxCombinedRows; !l.huge {
			l.rows = append(l.rows, slices.Clone(row))
		}
		return nil
	})
	for _, l := range together {
		l.known = err == nil
	}
	return err
}

// eachRow calls visit with each row.
func (p *pipeline) eachRow(rows pgx.Rows, visit func(row []any) error) (err error) {
	defer rows.Close()
	columns := rows.FieldDescriptions()
	row := make([]any, len(columns))
	for rows.Next() {
		for i, raw := range rows.RawValues() {
			if row[i], err = valueIn(p.conn.TypeMap(), columns[i].DataTypeOID, columns[i].Format, raw); err != nil {
				return fmt.Errorf("read column %d: %w", i+1, err)
			}
		}
		if err := visit(row); err != nil {
			rows.Close()
			if rows.Err() != nil {
				return rows.Err()
			}
			return err
		}
	}
	return rows.Err()
}

// valueIn decodes a value to the type that database/sql would return.
func valueIn(types *pgtype.Map, oid uint32, format int16, raw []byte) (any, error) {
	if raw == nil {
		return nil, nil //nolint:nilnil // NULL
	}
	if format == pgx.BinaryFormatCode {
		switch oid {
		case pgtype.Int2OID:
			return int64(int16(binary.BigEndian.Uint16(raw))), nil
		case pgtype.Int4OID:
			return int64(int32(binary.BigEndian.Uint32(raw))), nil
		case pgtype.Int8OID:
			return int64(binary.BigEndian.Uint64(raw)), nil
		case pgtype.Float8OID:
			return math.Float64frombits(binary.BigEndian.Uint64(raw)), nil
		case pgtype.BoolOID:
			return raw[0] != 0, nil
		case pgtype.ByteaOID:
			return append([]byte{}, raw...), nil
		}
	}
	var text string
	err := types.Scan(oid, format, raw, &text)
	return text, err
}

// scanRow scans the values of a row into dest.
func scanRow(row, dest []any) error {
	for i, to := range dest {
		scanner, is := to.(sql.Scanner)
		if !is {
			return fmt.Errorf("column %d goes to a %T, which is no sql.Scanner", i+1, to)
		}
		if err := scanner.Scan(row[i]); err != nil {
			return fmt.Errorf("scan: %w", err)
		}
	}
	return nil
}
