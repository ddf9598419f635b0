package lyceum

import (
	"slices"
	"strings"
)

// Scope is one permission that an app can be granted (docs/oauth.md, "Scopes").
type Scope string

// Scopes is a set of scopes in ascending order without duplicates. Create it with NewScopes or
// ParseScopes.
type Scopes []Scope

// NewScopes returns the set of the given scopes.
func NewScopes(list ...Scope) Scopes {
	set := slices.Sorted(slices.Values(list))
	return slices.Compact(set)
}

// ParseScopes parses a space-separated list as defined in RFC 6749, section 3.3.
func ParseScopes(text string) Scopes {
	var list []Scope
	for name := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ' ' }) {
		list = append(list, Scope(name))
	}
	return NewScopes(list...)
}

// String returns the set as a space-separated list.
func (s Scopes) String() string {
	names := make([]string, len(s))
	for i, scope := range s {
		names[i] = string(scope)
	}
	return strings.Join(names, " ")
}

// Has reports whether the set contains scope.
func (s Scopes) Has(scope Scope) bool { return slices.Contains(s, scope) }

// Covers reports whether every scope in other is in the set.
func (s Scopes) Covers(other Scopes) bool {
	return !slices.ContainsFunc(other, func(scope Scope) bool { return !s.Has(scope) })
}
