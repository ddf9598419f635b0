package lyceum

import "time"

// FailedRequestID numbers the failed requests of a school.
type FailedRequestID int32

// FailedRequestSequence numbers the failed requests of a school.
const FailedRequestSequence Sequence = "failed_request_id"

// FailedRequestsKept is how long failed requests are stored.
const FailedRequestsKept = 7 * 24 * time.Hour

// FailedRequest is an API request that got an error response. It contains nothing from the body
// or the query, and no IP address.
type FailedRequest struct {
	ID        FailedRequestID
	RequestID string // as in the response; callers can choose it, so it need not be unique
	At        time.Time
	Method    string
	Path      string // includes the numbers in it, but no other values
	Status    int32
	Took      int64 // microseconds
	Actor     string
	User      Opt[UserID] // the user for whom an app made the request
	Message   string      // what was wrong, as in the response
}

// FailedRequestFilter narrows failed requests, which are listed newest first.
type FailedRequestFilter struct {
	RequestID Opt[string]
}
