package apiv1

import (
	"context"
	"strconv"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// one returns an operation that returns one object under a name, such as {"course":{…}}, or the
// bare object if the name is empty.
func one[P, T, W any](
	id string, verb wire.Verb, path string,
	bind func(*wire.Input) P, rule wire.Rule[P, T], name string, render func(T) W,
) wire.Operation {
	return appended(id, verb, path, bind, wire.Rendered(rule, wire.As(name, render)))
}

// many returns an operation that returns a page of a list under a name, with the pagination
// meta. Per is the default page size.
func many[F, T, W any](
	id, path string, per int32,
	bind func(*wire.Input) F, rule wire.PageRule[F, T], name string, render func(T) W,
) wire.Operation {
	bindRequest := func(in *wire.Input) wire.PageRequest[F] {
		return wire.PageRequest[F]{Filter: bind(in), Page: bindPage(in, per)}
	}
	rendered := wire.Rendered(wire.Paged(rule), func(l lyceum.Listing[T]) *wire.List[W, meta] {
		return wire.Listed(name, l.Rows, render, meta{l.Total, l.Page, len(l.Rows)})
	})
	return appended(id, wire.Get, path, bindRequest, rendered)
}

// none returns an operation that responds without a body.
func none[P any](
	id string, verb wire.Verb, path string, bind func(*wire.Input) P, do func(context.Context, lyceum.By, P) error,
) wire.Operation {
	return wire.NoContent(appended(id, verb, path, bind, wire.Done(do)))
}

// appended returns an operation whose response encodes itself, for lists that are long or often
// requested. Unknown members of the request body are ignored.
func appended[P any, A wire.Body](
	id string, verb wire.Verb, path string, bind func(*wire.Input) P, rule wire.Rule[P, A],
) wire.Operation {
	return wire.New(id, verb, path, wire.ServeLenient(bind, rule))
}

// The page sizes of v1 (docs/divergences.md, "Page size"): without per, a list uses its
// own default; a larger per than the maximum counts as the maximum.
const (
	defaultPer = 20
	maxPer     = 100
)

// bindPage reads the requested page; usual is its size without per.
func bindPage(in *wire.Input, usual int32) lyceum.Page {
	number, per := wire.Amount[int32](in.Query("page"), 1), wire.Amount[int32](in.Query("per"), 1)
	if per.Present {
		usual = min(per.Value, maxPer)
	}
	return lyceum.Page{Number: number.Else(1), Size: usual}
}

// meta is the pagination meta of version 1: with per=5 and 50 items, page 2 is from 6 to
// 10 of 10 pages. An empty page is from 0 to 0.
type meta struct {
	total int64
	page  lyceum.Page
	shown int
}

// bounds returns the numbers of the first and the last row, from 1.
func (m meta) bounds() (from, to int64) {
	if m.shown == 0 {
		return 0, 0
	}
	return m.page.Offset() + 1, m.page.Offset() + int64(m.shown)
}

func (m meta) pages() int64 { return (m.total + int64(m.page.Size) - 1) / int64(m.page.Size) }

func (m meta) AppendJSON(b []byte) ([]byte, error) {
	from, to := m.bounds()
	b = strconv.AppendInt(append(b, `{"total":`...), m.total, 10)
	b = strconv.AppendInt(append(b, `,"page":`...), int64(m.page.Number), 10)
	b = strconv.AppendInt(append(b, `,"from":`...), from, 10)
	b = strconv.AppendInt(append(b, `,"to":`...), to, 10)
	b = strconv.AppendInt(append(b, `,"per_page":`...), int64(m.page.Size), 10)
	b = strconv.AppendInt(append(b, `,"number_of_pages":`...), m.pages(), 10)
	return append(b, '}'), nil
}

// appendMeta appends the meta and closes the enclosing object.
func appendMeta(b []byte, total int64, p lyceum.Page, shown int) []byte {
	b, _ = meta{total, p, shown}.AppendJSON(append(b, `"meta":`...)) // never fails
	return append(b, '}')
}

// Failure implements wire.Face: a message, or an array of messages if there are several
// errors. Only the response to a missing or wrong API key has the request id, as existing
// programs know it from the gateway.
func (f *Face) Failure(e *lyceum.Error, requestID string) (int, wire.Body) {
	sentences := e.Sentences()
	body := gen.Error{Message: sentences}
	switch {
	case e.Kind == lyceum.Unauthenticated:
		return wire.Status(e.Kind), wire.JSON{Value: gen.CredentialError{Message: sentences[0], RequestID: requestID}}
	case len(sentences) == 1:
		body.Message = sentences[0]
	}
	return wire.Status(e.Kind), wire.JSON{Value: body}
}
