package sqlstore

import (
	"database/sql"
	"time"

	"github.com/lyceum-school/lyceum"
)

// column is one column of rows of T: how a value is bound and scanned.
type column[T any] struct {
	name string
	bind func(*T) any
	scan func(*T) sql.Scanner
	text func(*T) string // for a text column: the text that a response shows
}

func namesOf[T any](columns []column[T]) []string {
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].name
	}
	return names
}

// binder returns a function that returns a row's values of the columns, in their order.
func binder[T any](columns []column[T]) func(*T) []any {
	return func(t *T) []any {
		args := make([]any, len(columns))
		for i := range columns {
			args[i] = columns[i].bind(t)
		}
		return args
	}
}

// keyColumn is the first column of a table, which identifies its rows.
type keyColumn[ID lyceum.Key, T any] struct {
	column[T]

	at       func(*T) *ID
	arg      func(ID) any
	numbered bool           // by the sequence named after the column
	of       func(int32) ID // returns the key with a number
}

func idKey[ID ~int32, T any](name string, at func(*T) *ID) keyColumn[ID, T] {
	return keyColumn[ID, T]{
		column: intColumn(name, at), at: at, numbered: true,
		arg: func(id ID) any { return int64(id) },
		of:  func(n int32) ID { return ID(n) },
	}
}

// unnumbered returns a key that identifies rows by the key of another table.
func unnumbered[ID lyceum.Key, T any](key keyColumn[ID, T]) keyColumn[ID, T] {
	key.numbered = false
	return key
}

// numberKey is a key of numbers that come from no sequence.
func numberKey[T any](name string, at func(*T) *int64) keyColumn[int64, T] {
	return keyColumn[int64, T]{column: intColumn(name, at), at: at, arg: func(n int64) any { return n }}
}

func hashKey[T any](at func(*T) *lyceum.KeyHash) keyColumn[lyceum.KeyHash, T] {
	return keyColumn[lyceum.KeyHash, T]{
		column: hashColumn("hash", at), at: at,
		arg: func(hash lyceum.KeyHash) any { return hash[:] },
	}
}

func hashColumn[T any](name string, at func(*T) *lyceum.KeyHash) column[T] {
	return column[T]{
		name: name,
		bind: func(t *T) any { return at(t)[:] },
		scan: func(t *T) sql.Scanner { return scanHash(at(t)) },
	}
}

func intColumn[T any, N ~int32 | ~int64 | ~uint8](name string, at func(*T) *N) column[T] {
	return column[T]{
		name: name,
		bind: func(t *T) any { return int64(*at(t)) },
		scan: func(t *T) sql.Scanner { return scanInt(at(t)) },
	}
}

func optIntColumn[T any, N ~int32 | ~int64](name string, at func(*T) *lyceum.Opt[N]) column[T] {
	return column[T]{
		name: name,
		bind: func(t *T) any { return optInt(*at(t)) },
		scan: func(t *T) sql.Scanner { return scanOptInt(at(t)) },
	}
}

func optFloatColumn[T any](name string, at func(*T) *lyceum.Opt[float64]) column[T] {
	return column[T]{
		name: name,
		bind: func(t *T) any { return optFloat(*at(t)) },
		scan: func(t *T) sql.Scanner { return scanOptFloat(at(t)) },
	}
}

func textColumn[T any, S ~string](name string, at func(*T) *S) column[T] {
	return column[T]{
		name: name,
		bind: func(t *T) any { return string(*at(t)) },
		scan: func(t *T) sql.Scanner { return scanText(at(t)) },
		text: func(t *T) string { return string(*at(t)) },
	}
}

func optTextColumn[T any, S ~string](name string, at func(*T) *lyceum.Opt[S]) column[T] {
	return column[T]{
		name: name,
		bind: func(t *T) any { return optText(*at(t)) },
		scan: func(t *T) sql.Scanner { return scanOptText(at(t)) },
		text: func(t *T) string { return string(at(t).Value) },
	}
}

func boolColumn[T any](name string, at func(*T) *bool) column[T] {
	return column[T]{
		name: name,
		bind: func(t *T) any { return flag(*at(t)) },
		scan: func(t *T) sql.Scanner { return scanBool(at(t)) },
	}
}

func optBoolColumn[T any](name string, at func(*T) *lyceum.Opt[bool]) column[T] {
	return column[T]{
		name: name,
		bind: func(t *T) any { return optFlag(*at(t)) },
		scan: func(t *T) sql.Scanner { return scanOptBool(at(t)) },
	}
}

func timeColumn[T any](name string, at func(*T) *time.Time) column[T] {
	return column[T]{
		name: name,
		bind: func(t *T) any { return micros(*at(t)) },
		scan: func(t *T) sql.Scanner { return scanTime(at(t)) },
	}
}

func optTimeColumn[T any](name string, at func(*T) *lyceum.Opt[time.Time]) column[T] {
	return column[T]{
		name: name,
		bind: func(t *T) any { return optMicros(*at(t)) },
		scan: func(t *T) sql.Scanner { return scanOptTime(at(t)) },
	}
}

func optHashColumn[T any](name string, at func(*T) *lyceum.Opt[lyceum.KeyHash]) column[T] {
	return column[T]{
		name: name,
		bind: func(t *T) any { return optHash(*at(t)) },
		scan: func(t *T) sql.Scanner { return scanOptHash(at(t)) },
	}
}

func scopesColumn[T any](name string, at func(*T) *lyceum.Scopes) column[T] {
	return column[T]{
		name: name,
		bind: func(t *T) any { return at(t).String() },
		scan: func(t *T) sql.Scanner { return scanScopes(at(t)) },
	}
}

// firstColumn is the column of an optional part of a row that determines whether the part is
// present.
func firstColumn[T any, P comparable](of func(*T) *lyceum.Opt[P], c column[P]) column[T] {
	return partColumn(of, c, func(o *lyceum.Opt[P], src any) bool {
		*o = lyceum.Opt[P]{Present: src != nil}
		return o.Present
	})
}

// nextColumn is another column of an optional part; it comes after the first one.
func nextColumn[T any, P comparable](of func(*T) *lyceum.Opt[P], c column[P]) column[T] {
	return partColumn(of, c, func(o *lyceum.Opt[P], _ any) bool { return o.Present })
}

func partColumn[T any, P comparable](
	of func(*T) *lyceum.Opt[P], c column[P], present func(*lyceum.Opt[P], any) bool,
) column[T] {
	return column[T]{
		name: c.name,
		bind: func(t *T) any {
			if part := of(t); part.Present {
				return c.bind(&part.Value)
			}
			return nil
		},
		scan: func(t *T) sql.Scanner {
			part := of(t)
			dest := c.scan(&part.Value)
			return scanFunc(func(src any) error {
				if !present(part, src) {
					return nil
				}
				return dest.Scan(src)
			})
		},
	}
}
