package wire

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/lyceum-school/lyceum"
)

// statuses has the HTTP status of every kind of error. Where a face or a page
// answers with another one, it says so where it calls Status.
var statuses = map[lyceum.Kind]int{
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

// StatusGone is the status that the log, the metrics and the failed requests have of a
// request whose client closed the connection before the response.
const StatusGone = 499

// Gone reports whether the client has closed the connection of a request.
func Gone(r *http.Request) bool { return errors.Is(context.Cause(r.Context()), context.Canceled) }

// RefusalLevel is how loud a log tells that a request cannot be answered now: whoever runs
// the server has nothing to do about a client that has gone.
func RefusalLevel(r *http.Request) slog.Level {
	if Gone(r) {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}

// Status returns the HTTP status of a kind of error.
func Status(kind lyceum.Kind) int { return statuses[kind] }
