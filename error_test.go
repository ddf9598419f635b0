package lyceum_test

import (
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
