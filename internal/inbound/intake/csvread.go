package intake

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// maxColumns is the maximum number of columns in a header.
const maxColumns = 1000

var errEmpty = lyceum.Invalidf("the file is empty; a CSV file begins with a line that names its columns")

// csvRows reads the records of a CSV file.
type csvRows[T any] struct {
	scan    csvScanner
	line    int          // physical line at the start of the window, from 1
	columns []*column[T] // in the order of the file; nil for an ignored one
	names   []string
	unknown []string
	memo    memo
	value   T
}

func (c *csvRows[T]) remembers() *memo { return &c.memo }

func (c *csvRows[T]) lineAt() *int { return &c.line }

func newCSVRows[T any](kind Kind[T], src *source) (*csvRows[T], error) {
	c := &csvRows[T]{scan: csvScanner{src: src}, line: 1}
	if !c.skipBlank() {
		if err := src.failure(); err != nil {
			return nil, err
		}
		return nil, errEmpty
	}
	problem := c.scan.scan()
	if err := c.failure(); err != nil {
		return nil, err
	}
	if problem != "" {
		return nil, lyceum.Invalidf("line %d must name the columns and %s", c.line, problem)
	}
	if err := c.header(kind); err != nil {
		return nil, err
	}
	c.pass()
	return c, nil
}

// header reads the column names from the latest record.
func (c *csvRows[T]) header(kind Kind[T]) error {
	if len(c.scan.fields) > maxColumns {
		return lyceum.Invalidf("line %d names more than %d columns", c.line, maxColumns)
	}
	twice := ""
	for _, field := range c.scan.fields {
		name := string(c.scan.text(field))
		if !utf8.ValidString(name) || len(name) > maxName {
			return lyceum.Invalidf("line %d must name the columns and has a name that is not valid UTF-8 or is longer "+
				"than %d bytes", c.line, maxName)
		}
		if name != "" && slices.Contains(c.names, name) {
			twice = name
		}
		c.names = append(c.names, name)
		i := kind.index(name)
		if i >= 0 {
			c.columns = append(c.columns, &kind.columns[i])
			continue
		}
		c.columns = append(c.columns, nil)
		if name != "" {
			c.unknown = append(c.unknown, name)
		}
	}
	if err := c.complete(kind); err != nil {
		return err
	}
	if twice != "" {
		return lyceum.Invalidf("line %d names the column %q twice", c.line, twice)
	}
	return nil
}

// complete rejects a header that lacks required columns.
func (c *csvRows[T]) complete(kind Kind[T]) error {
	var missing []string
	for i := range kind.columns {
		if k := &kind.columns[i]; k.required && !slices.Contains(c.names, k.name) {
			missing = append(missing, k.name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	hint := ""
	if len(c.names) == 1 && strings.ContainsAny(c.names[0], ";\t|") {
		hint = "; columns are separated by commas"
	}
	return lyceum.Invalidf("line %d must name the columns and lacks %s%s; the columns of %s are %s",
		c.line, strings.Join(missing, ", "), hint, kind, columnNames(kind.columns, ", "))
}

func (c *csvRows[T]) ignored() []string { return c.unknown }

// skipBlank skips empty lines. It returns false at the end of the input.
func (c *csvRows[T]) skipBlank() bool {
	for {
		if _, ok := c.scan.src.at(0); !ok {
			return false
		}
		size := c.scan.src.lineEnd(0)
		if size == 0 {
			return true
		}
		c.scan.src.advance(size)
		c.line++
	}
}

// failure returns why the input ended within the latest record, or nil.
func (c *csvRows[T]) failure() error {
	if !c.scan.ended {
		return nil
	}
	return c.scan.src.failure()
}

func (c *csvRows[T]) pass() {
	c.scan.pass()
	c.line += c.scan.lines
}

func (c *csvRows[T]) next() (Row[T], error) {
	if !c.skipBlank() {
		if err := c.scan.src.failure(); err != nil {
			return Row[T]{}, err
		}
		return Row[T]{}, io.EOF
	}
	problem := c.scan.scan()
	if err := c.failure(); err != nil {
		return Row[T]{}, err
	}
	switch {
	case problem == tooLong:
		return c.refuseLine("", problem), nil
	case problem != "":
		return c.refuseLine(c.nameOf(len(c.scan.fields)), problem), nil
	case len(c.scan.fields) != len(c.names):
		problem = fmt.Sprintf("has %d columns where the header names %d", len(c.scan.fields), len(c.names))
		return c.refuseLine("", problem), nil
	}
	row := c.row()
	c.pass()
	return row, nil
}

// refuseLine returns the first physical line of the record as a bad row and rewinds to the
// next line, so that a stray quote costs no other row.
func (c *csvRows[T]) refuseLine(column, problem string) Row[T] {
	row := Row[T]{Line: c.line, Problems: []Problem{{Line: c.line, Column: column, Message: problem}}}
	c.scan.src.skipLine()
	c.line++
	return row
}

// nameOf returns the name of column i, or nothing if the header is shorter.
func (c *csvRows[T]) nameOf(i int) string {
	if i < len(c.names) {
		return c.names[i]
	}
	return ""
}

// row parses the cells of the latest record.
func (c *csvRows[T]) row() Row[T] {
	row := Row[T]{Line: c.line}
	c.value = *new(T)
	for i, field := range c.scan.fields {
		k := c.columns[i]
		if k == nil {
			continue
		}
		value := c.scan.cell(field)
		value.text = wire.StripCSVGuards(value.text)
		if problem := k.accept(&c.memo, value, &c.value); problem != "" {
			row.Problems = append(row.Problems, Problem{Line: c.line, Column: k.name, Message: problem})
		}
	}
	row.Value = c.value
	return row
}
