package apiv2

import (
	"context"
	"fmt"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// data is the name of the member that contains the result.
const data = "data"

// perPage is the default page size.
const perPage = 25

// one returns an operation that returns one object. An absent body counts as an empty one: the
// errors list what is required.
func one[P, T, W any](
	id string, verb wire.Verb, path string, bind func(*wire.Input) P, rule wire.Rule[P, T], render func(T) W,
) wire.Operation {
	return wire.New(id, verb, path, wire.Serve(wire.OptBody(bind), wire.Rendered(refusing(rule), wire.As(data, render))))
}

// maxWhole is the maximum size of a body with a whole list, in bytes: 2,000 positions with
// any indentation, or 100 products with their names.
const maxWhole = 256 << 10

// whole returns an operation that accepts a list and returns a list without pages.
func whole[P, T, W any](
	id string, verb wire.Verb, path string, bind func(*wire.Input) P, rule wire.Rule[P, []T], render func(T) W,
) wire.Operation {
	op := one(id, verb, path, bind, rule, func(rows []T) []W {
		shown := make([]W, len(rows))
		for i := range rows {
			shown[i] = render(rows[i])
		}
		return shown
	})
	op.MaxBody = maxWhole
	return op
}

// many returns an operation that returns a page of a list; per is the default page size.
func many[F, T, W any](
	id, path string, per int32, bind func(*wire.Input) F, rule wire.PageRule[F, T], render func(T) W,
) wire.Operation {
	return wire.Many(id, path, per, bind, rule, data, render)
}

// validationFailed is the error code of a request that could be parsed but was rejected by
// a rule.
const validationFailed = "validation_failed"

// refusing adds the code validationFailed to errors of kind Invalid from a rule, unless they
// have a code.
func refusing[P, T any](rule wire.Rule[P, T]) wire.Rule[P, T] {
	return func(ctx context.Context, by lyceum.By, q P) (T, error) {
		t, err := rule(ctx, by, q)
		if e := lyceum.Public(err); err != nil && e.Kind == lyceum.Invalid && e.Code == "" {
			refused := *e
			refused.Code = validationFailed
			err = &refused
		}
		return t, err
	}
}

// reference refers to an object by its id and its path.
func reference[ID ~int32](path string, id ID) gen.Reference {
	return gen.Reference{ID: int32(id), Href: fmt.Sprintf("%s/%d", path, id)}
}

// optionalReference is like reference, but returns nil for an absent id.
func optionalReference[ID ~int32](path string, id lyceum.Opt[ID]) *gen.OptionalReference {
	if !id.Present {
		return nil
	}
	to := gen.OptionalReference(reference(path, id.Value))
	return &to
}
