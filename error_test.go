package lyceum_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/lyceum-school/lyceum"
)

func TestErrorsNameSomeMistakes(t *testing.T) {
	for n, want := range map[int]int{1: 1, lyceum.MaxFieldErrors: lyceum.MaxFieldErrors, 10_000: lyceum.MaxFieldErrors} {
		err := lyceum.InvalidFields(make([]lyceum.FieldError, n)...)
		if len(err.Fields) != want || len(err.Sentences()) != want {
			t.Errorf("%d mistakes: %d fields and %d sentences, want %d", n, len(err.Fields), len(err.Sentences()), want)
		}
	}
}

// TestPublicOfAnEndedContext checks that the end of a context is never reported as an internal
// error, wherever it occurs.
func TestPublicOfAnEndedContext(t *testing.T) {
	for _, err := range []error{context.Canceled, context.DeadlineExceeded} {
		e := lyceum.Public(fmt.Errorf("read a folder: %w", err))
		if e.Kind != lyceum.Unavailable || e.Code != lyceum.OutcomeUnknown {
			t.Errorf("%v is %v, %q", err, e.Kind, e.Code)
		}
	}
}
