package apiv2

import (
	"context"
	"fmt"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// data is the name of what is answered.
const data = "data"

// perPage is how many rows a page has unless the request says otherwise.
const perPage = 25

// one is an operation that answers with one object. Its body may be left out,
// which is to say nothing: what is required is then missing.
func one[P, T, W any](
	id string, verb wire.Verb, path string, bind func(*wire.Input) P, rule wire.Rule[P, T], render func(T) W,
) wire.Operation {
	return wire.New(id, verb, path, wire.Serve(wire.OptBody(bind), wire.Answer(refusing(rule), wire.As(data, render))))
}

// maxWhole is the largest body with a whole list, in bytes: 2,000 places, however they
// are indented, or 100 products with their names.
const maxWhole = 256 << 10

// whole is an operation that takes a list and answers with one, without pages.
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

// many is an operation that answers with a page of a list, of per rows unless
// the request says otherwise.
func many[F, T, W any](
	id, path string, per int32, bind func(*wire.Input) F, rule wire.PageRule[F, T], render func(T) W,
) wire.Operation {
	return wire.Many(id, path, per, bind, rule, data, render)
}

// validationFailed is the code of a request that could be read and is refused
// for what it says.
const validationFailed = "validation_failed"

// refusing gives what a rule refuses a code, unless it has one of its own.
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

// reference refers to what is shown under a path.
func reference[ID ~int32](path string, id ID) gen.Reference {
	return gen.Reference{ID: int32(id), Href: fmt.Sprintf("%s/%d", path, id)}
}

// optionalReference refers to what is shown under a path; nil if there is nothing.
func optionalReference[ID ~int32](path string, id lyceum.Opt[ID]) *gen.OptionalReference {
	if !id.Present {
		return nil
	}
	to := gen.OptionalReference(reference(path, id.Value))
	return &to
}
