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
const sectionRows = 2048

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

// backwards reads the sections of a file from the last to the first one, and returns the
// rows of each from the last to the first. Where the newest rows come first, they so come in
// the order in which they came into being: a sale with the first of its payments, and each
// page of an index after the ones before it.
type backwards[T any] struct {
	kind    Kind[T]
	file    io.ReaderAt
	head    []byte // what comes before the rows
	rewrite func([]byte) ([]byte, error)

	sections []section // not read yet
	size     int64     // of the file
	rows     []Row[T]  // of the section that was read last, without those that were returned
	read     int64     // bytes of the sections that were read
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
	for len(b.rows) == 0 {
		if len(b.sections) == 0 {
			return row, io.EOF
		}
		if err := b.load(); err != nil {
			return row, err
		}
	}
	last := len(b.rows) - 1
	row = b.rows[last]
	b.rows = b.rows[:last]
	return row, nil
}

// load reads the last section.
func (b *backwards[T]) load() error {
	last := b.sections[len(b.sections)-1]
	b.read = b.size - last.offset
	text := io.NewSectionReader(b.file, last.offset, math.MaxInt64-last.offset)
	reader, err := NewReader(b.kind, io.MultiReader(bytes.NewReader(b.head), text))
	if err != nil {
		return err
	}
	line := reader.rows.lineAt()
	if line == nil {
		return lyceum.Errorf(lyceum.Conflict, "the file changed after the rows were checked, and has another format")
	}
	reader.Rewrite(b.rewrite)
	*line = last.line
	b.sections = b.sections[:len(b.sections)-1]
	for range last.rows {
		row, err := reader.Next()
		if errors.Is(err, io.EOF) {
			err = lyceum.Errorf(lyceum.Conflict, "the file changed after the rows were checked, and ends too early")
		}
		if err != nil {
			return err
		}
		b.rows = append(b.rows, row)
	}
	return nil
}

func (b *backwards[T]) place() section { return section{} }

// Offset does as Reader.Offset, a section at a time.
func (b *backwards[T]) Offset() int64 { return b.read }
