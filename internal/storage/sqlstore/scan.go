package sqlstore

import (
	"database/sql"
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Values have the types that both drivers return: int64, string and []byte. The destinations
// below accept them without the reflection of database/sql and its conversions through strings.

type scanFunc func(src any) error

func (f scanFunc) Scan(src any) error { return f(src) }

func wrong(src any, want string) error { return fmt.Errorf("column holds %T, want %s", src, want) }

// number is the destination of an integer column. Code that already has an int64 calls take
// directly, which avoids boxing it in an interface.
type number struct {
	want string
	take func(int64)
	null func() // nil for a column that is never NULL
}

func (n *number) Scan(src any) error {
	v, ok := src.(int64)
	switch {
	case ok:
		n.take(v)
	case src == nil && n.null != nil:
		n.null()
	default:
		return wrong(src, n.want)
	}
	return nil
}

func optNumber[T comparable](p *lyceum.Opt[T], want string, convert func(int64) T) sql.Scanner {
	return &number{want, func(v int64) { *p = lyceum.Some(convert(v)) }, func() { *p = lyceum.None[T]() }}
}

func scanInt[T ~int32 | ~int64 | ~uint8](p *T) sql.Scanner {
	return &number{"integer", func(v int64) { *p = T(v) }, nil}
}

func scanOptInt[T ~int32 | ~int64](p *lyceum.Opt[T]) sql.Scanner {
	return optNumber(p, "integer", func(v int64) T { return T(v) })
}

func scanBool(p *bool) sql.Scanner {
	return &number{"0 or 1", func(v int64) { *p = v != 0 }, nil}
}

func scanOptBool(p *lyceum.Opt[bool]) sql.Scanner {
	return optNumber(p, "0 or 1", func(v int64) bool { return v != 0 })
}

func scanTime(p *time.Time) sql.Scanner {
	return &number{"microseconds", func(v int64) { *p = ofMicros(v) }, nil}
}

func scanOptTime(p *lyceum.Opt[time.Time]) sql.Scanner {
	return optNumber(p, "microseconds", ofMicros)
}

// ofMicros converts Unix microseconds to a time. It caps the time, because an older lyceum stored
// ends after Latest.
func ofMicros(v int64) time.Time { return lyceum.NotAfterLatest(time.UnixMicro(v).UTC()) }

func scanOptFloat(p *lyceum.Opt[float64]) sql.Scanner {
	return scanFunc(func(src any) error {
		*p = lyceum.None[float64]()
		switch v := src.(type) {
		case nil:
		case float64:
			*p = lyceum.Some(v)
		case int64: // an engine may store 1.0 as 1
			*p = lyceum.Some(float64(v))
		default:
			return wrong(src, "float64")
		}
		return nil
	})
}

func scanText[T ~string](p *T) sql.Scanner {
	return &textScanner{put: func(v string) error {
		*p = T(v)
		return nil
	}}
}

// optional makes destinations ignore NULL, such as that of an outer join without a match.
func optional(dest []any) []any {
	for i, to := range dest {
		dest[i] = scanFunc(func(src any) error {
			if src == nil {
				return nil
			}
			return to.(sql.Scanner).Scan(src)
		})
	}
	return dest
}

func scanOptText[T ~string](p *lyceum.Opt[T]) sql.Scanner {
	return &textScanner{put: func(v string) error {
		*p = lyceum.Some(T(v))
		return nil
	}, null: func() { *p = lyceum.None[T]() }}
}

func scanHash(p *lyceum.KeyHash) sql.Scanner {
	return scanFunc(func(src any) error {
		v, ok := src.([]byte)
		if !ok || len(v) != len(p) {
			return wrong(src, "32 bytes")
		}
		copy(p[:], v)
		return nil
	})
}

func scanOptHash(p *lyceum.Opt[lyceum.KeyHash]) sql.Scanner {
	return scanFunc(func(src any) error {
		*p = lyceum.None[lyceum.KeyHash]()
		if src == nil {
			return nil
		}
		p.Present = true
		return scanHash(&p.Value).Scan(src)
	})
}

func scanScopes(p *lyceum.Scopes) sql.Scanner {
	return scanFunc(func(src any) error {
		v, ok := src.(string)
		if !ok {
			return wrong(src, "text")
		}
		*p = lyceum.ParseScopes(v)
		return nil
	})
}

// discard is the destination of a column that only the database needs.
var discard = scanFunc(func(any) error { return nil })

func micros(t time.Time) int64 { return t.UnixMicro() }

func optMicros(o lyceum.Opt[time.Time]) any {
	if !o.Present {
		return nil
	}
	return micros(o.Value)
}

func optInt[T ~int32 | ~int64](o lyceum.Opt[T]) any {
	if !o.Present {
		return nil
	}
	return int64(o.Value)
}

func optFloat(o lyceum.Opt[float64]) any {
	if !o.Present {
		return nil
	}
	return o.Value
}

func optText[T ~string](o lyceum.Opt[T]) any {
	if !o.Present {
		return nil
	}
	return string(o.Value)
}

func optHash(o lyceum.Opt[lyceum.KeyHash]) any {
	if !o.Present {
		return nil
	}
	return o.Value[:]
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func optFlag(o lyceum.Opt[bool]) any {
	if !o.Present {
		return nil
	}
	return flag(o.Value)
}
