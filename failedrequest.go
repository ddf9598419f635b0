package lyceum

import "time"

// FailedRequestID numbers the failed requests of a school.
type FailedRequestID int32

// FailedRequestSequence numbers the failed requests of a school.
const FailedRequestSequence Sequence = "failed_request_id"

// FailedRequestsKept is how long a failed request is kept.
const FailedRequestsKept = 7 * 24 * time.Hour

// FailedRequest is a request of an API that was answered with an error. It has nothing
// of the body or the query, and no address.
type FailedRequest struct {
	ID        FailedRequestID
	RequestID string // as the response had it; callers choose their own, so several may have one
	At        time.Time
	Method    string
	Path      string // with the numbers that were in it, and without other values
	Status    int32
	Took      int64 // microseconds
	Actor     string
	User      Opt[UserID] // for whom an app asked
	Message   string      // what was wrong, as the response had it
}

// FailedRequestFilter narrows failed requests, which are listed newest first.
type FailedRequestFilter struct {
	RequestID Opt[string]
}
