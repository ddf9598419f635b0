package intake

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lyceum-school/lyceum"
)

// Kind describes how a kind of row is written in a file: its columns and their values.
// Transactions, Users, Courses and others return one.
type Kind[T any] struct {
	name    string // as in commands
	list    string // name of the list in the API's responses; may be empty
	columns []column[T]
	id      func(*T) int32
	keys    []key[T] // in addition to the id
	// anyOrder: no row needs an earlier row of the file.
	anyOrder bool
}

// String returns the kind's name in commands, such as pricing-plans.
func (k Kind[T]) String() string { return k.name }

// column is one field of a row: its name, whether it is required, and how it is parsed and
// written.
type column[T any] struct {
	name     string
	required bool // in the header or in every JSON object
	nullable bool
	text     bool // free text, in which empty differs from null
	json     bool // JSON: within the cell in CSV, inline in JSON
	limit    int  // maximum length in bytes; 0 is maxCell

	// read parses a non-null cell into v, or returns what is wrong with it.
	read  func(m *memo, c cell, v *T) (problem string)
	write func(e *encoder, v *T)

	// inner maps the members of a JSON object to columns, if an object is given as this
	// column's value.
	inner map[string]string
	// csvOnly columns are part of another column's object in JSON.
	csvOnly bool
}

// memo is a reader's state across rows.
type memo struct {
	currency lyceum.Currency              // of the previous row, to save memory
	rewrite  func([]byte) ([]byte, error) // replaces texts; nil: unchanged
	failed   error                        // error of rewrite
}

// accept parses a cell into v, or returns what is wrong with it.
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
	case k.json && !utf8.Valid(c.text): // encoding/json would replace it by U+FFFD
		return utf8Taken
	}
	if m.rewrite != nil && (k.text || k.json) {
		if c.text, m.failed = m.rewrite(c.text); m.failed != nil {
			return ""
		}
	}
	return k.read(m, c, v)
}

// optional returns the column as one that a file may omit. Its field is then zero, which
// the sink interprets.
func (k column[T]) optional() column[T] {
	k.required = false
	return k
}

// long returns the column as one for long texts.
func (k column[T]) long() column[T] {
	k.limit = maxLong
	return k
}

// always returns the column as one that a file must have even though it is nullable:
// omitting it would mean null in every row.
func (k column[T]) always() column[T] {
	k.required = true
	return k
}

// index returns the index of the column with the name, or -1.
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

// columnSet is a set of column indexes; no kind has more than 64 columns.
type columnSet uint64

func (s columnSet) has(i int) bool { return s>>i&1 == 1 }
func (s *columnSet) add(i int)     { *s |= 1 << i }
