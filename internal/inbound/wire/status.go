package wire

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/lyceum-school/lyceum"
)

// statuses maps each kind of error to its HTTP status. Where a face or a page uses a different
// one, the code that calls Status says so.
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

// StatusGone is the status in the log, the metrics and the failed requests for a request whose
// client closed the connection before the response.
const StatusGone = 499

// Gone reports whether the client of a request has closed the connection.
func Gone(r *http.Request) bool { return errors.Is(context.Cause(r.Context()), context.Canceled) }

// RefusalLevel returns the log level for a request that cannot be served right now. It is low
// for a client that has gone, which the operator can do nothing about.
func RefusalLevel(r *http.Request) slog.Level {
	if Gone(r) {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}

// Status returns the HTTP status of a kind of error.
func Status(kind lyceum.Kind) int { return statuses[kind] }
