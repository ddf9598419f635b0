package wire

import (
	"net/http"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// OAuthError is an error body as RFC 6749 defines it. Only the response to too many requests has
// a message, as the contract documents it.
type OAuthError struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
	Message     string `json:"message,omitempty"`
}

// learnerWords are the codes of errors that do not have their own.
var learnerWords = map[lyceum.Kind]string{
	lyceum.Internal:        "server_error",
	lyceum.Invalid:         "invalid_request",
	lyceum.Unauthenticated: "invalid_token",
	lyceum.Forbidden:       "access_forbidden",
	lyceum.NotFound:        "resource_not_found",
	lyceum.Conflict:        "unmet_requirements",
	lyceum.TooLarge:        "invalid_request",
	lyceum.RateLimited:     "rate_limit_exceeded",
	lyceum.Unavailable:     "temporarily_unavailable",
}

// AsOAuth returns an error's status and its body as RFC 6749 defines it.
func AsOAuth(e *lyceum.Error) (int, OAuthError) {
	word := e.Code
	if word == "" || e.Kind == lyceum.Unavailable {
		word = learnerWords[e.Kind]
	}
	status := Status(e.Kind)
	if word == lyceum.QuizChanged { // the request is well-formed
		status = http.StatusUnprocessableEntity
	}
	body := OAuthError{Error: word, Description: strings.Join(e.Sentences(), "; ")}
	if e.Kind == lyceum.RateLimited {
		body.Message = body.Description
	}
	return status, body
}

// ForLearners turns operations into ones for apps, which call the given version with an access
// token. Writes succeed with the operation's own status.
func ForLearners(version lyceum.InterfaceVersion, operations ...Operation) []Operation {
	for i := range operations {
		op := &operations[i]
		op.Credential, op.Needs, op.Version = Bearer, 0, version
		op.Fail = LearnerFailure(access.ScopesFor(version, op.ID).All())
	}
	return operations
}

// LearnerFailure writes the errors of an operation that requires an access token with one of
// the scopes, with the challenge of RFC 6750, section 3.
func LearnerFailure(scopes []lyceum.Scope) Failure {
	return func(e *lyceum.Error) (int, string, Body) {
		if e.Kind == lyceum.Invalid && e.Code != lyceum.QuizChanged {
			plain := *e
			plain.Code = "" // OAuth has a single code for everything invalid
			e = &plain
		}
		status, body := AsOAuth(e)
		challenge := `Bearer realm="lyceum"`
		switch {
		case e.Kind == lyceum.Unauthenticated && e.Code != "":
			challenge += `, error="invalid_token", error_description="` + e.Detail + `"`
		case e.Kind == lyceum.Unauthenticated: // without a token there is no error parameter (section 3.1)
		case e.Code == access.LacksScope: // another refusal does not end with more scopes
			challenge += `, error="insufficient_scope", scope="` + lyceum.Scopes(scopes).String() + `"`
		default:
			challenge = ""
		}
		return status, challenge, JSON{body}
	}
}
