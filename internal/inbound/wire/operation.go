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

// Operation is one row of a face's table. The table alone says which requests
// are answered and what they need; routing, the check of credentials, the
// metrics and the test against the contract read it.
type Operation struct {
	ID         string // the contract's operationId
	Method     string
	Path       string // in the pattern language of http.ServeMux
	Credential Credential
	Needs      lyceum.Permissions      // of an API key
	BearerKey  bool                    // the API key may also be in the header Authorization, as a bearer token
	Version    lyceum.InterfaceVersion // that an access token must be of
	Serve      Endpoint
	Success    int           // status of an answer; 0 is 200
	Fail       Failure       // nil is the face's own
	Waits      time.Duration // how long the answer may have to be waited for
	MaxBody    int64         // the largest body that is read, in bytes; 0 is the server's bound
	Heavy      bool          // an answer may take so long to make that few are made at once
	Secret     bool          // the answers hold secrets, which nobody on the way may keep
	Cached     bool          // the database and the second say all of an answer: it may be sent again
	Previews   bool          // with ?preview=true it answers with what it would do, and does nothing
}

// Credential is what a request must show.
type Credential uint8

// The credentials. An API key and an access token open different doors; none
// stands for the other.
const (
	APIKey Credential = iota // of a school, in the header apiKey
	Bearer                   // an access token, in the header Authorization
	Open                     // what the operation itself asks for, if anything
)

// Principal is who asks. Where the operation is open it is nobody.
type Principal struct {
	By      lyceum.By
	Learner *access.Learner // for whom an app asks; nil for a program of the school
	// Count counts the request of an open operation, which knows by whom. It
	// fails when there were too many.
	Count func(access.Bucket) error
	// Admit decides about a request that was read without a mistake; nil admits
	// all.
	Admit func(context.Context, lyceum.By) error
}

// Failure gives an error its status, its body and, where it has one, its
// WWW-Authenticate.
type Failure func(e *lyceum.Error) (status int, challenge string, body Body)

// Face is one interface to the outside.
type Face interface {
	// Name stands in metrics and is the face's first path segment: v1.
	Name() string
	Operations() []Operation
	// Failure is the status and the body of an error. A face may show the id of
	// the request.
	Failure(e *lyceum.Error, requestID string) (status int, body Body)
}

// Body is the JSON of an answer, appended to a buffer.
type Body interface {
	AppendJSON(b []byte) ([]byte, error)
}

// Typed is a body that is not JSON.
type Typed interface {
	Body
	ContentType() string
}

// Versioned is a body that one state of a school's sales and the request say
// all of.
type Versioned interface {
	Body
	// State is the zero Version where it is unknown.
	State() lyceum.Version
}

// Endpoint answers one request of somebody whose credential holds.
type Endpoint func(ctx context.Context, who Principal, r *http.Request) (Body, error)

// Verb is what an operation does: its method, and the status of its answer.
type Verb uint8

// The verbs. Create and Run are both POST: the first is answered with 201.
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

// New makes an operation of a school's programs: a key that may read is enough
// to get, and everything else wants one that may write.
func New(id string, verb Verb, path string, serve Endpoint) Operation {
	op := Operation{
		ID: id, Method: verbs[verb].method, Path: path, Needs: lyceum.Write, Serve: serve, Success: verbs[verb].success,
	}
	if verb == Get {
		op.Needs = lyceum.Read
	}
	return op
}

// Answered is a body that has a status of its own, other than Operation.Success.
type Answered interface {
	Body
	Status() int
}

// Nothing is the body of an answer that has none.
type Nothing struct{}

func (Nothing) AppendJSON(b []byte) ([]byte, error) { return b, nil }

// JSON is a body written by encoding/json, for answers that are rare or small.
type JSON struct{ Value any }

func (j JSON) AppendJSON(b []byte) ([]byte, error) { return appendValue(b, j.Value) }

func appendValue(b []byte, v any) ([]byte, error) {
	text := appending(b)
	if err := json.NewEncoder(&text).Encode(v); err != nil {
		return b, fmt.Errorf("encode answer: %w", err)
	}
	return text[:len(text)-1], nil // without the line end that an Encoder adds
}

// appending is a Writer at the end of a buffer.
type appending []byte

// Write implements io.Writer.
func (a *appending) Write(text []byte) (int, error) {
	*a = append(*a, text...)
	return len(text), nil
}

// Text is a body that is JSON already.
type Text []byte

func (t Text) AppendJSON(b []byte) ([]byte, error) { return append(b, t...), nil }
