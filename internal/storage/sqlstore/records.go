package sqlstore

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// recordType is the type that PostgreSQL has for the rows of a table.
type recordType struct {
	oid, array uint32 // of the type, and of arrays of it
	columns    []recordColumn
}

type recordColumn struct {
	name string
	oid  uint32 // of its type
}

// recordTypes maps tables to the types of their rows.
type recordTypes map[string]*recordType

// readRecords reads the types of the rows of all tables from PostgreSQL. A column that was
// dropped is no part of a record.
func (p *pool) readRecords(ctx context.Context) (recordTypes, error) {
	rows, err := p.db.QueryContext(ctx, `SELECT c.relname, CAST(t.oid AS BIGINT), CAST(t.typarray AS BIGINT), a.attname,
		CAST(a.atttypid AS BIGINT) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = c.reltype
		WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind = 'r' AND c.relnamespace = (SELECT relnamespace FROM pg_class
			WHERE oid = 'schools'::regclass) ORDER BY c.relname, a.attnum`)
	if err != nil {
		return nil, fmt.Errorf("read types of rows: %w", err)
	}
	defer rows.Close()
	types := recordTypes{}
	for rows.Next() {
		var table string
		var of recordType
		var column recordColumn
		if err := rows.Scan(&table, &of.oid, &of.array, &column.name, &column.oid); err != nil {
			return nil, fmt.Errorf("read types of rows: %w", err)
		}
		if types[table] == nil {
			types[table] = &of
		}
		types[table].columns = append(types[table].columns, column)
	}
	return types, rows.Err()
}

// recordInsertion is a statement that inserts rows that are given as one array of records.
type recordInsertion struct {
	of     *recordType
	text   string
	places []int // for each column of the type, its place among the inserted values, or -1
}

// recordInsertion returns the statement that inserts rows with the given columns and the school,
// or nil if the type of the rows is not known.
func (p *pool) recordInsertion(table, columns string) *recordInsertion {
	if kept, ok := p.recordInsertions.Load(table); ok {
		return kept.(*recordInsertion)
	}
	of := p.records[table]
	if of == nil {
		return nil
	}
	names := append([]string{"school_id"}, strings.Split(columns, ", ")...)
	list := strings.Join(names, ", ")
	r := &recordInsertion{
		of: of, text: "INSERT INTO " + table + " (" + list + ") SELECT " + list + " FROM unnest($1::" + table + "[])",
	}
	for _, c := range of.columns {
		r.places = append(r.places, slices.Index(names, c.name))
	}
	p.recordInsertions.Store(table, r)
	return r
}

// encoded is an argument in binary form. It is sent before its bytes are overwritten.
type encoded []byte

// binary appends the records in binary form: an array of one dimension, as for array.binary, whose
// elements are records. A record consists of the number of its columns, and of the type and the
// value of each; see record_recv in the source of PostgreSQL. It reports false if a value cannot
// be encoded as the type of its column.
func (r *recordInsertion) binary(b []byte, rows int, values []any) (_ []byte, ok bool) {
	put := binary.BigEndian.AppendUint32
	b = put(put(put(b, 1), 0), r.of.oid)
	b = put(put(b, uint32(rows)), 1)
	for row := range slices.Chunk(values, len(values)/rows) {
		begin := len(b)
		b = put(put(b, 0), uint32(len(r.of.columns)))
		for i, c := range r.of.columns {
			var value any
			if place := r.places[i]; place >= 0 {
				value = row[place]
			}
			if b, _, ok = appendBinary(put(b, c.oid), c.oid, value); !ok {
				return b, false
			}
		}
		binary.BigEndian.PutUint32(b[begin:], uint32(len(b)-begin-4))
	}
	return b, true
}

// insertionOfRecords is insertion for outstanding statements. To PostgreSQL, an array of records is
// less work than an array for each column. ok is false if the statement is not prepared, is
// prepared for another type, or cannot have these values.
func (p *pipeline) insertionOfRecords(of *pool, table, columns string, rows int, values []any) (
	text string, args []any, ok bool,
) {
	r := of.recordInsertion(table, columns)
	if p.outstanding == nil || r == nil || !p.mayBeOutstanding(r.text) {
		return "", nil, false
	}
	prepared := p.ofConnection()
	if params := prepared.of[r.text].ParamOIDs; len(params) != 1 || params[0] != r.of.array {
		return "", nil, false
	}
	b, ok := r.binary(prepared.records[:0], rows, values)
	if cap(b) <= maxBinary {
		prepared.records = b
	}
	return r.text, []any{encoded(b)}, ok
}
