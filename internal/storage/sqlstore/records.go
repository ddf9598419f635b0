package sqlstore

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgtype"
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

// recordInsertion is how rows are inserted that are given as one array of records.
type recordInsertion struct {
	of     *recordType
	table  string
	names  []string // of the inserted columns
	places []int    // for each column of the type, its place among the inserted values, or -1
	text   string
	others sync.Map // which columns follow counters -> text; see textFollowing
}

// recordInsertion returns how to insert rows with the given columns and the school, or nil if the
// type of the rows is not known.
func (p *pool) recordInsertion(table, columns string) *recordInsertion {
	if kept, ok := p.asRecords.Load(table); ok {
		return kept.(*recordInsertion)
	}
	of := p.records[table]
	if of == nil {
		return nil
	}
	r := &recordInsertion{of: of, table: table, names: append([]string{"school_id"}, strings.Split(columns, ", ")...)}
	for _, c := range of.columns {
		r.places = append(r.places, slices.Index(r.names, c.name))
	}
	r.text = r.textFrom(r.names, "unnest($1::"+table+"[])")
	p.asRecords.Store(table, r)
	return r
}

func (r *recordInsertion) textFrom(shown []string, from string) string {
	return "INSERT INTO " + r.table + " (" + strings.Join(r.names, ", ") + ") SELECT " + strings.Join(shown, ", ") +
		" FROM " + from
}

// textFollowing is text for rows some of whose columns follow counters, as insertFollowingText is.
func (r *recordInsertion) textFollowing(following []bool) string {
	key := fmt.Sprint(following)
	if kept, ok := r.others.Load(key); ok {
		return kept.(string)
	}
	shown, from := make([]string, len(r.names)), "ROWS FROM (unnest($1::"+r.table+"[])"
	var as, places []string
	for _, c := range r.of.columns {
		as = append(as, c.name)
	}
	for i, name := range r.names {
		if shown[i] = "u." + name; following[i] {
			places = append(places, fmt.Sprintf("y%d", i+1))
			from += fmt.Sprintf(", unnest($%d::int4[])", 1+len(places))
			shown[i] += followed(places[len(places)-1])
		}
	}
	text := r.textFrom(shown, from+") u ("+strings.Join(append(as, places...), ", ")+") WHERE "+ifRight)
	r.others.Store(key, text)
	return text
}

// encoded is an argument in binary form. If the statement does not wait in the queue, it is sent
// before its bytes are overwritten.
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

// insertionOfRecords is insertion with a text of recordInsertion. To PostgreSQL, an array of records
// is less work than an array for each column. ok is false if the statement is not prepared, is
// prepared for another type, or cannot have these values.
func (p *pipeline) insertionOfRecords(r *recordInsertion, text string, rows int, values []any) (args []any, ok bool) {
	if !p.mayBeOutstanding(text) {
		return nil, false
	}
	prepared, types := p.ofConnection(), p.conn.TypeMap()
	if params := prepared.of[text].ParamOIDs; len(params) == 0 || params[0] != r.of.array {
		return nil, false
	}
	if _, known := types.TypeForOID(r.of.array); !known {
		types.RegisterType(&pgtype.Type{Name: r.table + "[]", OID: r.of.array, Codec: pgtype.ByteaCodec{}})
	}
	if p.outstanding == nil { // it waits in the queue
		b, ok := r.binary(nil, rows, values)
		return []any{encoded(b)}, ok
	}
	b, ok := r.binary(prepared.records[:0], rows, values)
	if cap(b) <= maxBinary {
		prepared.records = b
	}
	return []any{encoded(b)}, ok
}

// insertRecords inserts rows of a table as records, and reports whether it could.
func (g *group) insertRecords(table, columns string, rows int, values []any) (bool, error) {
	p, pipelined := g.session.link.(*pipeline)
	r := g.session.pool.recordInsertion(table, columns)
	if !pipelined || r == nil || g.alone {
		return false, nil
	}
	text := r.text
	if g.compared {
		text += " WHERE " + ifRight
	}
	args, ok := p.insertionOfRecords(r, text, rows, values)
	if !ok {
		return false, nil
	}
	return true, g.later(text, args...)
}
