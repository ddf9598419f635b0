package wire

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

// Optional returns a pointer to the value, or nil if it is absent.
func Optional[T comparable](o lyceum.Opt[T]) *T {
	if !o.Present {
		return nil
	}
	return &o.Value
}

// Number returns an optional number as a pointer to an int32, nil if it is absent.
func Number[T ~int32](o lyceum.Opt[T]) *int32 {
	if !o.Present {
		return nil
	}
	n := int32(o.Value)
	return &n
}

// Word returns an optional string as a pointer, nil if it is absent.
func Word[T ~string](o lyceum.Opt[T]) *string {
	if !o.Present {
		return nil
	}
	word := string(o.Value)
	return &word
}

// Opt returns the value that v points to, absent if v is nil.
func Opt[T comparable](v *T) lyceum.Opt[T] {
	if v == nil {
		return lyceum.None[T]()
	}
	return lyceum.Some(*v)
}

// OptNumber returns the id or amount that v points to, absent if v is nil.
func OptNumber[T ~int32 | ~int64](v *int32) lyceum.Opt[T] {
	if v == nil {
		return lyceum.None[T]()
	}
	return lyceum.Some(T(*v))
}

// Moment returns a time as responses have it: in UTC, to the second.
func Moment(t time.Time) time.Time { return lyceum.Second(t).UTC() }

// OptMoment is Moment for an optional time, nil if it is absent.
func OptMoment(o lyceum.Opt[time.Time]) *time.Time {
	if !o.Present {
		return nil
	}
	at := Moment(o.Value)
	return &at
}

// Answers returns the answers to a quiz by the keys of their questions, or nil if they are not
// known.
func Answers(given lyceum.Opt[lyceum.GivenAnswers]) *map[string]any {
	answers, err := given.Value.Read()
	if !given.Present || err != nil {
		return nil
	}
	shown := make(map[string]any, len(answers))
	for key, answer := range answers {
		shown[key] = answer
	}
	return &shown
}
