package access

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/lyceum-school/lyceum"
)

const (
	// failuresAnHour is how many failed requests of a school are stored in an hour, and
	// alikeAnHour how many of those have the same method, path and status.
	failuresAnHour = 2000
	alikeAnHour    = 200
	// failuresPending is how many may wait to be stored, for all schools together.
	failuresPending = 10_000
	// maxFailureText is the longest message that is stored, in bytes.
	maxFailureText = 1000
)

// Failures stores the failed requests of schools for FailedRequestsKept. Requests do not wait
// for that: Keep stores what was added since the last call. It is safe for concurrent use.
type Failures struct {
	store   lyceum.Store
	clock   func() time.Time
	dropped atomic.Int64
	most    *Tries // by school
	alike   *Tries // by method, path and status

	mu      sync.Mutex
	waiting int
	pending map[lyceum.SchoolID][]lyceum.FailedRequest
}

// NewFailures returns a Failures for a store.
func NewFailures(store lyceum.Store, clock func() time.Time) *Failures {
	return &Failures{
		store: store, clock: clock, most: NewTries(clock, Bounds{Hour: failuresAnHour}),
		alike: NewTries(clock, Bounds{Hour: alikeAnHour}), pending: map[lyceum.SchoolID][]lyceum.FailedRequest{},
	}
}

// Dropped returns how many failed requests were not stored since the start because there were
// too many.
func (f *Failures) Dropped() int64 { return f.dropped.Load() }

// address matches an email address within any text.
var address = regexp.MustCompile(`[^\s"'<>(),;:]+@[^\s"'<>(),;:]+`)

// sampleAddress is the address in our own error messages, "such as learner@example.com".
const sampleAddress = "learner@example.com"

// Add records a failed request of a school and what its response said was wrong, without email
// addresses.
func (f *Failures) Add(school lyceum.SchoolID, r lyceum.FailedRequest, wrong *lyceum.Error) {
	if !f.alike.Take(school, fmt.Sprint(r.Method, " ", r.Path, " ", r.Status)) || !f.most.Take(school, "") {
		f.dropped.Add(1)
		return
	}
	r.At, r.Message = f.clock(), failureText(wrong)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting >= failuresPending {
		f.dropped.Add(1)
		return
	}
	f.waiting++
	f.pending[school] = append(f.pending[school], r)
}

func failureText(wrong *lyceum.Error) string {
	text := address.ReplaceAllStringFunc(strings.Join(wrong.Sentences(), "; "), func(found string) string {
		if found == sampleAddress {
			return found
		}
		return "…"
	})
	if len(text) <= maxFailureText {
		return text
	}
	end := maxFailureText - len("…")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// Keep stores the requests that were added. Those that cannot be stored are retried on the next
// call; an error of one school does not hold up the others.
func (f *Failures) Keep(ctx context.Context) error {
	f.mu.Lock()
	pending := f.pending
	f.pending, f.waiting = map[lyceum.SchoolID][]lyceum.FailedRequest{}, 0
	f.mu.Unlock()
	var failed error
	for school, requests := range pending {
		stamp := lyceum.Stamp{School: school, At: f.clock(), Actor: "server"}
		err := f.store.Write(ctx, stamp, func(tx lyceum.Tx) error {
			if err := tx.Reserve(len(requests), lyceum.FailedRequestSequence); err != nil {
				return err
			}
			for i := range requests {
				var err error
				if requests[i].ID, err = tx.FailedRequests.NextID(tx); err != nil {
					return err
				}
			}
			return tx.FailedRequests.Insert(tx, requests...)
		})
		if err != nil {
			failed = errors.Join(failed, err)
			f.mu.Lock()
			f.pending[school] = append(requests, f.pending[school]...)
			f.waiting += len(requests)
			f.mu.Unlock()
		}
	}
	return failed
}

var requestID = regexp.MustCompile(`^[0-9A-Za-z._-]{1,64}$`)

// ParseRequestID parses a request id, as in X-Request-Id. It fails with Invalid if no request
// can have such an id.
func ParseRequestID(text string) (string, error) {
	if !requestID.MatchString(text) {
		return "", lyceum.Invalidf("must be 1 to 64 letters, digits, hyphens, underscores or dots, as X-Request-Id has them")
	}
	return text, nil
}

// List returns the failed requests of a school, newest first.
func (f *Failures) List(
	ctx context.Context, by lyceum.By, q lyceum.FailedRequestFilter, p lyceum.Page,
) (lyceum.Listing[lyceum.FailedRequest], error) {
	v := f.store.In(ctx, by.School)
	return v.FailedRequests.List(v, q, p)
}
