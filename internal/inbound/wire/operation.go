package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// Operation is one row of a face's table of operations. The table is the only place that says
// which requests are served and what they require; routing, the credential check, metrics and
// the test against the contract read it.
type Operation struct {
	ID         string // the contract's operationId
	Method     string
	Path       string // in the pattern language of http.ServeMux
	Credential Credential
	Needs      lyceum.Permissions      // that an API key must have
	BearerKey  bool                    // the API key may also be a bearer token in the Authorization header
	Version    lyceum.InterfaceVersion // that an access token must belong to
	Serve      Endpoint
	Success    int           // status of a successful response; 0 means 200
	Fail       Failure       // nil means the face's own
	Waits      time.Duration // how long the response may take in addition to the usual time limit
	MaxBody    int64         // the largest accepted body, in bytes; 0 means the server's limit
	Heavy      bool          // a response may take so long that only a few are made at the same time
	Secret     bool          // responses contain secrets and must not be stored on the way
	Cached     bool          // responses depend only on the request, the database and the second, and may be sent again
	Previews   bool          // with ?preview=true the response says what would happen, and nothing is changed
}

// longBody is the largest body of an operation that accepts long texts, in bytes: two of 20,000
// characters, each of which takes up to six bytes in JSON, and as much else as usual.
const longBody = 2*20_000*6 + 64<<10

// Long returns the operation with a limit of the body that its longest texts fit into.
func (op Operation) Long() Operation {
	op.MaxBody = longBody
	return op
}

// Credential is what a request must authenticate with.
type Credential uint8

// The credentials. API keys and access tokens are not interchangeable.
const (
	APIKey Credential = iota // of a school, in the header apiKey
	Bearer                   // an access token, in the header Authorization
	Open                     // whatever the operation itself checks, if anything
)

// Principal is the authenticated caller. For an open operation it is nobody.
type Principal struct {
	By      lyceum.By
	Learner *access.Learner // whom an app acts for; nil for a program of the school
	// Count counts a request to an open operation, which determines whom it counts for. It
	// fails if there were too many.
	Count func(access.Bucket) error
	// Admit decides about a request that was read without errors; nil admits every request.
	Admit func(context.Context, lyceum.By) error
}

// Failure returns the status and the body of an error and, if it has one, its WWW-Authenticate
// challenge.
type Failure func(e *lyceum.Error) (status int, challenge string, body Body)

// Face is one API of the server.
type Face interface {
	// Name is the name in metrics and the first path segment of the face, such as v1.
	Name() string
	Operations() []Operation
	// Failure returns the status and the body of an error. A face may include the request id.
	Failure(e *lyceum.Error, requestID string) (status int, body Body)
}

// Body is the JSON of a response, appended to a buffer.
type Body interface {
	AppendJSON(b []byte) ([]byte, error)
}

// Typed is a body that is not JSON.
type Typed interface {
	Body
	ContentType() string
}

// Versioned is a body that is fully determined by the request and one state of a school's
// sales.
type Versioned interface {
	Body
	// State returns that state, or the zero Version if it is unknown.
	State() lyceum.Version
}

// Endpoint handles one request whose credential is valid.
type Endpoint func(ctx context.Context, who Principal, r *http.Request) (Body, error)

// Verb is what an operation does: its method, and the status of its success response.
type Verb uint8

// The verbs. Create and Run are both POST: Create responds with 201.
const (
	Get Verb = iota
	Create
	Run
	Put
	Patch
	Delete
)

var verbs = [...]struct {
	method  string
	success int
}{
	Get:    {http.MethodGet, http.StatusOK},
	Create: {http.MethodPost, http.StatusCreated},
	Run:    {http.MethodPost, http.StatusOK},
	Put:    {http.MethodPut, http.StatusOK},
	Patch:  {http.MethodPatch, http.StatusOK},
	Delete: {http.MethodDelete, http.StatusOK},
}

// New returns an operation for a school's programs. GET requires a key that may read,
// everything else one that may write.
func New(id string, verb Verb, path string, serve Endpoint) Operation {
	op := Operation{
		ID: id, Method: verbs[verb].method, Path: path, Needs: lyceum.Write, Serve: serve, Success: verbs[verb].success,
	}
	if verb == Get {
		op.Needs = lyceum.Read
	}
	return op
}

// StatusBody is a body with its own status, other than Operation.Success.
type StatusBody interface {
	Body
	Status() int
}

// Nothing is the empty body.
type Nothing struct{}

func (Nothing) AppendJSON(b []byte) ([]byte, error) { return b, nil }

// JSON is a body written by encoding/json, for responses that are rare or small.
type JSON struct{ Value any }

func (j JSON) AppendJSON(b []byte) ([]byte, error) { return appendValue(b, j.Value) }

func appendValue(b []byte, v any) ([]byte, error) {
	text := appending(b)
	if err := json.NewEncoder(&text).Encode(v); err != nil {
		return b, fmt.Errorf("encode answer: %w", err)
	}
	return text[:len(text)-1], nil // without the newline that an Encoder adds
}

// appending is an io.Writer that appends to a buffer.
type appending []byte

// Write implements io.Writer.
func (a *appending) Write(text []byte) (int, error) {
	*a = append(*a, text...)
	return len(text), nil
}

// Text is a body that is already JSON.
type Text []byte

func (t Text) AppendJSON(b []byte) ([]byte, error) { return append(b, t...), nil }
