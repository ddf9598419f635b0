package intake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/lyceum-school/lyceum"
)

// sectionRows is the minimum number of rows in a section, except for the last one.
const sectionRows = 2048

// section is a run of rows that can be read without those before them.
type section struct {
	offset int64 // of the first row
	line   int   // physical line of the first row, from 1
	rows   int
}

// sections are all rows of a file that has been read once.
type sections struct {
	all     []section
	rows    int
	size    int64 // bytes of the file
	falling int   // rows with a lower id than the row before
	last    int32
}

// begin starts a section at the next row, unless the last one is still too short.
func (s *sections) begin(at section) {
	if n := len(s.all); n == 0 || s.all[n-1].rows >= sectionRows {
		s.all = append(s.all, at)
	}
}

// row counts a row by its id.
func (s *sections) row(id int32) {
	s.rows++
	s.all[len(s.all)-1].rows++
	if id < s.last {
		s.falling++
	}
	s.last = id
}

// newestFirst reports whether most rows have a lower id than the row before.
func (s *sections) newestFirst() bool {
	return s.falling > s.rows/2
}

// backwards reads the sections of a file from the last to the first, and returns the rows
// of each in reverse. A file with the newest rows first is thus read in the order in which
// they were created: a sale with its first payment, and index pages in ascending order.
type backwards[T any] struct {
	kind    Kind[T]
	file    io.ReaderAt
	head    []byte // everything before the rows
	rewrite func([]byte) ([]byte, error)

	sections []section // unread ones
	size     int64     // of the file
	rows     []Row[T]  // of the latest section, without those already returned
	read     int64     // bytes of the sections read so far
}

// readBackwards reads the rows of sections; there must be at least one.
func readBackwards[T any](
	kind Kind[T], file io.ReaderAt, of *sections, rewrite func([]byte) ([]byte, error),
) (*backwards[T], error) {
	head := make([]byte, of.all[0].offset)
	if _, err := file.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	return &backwards[T]{kind: kind, file: file, head: head, rewrite: rewrite, sections: of.all, size: of.size}, nil
}

// Next is like Reader.Next.
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

// load reads the last unread section.
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

// Offset is like Reader.Offset, in steps of a section.
func (b *backwards[T]) Offset() int64 { return b.read }
