package intake

import (
	"cmp"
	"io"
)

// maxName is the maximum size of a remembered column name, in bytes.
const maxName = 100

// Row is one row of a file. Value is valid if Problems is empty.
type Row[T any] struct {
	Line     int // physical line on which the row begins, from 1
	Value    T
	Problems []Problem
}

// Problem is one thing that is wrong with a row. Message is phrased to follow the name of
// the column, or "the row" if Column is empty: "must not be empty". It contains nothing of
// the cell.
type Problem struct {
	Line    int // physical line, from 1
	Column  string
	Message string
}

// rowReader reads one format.
type rowReader[T any] interface {
	next() (Row[T], error)
	ignored() []string
	remembers() *memo
	// lineAt returns the physical line at the start of the window, or nil if rows cannot be
	// read without those before them.
	lineAt() *int
}

// Reader reads rows one after another in bounded memory. It is not safe for concurrent
// use.
type Reader[T any] struct {
	src  *source
	rows rowReader[T]
}

// NewReader detects the format of r and reads up to the first row. It fails with Invalid
// if the file is empty or not UTF-8 text, if its header lacks a required column or repeats
// one, or if its gzip data is corrupt.
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

// Next returns the next row, valid or not. At the end of the file the error is io.EOF. Any
// other error ends the file, too; it is Invalid if the file is the cause.
func (r *Reader[T]) Next() (Row[T], error) {
	row, err := r.rows.next()
	return row, cmp.Or(r.rows.remembers().failed, err)
}

// Rewrite makes f replace the texts that are read, including JSON. An error of f ends the
// file.
func (r *Reader[T]) Rewrite(f func(text []byte) ([]byte, error)) { r.rows.remembers().rewrite = f }

// sectioned reports whether sections can be read without the rows before them.
func (r *Reader[T]) sectioned() bool { return r.rows.lineAt() != nil && !r.src.zipped }

// place returns where the next row begins.
func (r *Reader[T]) place() (at section) {
	if r.sectioned() {
		at.offset, at.line = r.src.passed, *r.rows.lineAt()
	}
	return at
}

// Ignored returns the names of unknown columns: in CSV those of the header, in JSON those
// met so far, at most a hundred.
func (r *Reader[T]) Ignored() []string { return r.rows.ignored() }

// Offset returns how many bytes of the input have been read, before decompression. It is
// ahead of the rows by what is buffered.
func (r *Reader[T]) Offset() int64 { return r.src.input.n }
