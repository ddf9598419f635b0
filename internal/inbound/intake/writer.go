package intake

import (
	"fmt"
	"io"
)

// Format is how rows are written.
type Format uint8

// The formats rows are written in.
const (
	CSV       Format = iota // a header, then one record a row; lines end in \n
	JSONLines               // one of the contract's objects a line
)

// flushAt is how many bytes a writer collects before it writes them out.
const flushAt = 64 << 10

// Writer writes rows that a Reader of the same kind reads back as they were.
// It is not for use by several goroutines at once.
type Writer[T any] struct {
	w       io.Writer
	columns []column[T]
	lead    []string // what stands before each column's value
	enc     encoder
	err     error
}

// NewWriter makes a writer of rows to w. The caller ends with Flush. In CSV
// the header is written even when no row follows, with the columns in the
// contract's order.
func NewWriter[T any](kind Kind[T], w io.Writer, format Format) *Writer[T] {
	out := &Writer[T]{w: w, enc: encoder{format: format}}
	if format == CSV {
		out.columns = kind.columns
		out.enc.raw(columnNames(kind.columns, ",") + "\n")
	} else {
		out.columns = jsonColumns(kind.columns)
	}
	for i, k := range out.columns {
		out.lead = append(out.lead, lead(format, i, k.name))
	}
	return out
}

// jsonColumns are the columns that a JSON object has as members of its own.
func jsonColumns[T any](all []column[T]) []column[T] {
	var members []column[T]
	for _, k := range all {
		if !k.csvOnly {
			members = append(members, k)
		}
	}
	return members
}

func lead(format Format, i int, name string) string {
	switch {
	case format == JSONLines && i == 0:
		return `{"` + name + `":`
	case format == JSONLines:
		return `,"` + name + `":`
	case i == 0:
		return ""
	}
	return ","
}

// Write writes one row. It fails when an earlier write failed. The years of
// the row's times must be from 0 to 9999.
func (w *Writer[T]) Write(v *T) error {
	for i := range w.columns {
		w.enc.raw(w.lead[i])
		w.columns[i].write(&w.enc, v)
	}
	if w.enc.format == JSONLines {
		w.enc.raw("}")
	}
	w.enc.raw("\n")
	if len(w.enc.buf) < flushAt {
		return w.err
	}
	return w.Flush()
}

// Flush writes out what has been collected.
func (w *Writer[T]) Flush() error {
	if w.err == nil && len(w.enc.buf) > 0 {
		if _, err := w.w.Write(w.enc.buf); err != nil {
			w.err = fmt.Errorf("write rows: %w", err)
		}
	}
	w.enc.buf = w.enc.buf[:0]
	return w.err
}
