package apiv1

import (
	"time"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
)

// optional is null for what is absent.
func optional[T comparable](o lyceum.Opt[T]) *T {
	if !o.Present {
		return nil
	}
	return &o.Value
}

// number is null for what is absent.
func number[T ~int32](o lyceum.Opt[T]) *int32 {
	if !o.Present {
		return nil
	}
	n := int32(o.Value)
	return &n
}

// moment is a time as answers have it: UTC, to the second.
func moment(t time.Time) time.Time { return lyceum.Second(t).UTC() }

func optMoment(o lyceum.Opt[time.Time]) *time.Time {
	if !o.Present {
		return nil
	}
	at := moment(o.Value)
	return &at
}

func opt[T comparable](v *T) lyceum.Opt[T] {
	if v == nil {
		return lyceum.None[T]()
	}
	return lyceum.Some(*v)
}

// pageOf is pageFrom with a default of its own.
func pageOf(page, per *int32, usual int32) lyceum.Page {
	p := pageFrom(page, per)
	if per == nil {
		p.Size = usual
	}
	return p
}

// metaOf is the pagination meta, version 1, as appendMeta writes it.
func metaOf(total int64, p lyceum.Page, shown int) gen.PaginationMeta {
	m := gen.PaginationMeta{
		Total: int32(total), Page: p.Number, PerPage: p.Size, NumberOfPages: int32((total + int64(p.Size) - 1) / int64(p.Size)),
	}
	if shown > 0 {
		m.From, m.To = int32(p.Offset()+1), int32(p.Offset()+int64(shown))
	}
	return m
}
