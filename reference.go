package lyceum

import "strings"

// Reference is the id of a transaction in the payment system.
type Reference struct {
	Transaction TransactionID
	Name        string // unique in the school
}

// ReferenceFilter narrows references; absent fields match everything.
type ReferenceFilter struct {
	Name    Opt[string]
	AnyCase Opt[string] // the name, case-insensitive
}

// ErrReferenceTaken is the error for a payment that is already recorded.
var ErrReferenceTaken error = &Error{
	Kind: Conflict, Code: "reference_taken", Detail: "the payment with this reference is recorded already",
}

// ReferenceKey returns the reference with the letters A to Z in lower case: references that
// differ only in the case of these letters have the same key.
func ReferenceKey(reference string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, reference)
}
