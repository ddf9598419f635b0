package apiv2

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

// Face answers the requests of contract/v2.yaml.
type Face struct {
	learning *learning.Service
	tokens   []wire.Operation
}

var _ wire.Face = (*Face)(nil)

// New makes the face over the rules it calls. Tokens are the operations by which apps get access
// tokens; they are the same in every version.
func New(l *learning.Service, tokens []wire.Operation) *Face {
	return &Face{learning: l, tokens: tokens}
}

// Name implements wire.Face.
func (f *Face) Name() string { return "v2" }

// Operations implements wire.Face.
func (f *Face) Operations() []wire.Operation {
	const mine, lecture = "/v2/current_user/courses/{course_id}", "/v2/current_user/courses/{course_id}/lectures/{lecture_id}"
	return append([]wire.Operation{
		{ID: "listProductCourses", Method: http.MethodGet, Path: "/v2/products/courses", Needs: lyceum.Read, Serve: wire.With(bindListProductCourses, f.ListProductCourses)},
		learner("getCurrentUser", http.MethodGet, "/v2/current_user/me", wire.Mine(f.GetCurrentUser)),
		learner("listCurrentUserCourses", http.MethodGet, "/v2/current_user/courses", wire.With(bindListMyCourses, f.ListCourses)),
		learner("showCurrentUserCourse", http.MethodGet, mine, wire.With(bindCourse, f.ShowCourse)),
		learner("showCurrentUserCourseProgress", http.MethodGet, mine+"/progress", wire.With(bindCourse, f.ShowCourseProgress)),
		learner("showCurrentUserLecture", http.MethodGet, lecture, wire.With(bindLecture, f.ShowLecture)),
		learner("showCurrentUserCompletion", http.MethodGet, lecture+"/completion", wire.With(bindLecture, f.ShowCompletion)),
		learner("putCurrentUserCompletion", http.MethodPut, lecture+"/completion", wire.With(bindLecture, f.PutCompletion)),
	}, f.tokens...)
}

// learner is an operation that an app asks for with an access token.
func learner(id, method, path string, serve wire.Endpoint) wire.Operation {
	return wire.Operation{
		ID: id, Method: method, Path: path, Credential: wire.Bearer, Version: lyceum.V2, Serve: serve,
		Fail: wire.LearnerFailure(access.ScopesFor(lyceum.V2, id).All()),
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

// codes has the word of each kind of error, for errors that have no code of their own.
var codes = map[lyceum.Kind]string{
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
func (f *Face) Failure(e *lyceum.Error, _ string) (int, wire.Body) {
	body := failure{Code: cmp.Or(e.Code, codes[e.Kind]), Message: strings.Join(e.Sentences(), "; "), Errors: []fieldError{}}
	for _, wrong := range e.Fields {
		body.Errors = append(body.Errors, fieldError{wrong.Field, wrong.Message})
	}
	return wire.Status(e.Kind), wire.JSON{Value: body}
}
