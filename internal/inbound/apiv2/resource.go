package apiv2

import (
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// data is the name of what is answered.
const data = "data"

// one is an operation that answers with one object.
func one[P, T, W any](
	id string, verb wire.Verb, path string, bind func(*wire.Input) P, rule wire.Rule[P, T], render func(T) W,
) wire.Operation {
	return wire.New(id, verb, path, wire.Serve(bind, wire.Answer(rule, wire.As(data, render))))
}

// many is an operation that answers with a page of a list, of per rows unless
// the request says otherwise.
func many[F, T, W any](
	id, path string, per int32, bind func(*wire.Input) F, rule wire.PageRule[F, T], render func(T) W,
) wire.Operation {
	return wire.Many(id, path, per, bind, rule, data, render)
}
