package web_test

import (
	"fmt"
	"testing"
)

// record records the errors of a check instead of failing the test.
type record struct {
	testing.TB
	errors []string
}

func (r *record) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}
