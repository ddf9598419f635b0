package lyceum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
)

// Kind is the kind of an error, independent of any transport. The inbound layer maps kinds to
// HTTP statuses in one table.
type Kind uint8

// The kinds of error.
const (
	Internal        Kind = iota // the zero value: nothing is revealed to the caller
	Invalid                     // the request is wrong; the error says how to correct it
	Unauthenticated             // the credential is missing or invalid
	Forbidden                   // the credential is valid but not sufficient
	NotFound                    // no such object in this school
	Conflict                    // the object is in a state that does not allow this
	TooLarge                    // the request exceeds the size limit
	RateLimited                 // too many requests in the current minute
	Unavailable                 // the store cannot respond now; a retry may succeed
	numKinds                    // not a kind
)

// Kinds lists every kind, for tests that check a face's table.
func Kinds() []Kind {
	kinds := make([]Kind, numKinds)
	for i := range kinds {
		kinds[i] = Kind(i)
	}
	return kinds
}

// OutcomeUnknown is the code of an error after which it is unknown whether the change was
// stored. After any other error, nothing of it was.
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

// FieldError is what is wrong with one field, parameter or column. Message is worded to follow
// the name: "must be an integer from 1 to 100".
type FieldError struct{ Field, Message string }

func (f FieldError) String() string { return f.Field + " " + f.Message }

// Error is an error that may be shown to the caller. Code is part of the contract, Detail is a
// human-readable message, Fields lists every invalid field if the kind is Invalid, and Err is
// only for the log and never shown. No part of it contains a secret.
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

// Unwrap returns the underlying error, for the log.
func (e *Error) Unwrap() error { return e.Err }

// Sentences returns what may be shown to the caller: one sentence for each problem, and at
// least one.
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

// Public returns the part of err that may be shown to the caller. The end of a context is
// Unavailable. Any other error that is not an *Error is Internal, so that nothing is revealed
// by accident.
func Public(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &Error{Kind: Unavailable, Code: OutcomeUnknown, Err: err, Detail: "the answer took too long; if the request " +
			"was meant to change something, check whether it did before you try again"}
	}
	return &Error{Kind: Internal, Detail: "internal error", Err: err}
}

// KindOf returns the kind of err; an error that is not an *Error is Internal.
func KindOf(err error) Kind { return Public(err).Kind }

// Errorf returns an error of the given kind with a detail for the caller.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Detail: fmt.Sprintf(format, args...)}
}

// Invalidf is Errorf with the kind Invalid, for rejected input.
func Invalidf(format string, args ...any) *Error { return Errorf(Invalid, format, args...) }

// MaxFieldErrors is the maximum number of fields that an error lists: a small body can have
// thousands of mistakes, and the response would be far larger than the request.
const MaxFieldErrors = 100

// InvalidFields returns an error that lists the invalid fields of a request, at most the first
// MaxFieldErrors.
func InvalidFields(fields ...FieldError) *Error {
	fields = fields[:min(len(fields), MaxFieldErrors)]
	return &Error{Kind: Invalid, Detail: "the request is invalid", Fields: fields}
}
