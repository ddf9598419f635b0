package intake

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lyceum-school/lyceum"
)

// Kind says how one kind of row is written in a file: which columns there are
// and what each takes. Make one with Transactions, Users, Courses or another
// function of this package.
type Kind[T any] struct {
	name    string // as in the command
	list    string // the key of the API's list answers, if there are any
	columns []column[T]
	id      func(*T) int32
	keys    []key[T] // besides the id
	// anyOrder: no row needs one before it in the file.
	anyOrder bool
}

// String gives the kind's name as it stands in commands, such as pricing-plans.
func (k Kind[T]) String() string { return k.name }

// column is one field of a row: its name, whether a file must have it, and how
// it is read and written.
type column[T any] struct {
	name     string
	required bool // the header, or every JSON object, must name it
	nullable bool
	text     bool // free text: empty is not null
	json     bool // JSON: in CSV inside the cell, in JSON in place
	limit    int  // length in bytes; 0 is maxCell

	// read puts a cell that is not null into v, or says what is wrong with it.
	read  func(m *memo, c cell, v *T) (problem string)
	write func(e *encoder, v *T)

	// inner names the columns that the members of a JSON object stand for
	// when one is given in this column's place.
	inner map[string]string
	// csvOnly columns are written inside another one's JSON object.
	csvOnly bool
}

// memo is what a reader remembers from row to row.
type memo struct {
	currency lyceum.Currency              // to save memory
	rewrite  func([]byte) ([]byte, error) // puts another text in the place of one; nil: none does
	failed   error                        // of rewrite
}

// accept puts a cell into v, or says what is wrong with it.
func (k *column[T]) accept(m *memo, c cell, v *T) (problem string) {
	switch {
	case c.form == formComposite && !k.json:
		return "must be a single value, not an object or an array"
	case c.form == formNull, len(c.text) == 0 && !k.text:
		if !k.nullable {
			return "must not be empty"
		}
		return ""
	case len(c.text) > max(k.limit, maxCell):
		return fmt.Sprintf("must be at most %d KiB long", max(k.limit, maxCell)>>10)
	case k.json && !utf8.Valid(c.text): // encoding/json would put U+FFFD in its place
		return utf8Taken
	}
	if m.rewrite != nil && (k.text || k.json) {
		if c.text, m.failed = m.rewrite(c.text); m.failed != nil {
			return ""
		}
	}
	return k.read(m, c, v)
}

// optional gives the column as one that a file may leave out; its field is then
// zero, and the sink knows what that means.
func (k column[T]) optional() column[T] {
	k.required = false
	return k
}

// long gives the column as one of texts that fill a page.
func (k column[T]) long() column[T] {
	k.limit = maxLong
	return k
}

// always gives the column as one that a file must name even though it may be
// null: to leave it out would say null of every row.
func (k column[T]) always() column[T] {
	k.required = true
	return k
}

// index gives the place of the column with the name, or -1.
func (k Kind[T]) index(name string) int {
	return slices.IndexFunc(k.columns, func(c column[T]) bool { return c.name == name })
}

func columnNames[T any](columns []column[T], separator string) string {
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].name
	}
	return strings.Join(names, separator)
}

// columnSet is a set of indexes of columns; no kind has more than 64.
type columnSet uint64

func (s columnSet) has(i int) bool { return s>>i&1 == 1 }
func (s *columnSet) add(i int)     { *s |= 1 << i }
