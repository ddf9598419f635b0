package apilyceum

import (
	"context"
	"errors"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// one returns an operation that returns one object under a name, such as {"sale":{…}}, or the
// bare object if the name is empty. A POST takes effect once per Idempotency-Key:
// repeating it returns the first response again.
func one[P, T, W any](
	id string, verb wire.Verb, path string,
	bind func(*wire.Input) P, rule wire.Rule[P, T], name string, render func(T) W,
) wire.Operation {
	body := wire.As(name, render)
	if verb == wire.Create || verb == wire.Run {
		return wire.New(id, verb, path, once(bind, rule, body, body, repeated))
	}
	return appended(id, verb, path, bind, wire.Rendered(rule, body))
}

// appended returns an operation whose response encodes itself, for lists that are long or often
// requested.
func appended[P any, A wire.Body](
	id string, verb wire.Verb, path string, bind func(*wire.Input) P, rule wire.Rule[P, A],
) wire.Operation {
	return wire.New(id, verb, path, wire.Serve(bind, rule))
}

// keyedRequest holds the parameters of a request and its Idempotency-Key.
type keyedRequest[P any] struct {
	params P
	key    lyceum.Opt[string]
	hash   lyceum.KeyHash
}

// once serves a change that takes effect once per Idempotency-Key. What keep makes of the
// result is stored with the key, and again renders the repeated response from it.
func once[P, T any, A, K wire.Body](
	bind func(*wire.Input) P, rule wire.Rule[P, T], body func(T) A, keep func(T) K,
	again func(school lyceum.SchoolID, kept []byte) ([]byte, error),
) wire.Endpoint {
	return wire.Serve(func(in *wire.Input) keyedRequest[P] {
		q := keyedRequest[P]{params: bind(in)}
		q.key, q.hash = in.Once()
		return q
	}, func(ctx context.Context, by lyceum.By, q keyedRequest[P]) (wire.Text, error) {
		if q.key.Present {
			by.Once = &lyceum.Once{Key: q.key.Value, Request: q.hash, Render: func(result any) ([]byte, error) {
				return keep(result.(T)).AppendJSON(nil)
			}}
		}
		result, err := rule(ctx, by, q.params)
		if before, ok := errors.AsType[*lyceum.RepeatError](err); ok {
			return again(by.School, before.Body)
		}
		if err != nil {
			return nil, err
		}
		return body(result).AppendJSON(nil)
	})
}

// repeated returns the stored response.
func repeated(_ lyceum.SchoolID, kept []byte) ([]byte, error) { return kept, nil }

// waiting marks operations that wait until there is something to return.
func waiting(op wire.Operation) wire.Operation {
	op.Waits = longestWait * time.Second
	return op
}

// heavy marks lists whose rows have no fixed size, or that scan many rows.
func heavy(op wire.Operation) wire.Operation {
	op.Heavy = true
	return op
}

// amount returns nil for an absent amount; the rules keep amounts within int32.
func amount(o lyceum.Opt[lyceum.Minor]) *int32 {
	return wire.Number(lyceum.Opt[amount32]{Value: amount32(o.Value), Present: o.Present})
}

type amount32 int32

func text[T ~string](o lyceum.Opt[T]) *string {
	if !o.Present {
		return nil
	}
	s := string(o.Value)
	return &s
}

// perPage is the default page size, in rows.
const perPage = 25
