package server

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// sendFailure sends the public part of an error in the format of the face, and logs the rest.
// If status is 0, the face's own status for the kind of error is used.
func (h *handler) sendFailure(x *exchange, r *http.Request, err error, status int) {
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		err = lyceum.Errorf(lyceum.TooLarge, "the request body is larger than %d bytes", large.Limit)
	}
	e := lyceum.Public(err)
	switch e.Kind {
	case lyceum.Internal:
		h.Log.ErrorContext(r.Context(), "request failed", "request_id", x.id, "path", x.pattern(r), "err", err)
		e = &lyceum.Error{
			Kind: lyceum.Internal, Detail: "internal error; look for the X-Request-Id in the server's log",
		}
	case lyceum.Unavailable:
		h.Log.With(roomLacked(err)...).Log(r.Context(), wire.RefusalLevel(r), "request refused",
			"request_id", x.id, "path", x.pattern(r), "err", err)
		x.Header().Set("Retry-After", "2")
	case lyceum.RateLimited:
		if x.Header().Get("Retry-After") == "" { // it was not the limit of requests
			x.Header().Set("Retry-After", "60")
		}
	}
	x.wrong = e
	own, challenge, body := x.failure(e)
	if challenge != "" {
		x.Header().Set("WWW-Authenticate", challenge)
	}
	if status == 0 {
		status = own
	}
	if err := wire.Send(x, r, status, body); err != nil {
		h.Log.ErrorContext(r.Context(), "error could not be sent", "request_id", x.id, "err", err)
	}
}

// failed returns what is stored of a failed request.
func (x *exchange) failed(r *http.Request, took time.Duration) lyceum.FailedRequest {
	f := lyceum.FailedRequest{
		RequestID: x.id, Method: r.Method, Path: x.kindOfPath(r), Status: int32(x.status), // #nosec G115 -- below 600
		Took: took.Microseconds(), Actor: x.who.By.Actor,
	}
	if x.who.Learner != nil {
		f.User = lyceum.Some(x.who.Learner.User)
	}
	return f
}

// maxPathNumber is the length of the longest number in a path that is stored, in digits.
const maxPathNumber = 20

// kindOfPath returns the path of a request with the names of its parameters instead of their
// values, except for numbers.
func (x *exchange) kindOfPath(r *http.Request) string {
	pattern := x.pattern(r)
	names, given := strings.Split(pattern, "/"), strings.Split(r.URL.Path, "/")
	if len(names) != len(given) {
		return pattern
	}
	for i, name := range names {
		if strings.HasPrefix(name, "{") && len(given[i]) <= maxPathNumber && isNumber(given[i]) {
			names[i] = given[i]
		}
	}
	return strings.Join(names, "/")
}

func isNumber(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
}

// roomLacked returns the log attributes for a response that found no room: how much it needed,
// and the setting that provides more.
func roomLacked(err error) []any {
	e, ok := errors.AsType[*access.RoomError](err)
	if !ok {
		return nil
	}
	setting := "--answer-memory"
	if e.OfSchool {
		setting = "--answer-memory-school"
	}
	return []any{"school", e.School, "wanted_bytes", e.Wanted, "bound_bytes", e.Bound, "setting", setting}
}

// failure renders an error in the format of the operation, of the face, or of neither.
func (x *exchange) failure(e *lyceum.Error) (status int, challenge string, body wire.Body) {
	switch {
	case x.op != nil && x.op.Fail != nil:
		return x.op.Fail(e)
	case x.route != nil && x.route.fail != nil:
		return x.route.fail(e)
	case x.route != nil && x.route.face != nil:
		status, body = x.route.face.Failure(e, x.id)
		return status, "", body
	}
	status, body = plainFailure(e)
	return status, "", body
}

// plainFailure renders an error for an address that belongs to no face.
func plainFailure(e *lyceum.Error) (int, wire.Body) {
	return wire.Status(e.Kind), wire.JSON{Value: map[string]string{"message": e.Detail}}
}

func (h *handler) notFound(x *exchange, r *http.Request) {
	x.Header().Add("Vary", "Accept")
	if h.Nothing != nil && web.WantsPage(r) {
		h.Nothing.ServeHTTP(x, r)
		return
	}
	h.sendFailure(x, r, lyceum.Errorf(lyceum.NotFound, noRoute), 0)
}
