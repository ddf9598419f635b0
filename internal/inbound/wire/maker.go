package wire

import (
	"context"
	"net/http"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// Rule carries out what a request asks for, on behalf of the caller.
type Rule[P, T any] = func(context.Context, lyceum.By, P) (T, error)

// PageRule returns one page of the items that match a filter.
type PageRule[F, T any] = func(context.Context, lyceum.By, F, lyceum.Page) (lyceum.Listing[T], error)

// PageRequest is a filter and the requested page.
type PageRequest[F any] struct {
	Filter F
	Page   lyceum.Page
}

// Paged turns a PageRule into a Rule, with the filter and the page as one parameter.
func Paged[F, T any](rule PageRule[F, T]) Rule[PageRequest[F], lyceum.Listing[T]] {
	return func(ctx context.Context, by lyceum.By, q PageRequest[F]) (lyceum.Listing[T], error) {
		return rule(ctx, by, q.Filter, q.Page)
	}
}

// Serve returns an endpoint: bind reads the request, and rule carries it out. Members of the
// body that bind does not ask for are rejected.
func Serve[P any, A Body](bind func(*Input) P, rule Rule[P, A]) Endpoint {
	return ServeLenient(func(in *Input) P {
		q := bind(in)
		in.refuseOthers()
		return q
	}, rule)
}

// ServeLenient is Serve for a face that ignores unknown members.
func ServeLenient[P any, A Body](bind func(*Input) P, rule Rule[P, A]) Endpoint {
	return func(ctx context.Context, who Principal, r *http.Request) (Body, error) {
		in, err := NewInput(r)
		if err != nil {
			return nil, err
		}
		q := bind(in)
		if err := in.Err(); err != nil {
			return nil, err
		}
		if who.Admit != nil {
			if err := who.Admit(ctx, who.By); err != nil {
				return nil, err
			}
		}
		return rule(ctx, who.By, q)
	}
}

// Mine returns an endpoint that shows what is known about the learner from their token.
func Mine[A Body](body func(access.Me) A) Endpoint {
	return func(_ context.Context, who Principal, _ *http.Request) (Body, error) {
		return body(who.Learner.Me()), nil
	}
}

// Admitting makes operations call decide for every request that was read without errors.
func Admitting(decide func(context.Context, lyceum.By) error, operations ...Operation) []Operation {
	for i := range operations {
		serve := operations[i].Serve
		operations[i].Serve = func(ctx context.Context, who Principal, r *http.Request) (Body, error) {
			who.Admit = decide
			return serve(ctx, who, r)
		}
	}
	return operations
}

// Caching allows the responses to GET requests to be sent again while the database and the
// second of the clock are the same.
func Caching(operations ...Operation) []Operation {
	for i := range operations {
		operations[i].Cached = operations[i].Method == http.MethodGet
	}
	return operations
}

// Rendered is a rule whose result is rendered as a body.
func Rendered[P, T any, A Body](rule Rule[P, T], body func(T) A) Rule[P, A] {
	return func(ctx context.Context, by lyceum.By, q P) (A, error) {
		t, err := rule(ctx, by, q)
		if err != nil {
			var none A
			return none, err
		}
		return body(t), nil
	}
}

// Done is a rule whose response has no body.
func Done[P any](do func(context.Context, lyceum.By, P) error) Rule[P, Nothing] {
	return func(ctx context.Context, by lyceum.By, q P) (Nothing, error) { return Nothing{}, do(ctx, by, q) }
}

// None returns an operation that responds without a body.
func None[P any](
	id string, verb Verb, path string, bind func(*Input) P, do func(context.Context, lyceum.By, P) error,
) Operation {
	return NoContent(New(id, verb, path, Serve(bind, Done(do))))
}

// NoContent makes an operation respond without a body.
func NoContent(op Operation) Operation {
	op.Success = http.StatusNoContent
	return op
}

// Member is a JSON object with one member, such as {"course":{…}}. Without a name, it is just
// the value.
type Member[W any] struct {
	Name  string
	Value W
}

func (m *Member[W]) AppendJSON(b []byte) ([]byte, error) {
	if m.Name == "" {
		return appendValue(b, &m.Value)
	}
	b = append(append(append(b, `{"`...), m.Name...), `":`...)
	b, err := appendValue(b, &m.Value)
	return append(b, '}'), err
}

// As renders an object as a Member with the given name; without a name, as the object itself.
func As[T, W any](name string, render func(T) W) func(T) *Member[W] {
	return func(t T) *Member[W] { return &Member[W]{name, render(t)} }
}

// List is a JSON object with a list and its meta, such as {"courses":[…],"meta":{…}}.
type List[W any, M Body] struct {
	Name string
	Rows []W
	Meta M
}

// Listed renders the rows of a list.
func Listed[T, W any, M Body](name string, rows []T, render func(T) W, meta M) *List[W, M] {
	l := &List[W, M]{Name: name, Rows: make([]W, len(rows)), Meta: meta}
	for i := range rows {
		l.Rows[i] = render(rows[i])
	}
	return l
}

func (l *List[W, M]) AppendJSON(b []byte) ([]byte, error) {
	b = append(append(append(b, `{"`...), l.Name...), `":`...)
	b, err := appendValue(b, &l.Rows)
	if err != nil {
		return b, err
	}
	b, err = l.Meta.AppendJSON(append(b, `,"meta":`...))
	return append(b, '}'), err
}

// PageMeta is the meta of a list in the faces that use per_page.
type PageMeta struct {
	Page  lyceum.Page
	Total int64
}

func (m PageMeta) AppendJSON(b []byte) ([]byte, error) {
	size := int64(m.Page.Size)
	b = AppendNumber(b, `{"page":`, m.Page.Number)
	b = AppendNumber(b, `,"per_page":`, m.Page.Size)
	b = AppendNumber(b, `,"total_pages":`, (m.Total+size-1)/size)
	return append(AppendNumber(b, `,"total_count":`, m.Total), '}'), nil
}

// Page renders a page of a list under a name.
func Page[T, W any](name string, render func(T) W) func(lyceum.Listing[T]) *List[W, PageMeta] {
	return func(l lyceum.Listing[T]) *List[W, PageMeta] {
		return Listed(name, l.Rows, render, PageMeta{l.Page, l.Total})
	}
}

// mostPage is the maximum of per_page, in rows.
const mostPage = 100

// Many returns an operation that responds with a page of a list under a name, selected by page
// and per_page. A page has per rows unless the request says otherwise.
func Many[F, T, W any](
	id, path string, per int32, bind func(*Input) F, rule PageRule[F, T], name string, render func(T) W,
) Operation {
	bindRequest := func(in *Input) PageRequest[F] {
		page := BindPage(in, per)
		return PageRequest[F]{bind(in), page}
	}
	return New(id, Get, path, Serve(bindRequest, Rendered(Paged(rule), Page(name, render))))
}

// BindPage binds page and per_page; usual is the page size without per_page, in rows.
func BindPage(in *Input, usual int32) lyceum.Page {
	number, size := Int[int32](in.Query("page"), 1, maxInt32), Int[int32](in.Query("per_page"), 1, mostPage)
	return lyceum.Page{Number: number.Else(1), Size: size.Else(usual)}
}
