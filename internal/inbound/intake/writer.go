package intake

import (
	"fmt"
	"io"
)

// Format is a format of exported rows.
type Format uint8

// The formats of exported rows.
const (
	CSV       Format = iota // a header, then one record per row; lines end in \n
	JSONLines               // one object of the contract per line
)

// flushAt is how many bytes a writer buffers before it writes them.
const flushAt = 64 << 10

// Writer writes rows that a Reader of the same kind reads back unchanged. It is not safe
// for concurrent use.
type Writer[T any] struct {
	w       io.Writer
	columns []column[T]
	lead    []string // prefix of each column's value
	enc     encoder
	err     error
}

// NewWriter returns a writer of rows to w. The caller must end with Flush. In CSV the
// header, with the columns in the contract's order, is written even if no row follows.
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

// jsonColumns returns the columns that are top-level members in JSON.
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

// Write writes one row. It fails if an earlier write failed. The years of the row's times
// must be from 0 to 9999.
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

// Flush writes what is buffered.
func (w *Writer[T]) Flush() error {
	if w.err == nil && len(w.enc.buf) > 0 {
		if _, err := w.w.Write(w.enc.buf); err != nil {
			w.err = fmt.Errorf("write rows: %w", err)
		}
	}
	w.enc.buf = w.enc.buf[:0]
	return w.err
}
