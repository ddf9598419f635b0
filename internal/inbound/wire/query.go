package wire

import (
	"slices"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// Query is a parsed query string. Unlike net/url, it rejects what it cannot decode instead of
// dropping it, and keeps parameters in order.
type Query struct{ pairs []pair }

type pair struct{ name, value string }

// ParseQuery parses a raw query string (WHATWG URL, section 5.1): pairs separated by
// ampersands, + for a space, %XX for a byte. A percent sign that is not followed by two
// hexadecimal digits is rejected.
func ParseQuery(raw string) (Query, error) {
	q := Query{make([]pair, 0, strings.Count(raw, "&")+1)}
	for raw != "" {
		var part string
		part, raw, _ = strings.Cut(raw, "&")
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		name, nameOK := unescape(name)
		value, valueOK := unescape(value)
		switch {
		case !nameOK:
			return Query{}, lyceum.Invalidf("the query string has a parameter name with a percent sign that is " +
				"not followed by two hexadecimal digits; write a percent sign as %%25")
		case !valueOK:
			return Query{}, lyceum.InvalidFields(lyceum.FieldError{
				Field: nameForMessage(name, aParameter),
				Message: "has a percent sign that is not followed by two hexadecimal digits; " +
					"write a percent sign as %25",
			})
		}
		q.pairs = append(q.pairs, pair{name, value})
	}
	return q, nil
}

// Has reports whether the query string has a parameter.
func (q Query) Has(name string) bool {
	return slices.ContainsFunc(q.pairs, func(p pair) bool { return p.name == name })
}

// aParameter and aMember are used in messages for names that must not be repeated there.
const (
	aParameter = "a parameter of the query string"
	aMember    = "a member of the body"
)

// nameForMessage returns the name of a parameter or member for use in a message, or otherwise
// if a client sent something that does not look like a name.
func nameForMessage(name, otherwise string) string {
	if name == "" || len(name) > 40 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return otherwise
	}
	return name
}

func unescape(s string) (string, bool) {
	if !strings.ContainsAny(s, "%+") {
		return s, true
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '+':
			b = append(b, ' ')
		case '%':
			if i+2 >= len(s) {
				return "", false
			}
			high, ok1 := hexDigit(s[i+1])
			low, ok2 := hexDigit(s[i+2])
			if !ok1 || !ok2 {
				return "", false
			}
			b = append(b, high<<4|low)
			i += 2
		default:
			b = append(b, s[i])
		}
	}
	return string(b), true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
