package lyceum

// Opt is a value that may be absent; the contract writes an absent value as null. The zero Opt
// is absent. Two Opts made by Some or None are equal under == if both are absent or both have
// equal values.
type Opt[T comparable] struct {
	Value   T
	Present bool
}

// Some returns an Opt with the value v.
func Some[T comparable](v T) Opt[T] { return Opt[T]{Value: v, Present: true} }

// None returns an absent Opt.
func None[T comparable]() Opt[T] { return Opt[T]{} }

// Or returns o, or Some(v) if o is absent.
func (o Opt[T]) Or(v T) Opt[T] {
	if o.Present {
		return o
	}
	return Some(v)
}

// Else returns the value, or v if o is absent.
func (o Opt[T]) Else(v T) T {
	if o.Present {
		return o.Value
	}
	return v
}
