package apiv1

import (
	"net/http"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// Face answers the requests of contract/v1.yaml.
type Face struct{ sales *sales.Service }

var _ wire.Face = (*Face)(nil)

// New makes the face over the rules it calls.
func New(s *sales.Service) *Face { return &Face{sales: s} }

// Name implements wire.Face.
func (f *Face) Name() string { return "v1" }

// Operations implements wire.Face.
func (f *Face) Operations() []wire.Operation {
	return []wire.Operation{
		{ID: "listTransactions", Method: http.MethodGet, Path: "/v1/transactions", Needs: lyceum.Read, Serve: wire.Asked(bindListTransactions, f.ListTransactions)},
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
