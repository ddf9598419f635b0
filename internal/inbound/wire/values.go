package wire

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

// Optional is null for what is absent.
func Optional[T comparable](o lyceum.Opt[T]) *T {
	if !o.Present {
		return nil
	}
	return &o.Value
}

// Number is null for what is absent.
func Number[T ~int32](o lyceum.Opt[T]) *int32 {
	if !o.Present {
		return nil
	}
	n := int32(o.Value)
	return &n
}

// Word is null for what is absent.
func Word[T ~string](o lyceum.Opt[T]) *string {
	if !o.Present {
		return nil
	}
	word := string(o.Value)
	return &word
}

// Opt is absent for null.
func Opt[T comparable](v *T) lyceum.Opt[T] {
	if v == nil {
		return lyceum.None[T]()
	}
	return lyceum.Some(*v)
}

// OptNumber is an id or an amount; absent for null.
func OptNumber[T ~int32 | ~int64](v *int32) lyceum.Opt[T] {
	if v == nil {
		return lyceum.None[T]()
	}
	return lyceum.Some(T(*v))
}

// Moment is a time as answers have it: UTC, to the second.
func Moment(t time.Time) time.Time { return lyceum.Second(t).UTC() }

// OptMoment is null for what is absent.
func OptMoment(o lyceum.Opt[time.Time]) *time.Time {
	if !o.Present {
		return nil
	}
	at := Moment(o.Value)
	return &at
}

// Answers are the answers to a quiz by the key of the question; nil if they are not
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
