package wire

import (
	"cmp"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// codes are the codes of errors that do not have their own.
var codes = map[lyceum.Kind]string{
	lyceum.Internal:        "internal_error",
	lyceum.Invalid:         "invalid_request",
	lyceum.Unauthenticated: "unauthenticated",
	lyceum.Forbidden:       "access_forbidden",
	lyceum.NotFound:        "not_found",
	lyceum.Conflict:        "conflict",
	lyceum.TooLarge:        "too_large",
	lyceum.RateLimited:     "rate_limit_exceeded",
	lyceum.Unavailable:     "unavailable",
}

// CodedError is an error body with a code and the invalid fields.
type CodedError struct {
	Code    string       `json:"code"`
	Message string       `json:"message"`
	Errors  []CodedField `json:"errors"`
}

// CodedField is what is wrong with one field, worded to follow its name.
type CodedField struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Coded returns the body of an error.
func Coded(e *lyceum.Error) Body {
	body := CodedError{
		Code: cmp.Or(e.Code, codes[e.Kind]), Message: strings.Join(e.Sentences(), "; "), Errors: []CodedField{},
	}
	for _, wrong := range e.Fields {
		body.Errors = append(body.Errors, CodedField(wrong))
	}
	return JSON{Value: body}
}
