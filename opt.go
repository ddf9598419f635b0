package lyceum

// Opt is a value that may be absent; the contract writes an absent one as
// null. The zero Opt is absent. Two Opts are equal under == when both are
// absent or both hold equal values, provided they were made by Some or None.
type Opt[T comparable] struct {
	Value   T
	Present bool
}

// Some holds v.
func Some[T comparable](v T) Opt[T] { return Opt[T]{Value: v, Present: true} }

// None holds nothing.
func None[T comparable]() Opt[T] { return Opt[T]{} }

// Or gives o, or v where o holds nothing.
func (o Opt[T]) Or(v T) Opt[T] {
	if o.Present {
		return o
	}
	return Some(v)
}

// Else returns the value, or v where o holds nothing.
func (o Opt[T]) Else(v T) T {
	if o.Present {
		return o.Value
	}
	return v
}
