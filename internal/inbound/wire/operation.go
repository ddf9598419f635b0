package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
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
	Version    lyceum.InterfaceVersion // that an access token must be of
	Serve      Endpoint
	Success    int           // status of an answer; 0 is 200
	Fail       Failure       // nil is the face's own
	Waits      time.Duration // how long the answer may have to be waited for
	Heavy      bool          // an answer may take so long to make that few are made at once
	Secret     bool          // the answers hold secrets, which nobody on the way may keep
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

// Principal is who asks: a program of the school, or an app that acts for a
// learner. Where the operation is open it is nobody.
type Principal struct {
	Caller  access.Caller
	Learner *access.Learner
	// Count counts the request of an open operation, which knows by whom. It
	// fails when there were too many.
	Count func(access.Bucket) error
}

// Viewer is for whom the learning rules answer.
func (p Principal) Viewer() learning.Viewer {
	if p.Learner != nil {
		return learning.Viewer{School: p.Learner.School, Learner: lyceum.Some(p.Learner.User), Actor: p.Learner.Actor()}
	}
	return learning.Viewer{School: p.Caller.School, Actor: p.Caller.Actor()}
}

// Failure gives an error its status, its body and, where it has one, its
// WWW-Authenticate.
type Failure func(e *lyceum.Error) (status int, challenge string, body Body)

// Face is one interface to the outside.
type Face interface {
	// Name stands in metrics and is the face's first path segment: v1.
	Name() string
	Operations() []Operation
	// Failure is the status and the body of an error; the only place where a
	// kind becomes a status. A face may show the id of the request.
	Failure(e *lyceum.Error, requestID string) (status int, body Body)
}

// Body is the JSON of an answer, appended to a buffer.
type Body interface {
	AppendJSON(b []byte) ([]byte, error)
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

// Asked makes an endpoint of a function that wants its query parameters bound
// and gives a body.
func Asked[P any, A Body](bind func(*Binder) P, answer func(context.Context, access.Caller, P) (A, error)) Endpoint {
	return func(ctx context.Context, who Principal, r *http.Request) (Body, error) {
		query, err := ParseQuery(r.URL.RawQuery)
		if err != nil {
			return nil, err
		}
		binder := NewBinder(query)
		params := bind(binder)
		if err := binder.Err(); err != nil {
			return nil, err
		}
		return answer(ctx, who.Caller, params)
	}
}

// Mine makes an endpoint of a function that wants nothing but the learner.
func Mine[A Body](answer func(context.Context, *access.Learner) (A, error)) Endpoint {
	return func(ctx context.Context, who Principal, _ *http.Request) (Body, error) {
		return answer(ctx, who.Learner)
	}
}

// Nothing is the body of an answer that has none.
type Nothing struct{}

// AppendJSON implements Body.
func (Nothing) AppendJSON(b []byte) ([]byte, error) { return b, nil }

// JSON is a body written by encoding/json, for answers that are rare or small.
type JSON struct{ Value any }

// AppendJSON implements Body.
func (j JSON) AppendJSON(b []byte) ([]byte, error) {
	text := appending(b)
	if err := json.NewEncoder(&text).Encode(j.Value); err != nil {
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

// AppendJSON implements Body.
func (t Text) AppendJSON(b []byte) ([]byte, error) { return append(b, t...), nil }
