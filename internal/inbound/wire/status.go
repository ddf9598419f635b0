package wire

import (
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

// Status returns the HTTP status of a kind of error.
func Status(kind lyceum.Kind) int { return statuses[kind] }
