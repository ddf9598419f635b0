package apiv1

import (
	"net/http"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// Face answers the requests of contract/v1.yaml.
type Face struct {
	sales  *sales.Service
	tokens []wire.Operation
}

var _ wire.Face = (*Face)(nil)

// New makes the face over the rules it calls. Tokens are the operations by
// which apps get access tokens; they are the same in every version.
func New(s *sales.Service, tokens []wire.Operation) *Face { return &Face{sales: s, tokens: tokens} }

// Name implements wire.Face.
func (f *Face) Name() string { return "v1" }

// Operations implements wire.Face.
func (f *Face) Operations() []wire.Operation {
	return append([]wire.Operation{
		{ID: "listTransactions", Method: http.MethodGet, Path: "/v1/transactions", Needs: lyceum.Read, Serve: wire.Asked(bindListTransactions, f.ListTransactions)},
		learner("getCurrentUser", http.MethodGet, "/v1/current_user/me", wire.Mine(f.GetCurrentUser)),
	}, f.tokens...)
}

// learner is an operation that an app asks for with an access token.
func learner(id, method, path string, serve wire.Endpoint) wire.Operation {
	return wire.Operation{
		ID: id, Method: method, Path: path, Credential: wire.Bearer, Version: lyceum.V1, Serve: serve,
		Fail: wire.LearnerFailure(access.ScopesFor(lyceum.V1, id)),
	}
}

// status gives each kind of error its status in v1.
var status = map[lyceum.Kind]int{
	lyceum.Internal:        http.StatusInternalServerError,
	lyceum.Invalid:         http.StatusBadRequest,
	lyceum.Unauthenticated: http.StatusUnauthorized,
	lyceum.Forbidden:       http.StatusForbidden,
	lyceum.NotFound:        http.StatusNotFound,
	lyceum.Conflict:        http.StatusConflict,
	lyceum.TooLarge:        http.StatusRequestEntityTooLarge,
	lyceum.RateLimited:     http.StatusTooManyRequests,
	lyceum.Unavailable:     http.StatusServiceUnavailable,
}

// Failure implements wire.Face: a message, or an array of them when several
// things are wrong.
func (f *Face) Failure(e *lyceum.Error) (int, wire.Body) {
	sentences := e.Sentences()
	if len(sentences) == 1 {
		return status[e.Kind], wire.JSON{Value: gen.Error{Message: sentences[0]}}
	}
	return status[e.Kind], wire.JSON{Value: gen.Error{Message: sentences}}
}
