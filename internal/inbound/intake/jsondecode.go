package intake

import (
	"fmt"
	"slices"
)

// maxIgnored is the maximum number of unknown member names that are remembered.
const maxIgnored = 100

// jsonDecoder converts JSON objects to rows.
type jsonDecoder[T any] struct {
	kind    Kind[T]
	names   map[string]int         // columns by name
	inner   map[int]map[string]int // columns by name, inside the object of another column
	unknown []string
	memo    memo
	text    jsonText
	value   T
	given   columnSet
}

func newJSONDecoder[T any](kind Kind[T]) *jsonDecoder[T] {
	d := &jsonDecoder[T]{kind: kind, names: map[string]int{}, inner: map[int]map[string]int{}}
	for i, k := range kind.columns {
		d.names[k.name] = i
		if k.inner == nil {
			continue
		}
		d.inner[i] = map[string]int{}
		for member, column := range k.inner {
			d.inner[i][member] = kind.index(column)
		}
	}
	return d
}

func (d *jsonDecoder[T]) ignored() []string { return d.unknown }

func (d *jsonDecoder[T]) remembers() *memo { return &d.memo }

// decode converts one object, which begins on the given line, to a row. With a fault, the
// row is meaningless.
func (d *jsonDecoder[T]) decode(object []byte, line int) (Row[T], *jsonFault) {
	d.text.b, d.text.i = object, 0
	d.value, d.given = *new(T), 0
	row := Row[T]{Line: line}
	fault := d.object(d.names, 1, &row.Problems, line)
	if fault == nil {
		fault = d.text.end()
	}
	if fault != nil {
		return row, fault
	}
	d.complete(&row)
	row.Value = d.value
	return row, nil
}

// object parses the members of the next object, at the given depth.
func (d *jsonDecoder[T]) object(names map[string]int, depth int, problems *[]Problem, line int) *jsonFault {
	return d.text.members(func(key []byte) *jsonFault {
		i, known := names[string(key)]
		if !known {
			d.ignore(key)
			_, fault := d.text.value(depth)
			return fault
		}
		k := &d.kind.columns[i]
		if inner := d.inner[i]; inner != nil && depth == 1 && d.text.token() == '{' {
			return d.object(inner, 2, problems, line)
		}
		c, fault := d.text.value(depth)
		if fault != nil {
			return fault
		}
		problem := "appears twice in the object"
		if !d.given.has(i) {
			problem = k.accept(&d.memo, c, &d.value)
		}
		d.given.add(i)
		if problem != "" {
			*problems = append(*problems, Problem{Line: line, Column: k.name, Message: problem})
		}
		return nil
	})
}

// complete reports the columns that the object lacks.
func (d *jsonDecoder[T]) complete(row *Row[T]) {
	for i := range d.kind.columns {
		if k := &d.kind.columns[i]; k.required && !d.given.has(i) {
			row.Problems = append(row.Problems, Problem{Line: row.Line, Column: k.name, Message: "is missing"})
		}
	}
}

// ignore records the name of an unknown member.
func (d *jsonDecoder[T]) ignore(key []byte) {
	if len(key) > maxName || len(d.unknown) >= maxIgnored {
		return
	}
	if !slices.ContainsFunc(d.unknown, func(name string) bool { return name == string(key) }) {
		d.unknown = append(d.unknown, string(key))
	}
}

// problemAt describes a fault at a line and column of the file.
func (f *jsonFault) problemAt(line, column int) Problem {
	if !f.syntax {
		return Problem{Line: line, Message: f.message}
	}
	return Problem{Line: line, Message: fmt.Sprintf("is not valid JSON at column %d: %s", column, f.message)}
}
