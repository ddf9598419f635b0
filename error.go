package lyceum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
)

// Kind says what went wrong, in no transport's words. The inbound room turns a
// kind into a status in one table.
type Kind uint8

// The kinds of error.
const (
	Internal        Kind = iota // the zero value: the caller learns nothing
	Invalid                     // the request is wrong and says how to put it right
	Unauthenticated             // no credential, or one that does not hold
	Forbidden                   // the credential holds and does not reach this far
	NotFound                    // no such thing in this school
	Conflict                    // the thing is in a state that does not allow this
	TooLarge                    // the request is larger than is read
	RateLimited                 // too many requests in this minute
	Unavailable                 // the store cannot answer now; the same request may succeed later
	numKinds                    // not a kind
)

// Kinds lists every kind, for tests that walk a face's table.
func Kinds() []Kind {
	kinds := make([]Kind, numKinds)
	for i := range kinds {
		kinds[i] = Kind(i)
	}
	return kinds
}

// OutcomeUnknown is the code of an error after which nobody knows whether the
// change was kept. After every other error nothing of it was.
const OutcomeUnknown = "outcome_unknown"

var kindNames = [numKinds]string{
	Internal: "internal", Invalid: "invalid", Unauthenticated: "unauthenticated",
	Forbidden: "forbidden", NotFound: "not found", Conflict: "conflict",
	TooLarge: "too large", RateLimited: "rate limited", Unavailable: "unavailable",
}

func (k Kind) String() string {
	if k >= numKinds {
		return "unknown kind"
	}
	return kindNames[k]
}

// FieldError is one thing wrong with one named field, parameter or column.
// Message is worded to follow the name: "must be an integer from 1 to 100".
type FieldError struct{ Field, Message string }

func (f FieldError) String() string { return f.Field + " " + f.Message }

// Error may be told to the caller. Code is contract, Detail is for a person,
// Fields names every field that is wrong when the kind is Invalid, Err is for
// the log and is never shown. No part of it holds a secret.
type Error struct {
	Kind   Kind
	Code   string
	Detail string
	Fields []FieldError
	Err    error
}

func (e *Error) Error() string {
	text := e.Detail
	if text == "" {
		text = e.Kind.String()
	}
	for i, f := range e.Fields {
		separator := "; "
		if i == 0 {
			separator = ": "
		}
		text += separator + f.String()
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap gives the error behind, for the log.
func (e *Error) Unwrap() error { return e.Err }

// Sentences gives what may be told to the caller, one sentence for each thing
// that is wrong and never none.
func (e *Error) Sentences() []string {
	if len(e.Fields) == 0 {
		return []string{cmp.Or(strings.TrimSpace(e.Detail), e.Kind.String())}
	}
	sentences := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		sentences[i] = f.String()
	}
	return sentences
}

// Public gives the part of err that may be told to the caller. The end of a context is
// Unavailable. Any other error that is not an *Error comes back as Internal, so that
// nothing leaks by being forgotten.
func Public(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &Error{Kind: Unavailable, Code: OutcomeUnknown, Err: err, Detail: "the answer took too long; if something " +
			"was to be changed, check whether it was before you try again"}
	}
	return &Error{Kind: Internal, Detail: "internal error", Err: err}
}

// KindOf gives the kind of err; an error that is not an *Error is Internal.
func KindOf(err error) Kind { return Public(err).Kind }

// Errorf makes an error of the given kind with a detail for the caller.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Detail: fmt.Sprintf(format, args...)}
}

// Invalidf is Errorf with Invalid, the kind that refusals of input have.
func Invalidf(format string, args ...any) *Error { return Errorf(Invalid, format, args...) }

// MaxFieldErrors is how many mistakes an error names at most: a small body can have
// thousands, and its answer would be far larger than itself.
const MaxFieldErrors = 100

// InvalidFields refuses a request for what is wrong with the fields named, the first
// MaxFieldErrors of them.
func InvalidFields(fields ...FieldError) *Error {
	fields = fields[:min(len(fields), MaxFieldErrors)]
	return &Error{Kind: Invalid, Detail: "the request is invalid", Fields: fields}
}
