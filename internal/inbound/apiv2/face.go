package apiv2

import (
	"context"
	"net/http"
	"strings"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// Face answers the requests of contract/v2.yaml.
type Face struct{ tokens []wire.Operation }

var _ wire.Face = (*Face)(nil)

// New makes the face. Tokens are the operations by which apps get access
// tokens; they are the same in every version.
func New(tokens []wire.Operation) *Face { return &Face{tokens: tokens} }

// Name implements wire.Face.
func (f *Face) Name() string { return "v2" }

// Operations implements wire.Face.
func (f *Face) Operations() []wire.Operation {
	return append([]wire.Operation{
		learner("getCurrentUser", http.MethodGet, "/v2/current_user/me", wire.Mine(f.GetCurrentUser)),
	}, f.tokens...)
}

// learner is an operation that an app asks for with an access token.
func learner(id, method, path string, serve wire.Endpoint) wire.Operation {
	return wire.Operation{
		ID: id, Method: method, Path: path, Credential: wire.Bearer, Version: lyceum.V2, Serve: serve,
		Fail: wire.LearnerFailure(access.ScopesFor(lyceum.V2, id)),
	}
}

// GetCurrentUser serves GET /v2/current_user/me.
func (f *Face) GetCurrentUser(_ context.Context, learner *access.Learner) (wire.JSON, error) {
	me := learner.Me()
	answer := gen.CurrentUser{ID: int32(me.ID), Email: me.Email.Value, Role: string(me.Role)}
	if me.Name.Present {
		answer.Name = &me.Name.Value
	}
	return wire.JSON{Value: answer}, nil
}

// status gives each kind of error its status in v2, and codes its word.
var (
	status = map[lyceum.Kind]int{
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
	codes = map[lyceum.Kind]string{
		lyceum.Internal:        "internal_error",
		lyceum.Invalid:         "invalid_request",
		lyceum.Unauthenticated: "unauthenticated",
		lyceum.Forbidden:       "access_forbidden",
		lyceum.NotFound:        "not_found",
		lyceum.Conflict:        "conflict",
		lyceum.TooLarge:        "too_large",
		lyceum.RateLimited:     "rate_limit_exceeded",
		lyceum.Unavailable:     "unavailable",
	}
)

// failure is the body of an error of v2.
type failure struct {
	Code    string       `json:"code"`
	Message string       `json:"message"`
	Errors  []fieldError `json:"errors"`
}

type fieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Failure implements wire.Face.
func (f *Face) Failure(e *lyceum.Error) (int, wire.Body) {
	body := failure{Code: codes[e.Kind], Message: strings.Join(e.Sentences(), "; "), Errors: []fieldError{}}
	for _, wrong := range e.Fields {
		body.Errors = append(body.Errors, fieldError{wrong.Field, wrong.Message})
	}
	return status[e.Kind], wire.JSON{Value: body}
}
