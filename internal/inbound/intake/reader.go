package intake

import (
	"cmp"
	"io"
)

// maxName is the size in bytes of the longest name of a column that is kept.
const maxName = 100

// Row is one row read. Value is valid when Problems is empty.
type Row[T any] struct {
	Line     int // physical line on which the row begins, from 1
	Value    T
	Problems []Problem
}

// Problem is one thing wrong with one row. Message is worded to follow the
// name of the column, or "the row" when Column is empty: "must not be empty".
// It holds nothing of what stood in the cell.
type Problem struct {
	Line    int // physical line, from 1
	Column  string
	Message string
}

// rowReader is a reader of one format.
type rowReader[T any] interface {
	next() (Row[T], error)
	ignored() []string
	remembers() *memo
	// lineAt is the physical line at the window's start, or nil where rows cannot be read
	// without those before them.
	lineAt() *int
}

// Reader reads rows one after another in bounded memory. It is not for use by
// several goroutines at once.
type Reader[T any] struct {
	src  *source
	rows rowReader[T]
}

// NewReader finds out the format of r and reads as far as the first row. It
// fails with Invalid when the file is empty, is no text in UTF-8, its header
// lacks a column or names one twice, or its gzip data is damaged.
func NewReader[T any](kind Kind[T], r io.Reader) (*Reader[T], error) {
	src, err := newSource(r)
	if err != nil {
		return nil, err
	}
	read := &Reader[T]{src: src}
	switch first := src.firstSign(); first {
	case '{', '[':
		read.rows, err = newJSONRows(kind, src)
	default:
		read.rows, err = newCSVRows(kind, src)
	}
	if err != nil {
		return nil, err
	}
	return read, nil
}

// Next gives the next row, good or bad. At the end of the file the error is
// io.EOF; any other error ends the file too, and is Invalid when the file is
// to blame.
func (r *Reader[T]) Next() (Row[T], error) {
	row, err := r.rows.next()
	return row, cmp.Or(r.rows.remembers().failed, err)
}

// Rewrite makes f put other texts in the place of those that are read, JSON too. Its
// error ends the file.
func (r *Reader[T]) Rewrite(f func(text []byte) ([]byte, error)) { r.rows.remembers().rewrite = f }

// sectioned reports whether a section can be read without the rows before it.
func (r *Reader[T]) sectioned() bool { return r.rows.lineAt() != nil && !r.src.zipped }

// place is where the next row begins.
func (r *Reader[T]) place() (at section) {
	if r.sectioned() {
		at.offset, at.line = r.src.passed, *r.rows.lineAt()
	}
	return at
}

// Ignored names the columns that the file has and the kind has not: those of
// the header in CSV, in JSON those met so far, a hundred at most.
func (r *Reader[T]) Ignored() []string { return r.rows.ignored() }

// Offset is how many bytes of the input have been fetched, as they were before
// unzipping. It runs ahead of the rows by what is buffered.
func (r *Reader[T]) Offset() int64 { return r.src.input.n }
