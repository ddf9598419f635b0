package intake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/lyceum-school/lyceum"
)

// sectionRows is how many rows of a file a section has at least, unless it is the last one.
const sectionRows = 8192

// section is some rows of a file, which can be read without those before them.
type section struct {
	offset int64 // at which they begin
	line   int   // physical line, from 1
	rows   int
}

// sections are all rows of a file that was read once.
type sections struct {
	all     []section
	rows    int
	size    int64 // bytes of the file
	falling int   // rows whose id is lower than that of the row before
	last    int32
}

// begin begins a section at the next row, unless the last one is too short.
func (s *sections) begin(at section) {
	if n := len(s.all); n == 0 || s.all[n-1].rows >= sectionRows {
		s.all = append(s.all, at)
	}
}

// row counts a row with an id.
func (s *sections) row(id int32) {
	s.rows++
	s.all[len(s.all)-1].rows++
	if id < s.last {
		s.falling++
	}
	s.last = id
}

// newestFirst reports whether most rows have a lower id than the one before.
func (s *sections) newestFirst() bool {
	return s.falling > s.rows/2
}

// backwards reads the sections of a file from the last to the first one. Where the newest
// rows come first, they so come in the order in which they came into being: a sale with the
// first of its payments, and each page of an index after the ones before it.
type backwards[T any] struct {
	kind    Kind[T]
	file    io.ReaderAt
	head    []byte // what comes before the rows
	rewrite func([]byte) ([]byte, error)

	sections []section // not begun yet
	size     int64     // of the file
	reader   *Reader[T]
	left     int   // rows of the section that is being read
	read     int64 // bytes of the sections that were begun
}

// readBackwards reads the rows of sections, of which there is one.
func readBackwards[T any](
	kind Kind[T], file io.ReaderAt, of *sections, rewrite func([]byte) ([]byte, error),
) (*backwards[T], error) {
	head := make([]byte, of.all[0].offset)
	if _, err := file.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	return &backwards[T]{kind: kind, file: file, head: head, rewrite: rewrite, sections: of.all, size: of.size}, nil
}

// Next does as Reader.Next.
func (b *backwards[T]) Next() (row Row[T], err error) {
	for b.left == 0 {
		if len(b.sections) == 0 {
			return row, io.EOF
		}
		if err := b.open(); err != nil {
			return row, err
		}
	}
	b.left--
	if row, err = b.reader.Next(); errors.Is(err, io.EOF) {
		err = lyceum.Errorf(lyceum.Conflict, "the file changed after the rows were checked, and ends too early")
	}
	return row, err
}

// open begins the last section.
func (b *backwards[T]) open() (err error) {
	last := b.sections[len(b.sections)-1]
	b.read = b.size - last.offset
	rows := io.NewSectionReader(b.file, last.offset, math.MaxInt64-last.offset)
	if b.reader, err = NewReader(b.kind, io.MultiReader(bytes.NewReader(b.head), rows)); err != nil {
		return err
	}
	line := b.reader.rows.lineAt()
	if line == nil {
		return lyceum.Errorf(lyceum.Conflict, "the file changed after the rows were checked, and has another format")
	}
	b.reader.Rewrite(b.rewrite)
	*line, b.left = last.line, last.rows
	b.sections = b.sections[:len(b.sections)-1]
	return nil
}

func (b *backwards[T]) place() section { return section{} }

// Offset does as Reader.Offset, a section at a time.
func (b *backwards[T]) Offset() int64 { return b.read }
