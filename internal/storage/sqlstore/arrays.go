package sqlstore

import (
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

// array is one column of rows of some width, as an argument for PostgreSQL. It is encoded
// before the values are overwritten.
type array struct {
	values        []any
	width, column int
}

// arraysOf returns an array for each column of rows of the given width.
func arraysOf(values []any, width int) []any {
	arrays := make([]any, width)
	for column := range arrays {
		arrays[column] = array{values, width, column}
	}
	return arrays
}

// isNull reports whether no row has a value in the column.
func (a array) isNull() bool {
	for i := a.column; i < len(a.values); i += a.width {
		if a.values[i] != nil {
			return false
		}
	}
	return true
}

// texts replaces the arrays among the arguments with their text form.
func texts(args []any) error {
	for i := range args {
		a, is := args[i].(array)
		if !is {
			continue
		}
		text, err := a.text()
		if err != nil {
			return fmt.Errorf("argument %d: %w", i+1, err)
		}
		args[i] = text
	}
	return nil
}

// text returns the array as a PostgreSQL array literal.
func (a array) text() (text string, err error) {
	b := make([]byte, 1, 2+16*len(a.values)/a.width)
	b[0] = '{'
	for i := a.column; i < len(a.values); i += a.width {
		if i > a.column {
			b = append(b, ',')
		}
		if b, err = arrayForm.append(b, a.values[i]); err != nil {
			return "", err
		}
	}
	return string(append(b, '}')), nil
}

// arrayForm is the form of values in a PostgreSQL array literal.
var arrayForm = form{null: "NULL", quote: `"`, escapes: strings.NewReplacer(`\`, `\\`, `"`, `\"`), bytes: `"\\x%x"`}

// form is a textual form of values.
type form struct {
	null    string
	quote   string // around a string
	escapes *strings.Replacer
	bytes   string // format of a []byte
}

// append appends a value in this form.
func (f *form) append(b []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(b, f.null...), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case float64:
		return strconv.AppendFloat(b, v, 'g', -1, 64), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case []byte:
		if v == nil {
			return append(b, f.null...), nil
		}
		return fmt.Appendf(b, f.bytes, v), nil
	case string:
		return append(append(append(b, f.quote...), f.escapes.Replace(v)...), f.quote...), nil
	default:
		v, err := driver.DefaultParameterConverter.ConvertValue(v)
		if err != nil {
			return nil, err
		}
		return f.append(b, v)
	}
}

// elements maps the array types that have a binary form here to the types of their elements.
var elements = map[uint32]uint32{
	pgtype.Int2ArrayOID: pgtype.Int2OID, pgtype.Int4ArrayOID: pgtype.Int4OID, pgtype.Int8ArrayOID: pgtype.Int8OID,
	pgtype.Float8ArrayOID: pgtype.Float8OID, pgtype.TextArrayOID: pgtype.TextOID, pgtype.ByteaArrayOID: pgtype.ByteaOID,
}

// nullsAt is the offset of the flag for NULLs in the header of a binary array. The header of a
// one-dimensional array is five numbers of four bytes: the number of dimensions, whether any
// element is NULL, the type of the elements, their number, and the index of the first one.
// https://www.postgresql.org/docs/15/xtypes.html refers to the source of array_send for the
// format.
const nullsAt = 4

// binary appends the array in binary form. It reports false if it cannot be encoded as the
// given type: its elements must be of one kind, in range, and need no conversion.
func (a array) binary(b []byte, oid uint32) ([]byte, bool) {
	element := elements[oid]
	if element == 0 {
		return b, false
	}
	begin, put := len(b), binary.BigEndian.AppendUint32
	b = put(put(put(b, 1), 0), element)
	b = put(put(b, uint32(len(a.values)/a.width)), 1)
	for i := a.column; i < len(a.values); i += a.width {
		appended, null, ok := appendBinary(b, element, a.values[i])
		if !ok {
			return b[:begin], false
		}
		if b = appended; null {
			b[begin+nullsAt+3] = 1
		}
	}
	return b, true
}

// appendBinary appends an element, preceded by its length in four bytes.
func appendBinary(b []byte, of uint32, value any) (_ []byte, null, ok bool) {
	switch v := value.(type) {
	case nil:
		return binary.BigEndian.AppendUint32(b, math.MaxUint32), true, true
	case int64:
		switch {
		case of == pgtype.Int8OID:
			return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(b, 8), uint64(v)), false, true
		case of == pgtype.Int4OID && v == int64(int32(v)):
			return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, 4), uint32(v)), false, true
		case of == pgtype.Int2OID && v == int64(int16(v)):
			return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint32(b, 2), uint16(v)), false, true
		}
	case float64:
		if of == pgtype.Float8OID {
			return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(b, 8), math.Float64bits(v)), false, true
		}
	case string:
		if of == pgtype.TextOID && len(v) <= math.MaxInt32 {
			return append(binary.BigEndian.AppendUint32(b, uint32(len(v))), v...), false, true
		}
	case []byte:
		switch {
		case v == nil:
			return appendBinary(b, of, nil)
		case of == pgtype.ByteaOID && len(v) <= math.MaxInt32:
			return append(binary.BigEndian.AppendUint32(b, uint32(len(v))), v...), false, true
		}
	}
	return b, false, false
}
