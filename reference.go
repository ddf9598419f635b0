package lyceum

import "strings"

// Reference is the name of a transaction in the payment system.
type Reference struct {
	Transaction TransactionID
	Name        string // unique in the school
}

// ReferenceFilter narrows references; an absent part holds always.
type ReferenceFilter struct {
	Name    Opt[string]
	AnyCase Opt[string] // in any case of its letters
}

// ErrReferenceTaken is the error of a payment that is recorded already.
var ErrReferenceTaken error = &Error{
	Kind: Conflict, Code: "reference_taken", Detail: "the payment with this reference is recorded already",
}

// ReferenceKey is what a reference has in common with those that differ from it
// in the case of their letters, from A to Z.
func ReferenceKey(reference string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, reference)
}
