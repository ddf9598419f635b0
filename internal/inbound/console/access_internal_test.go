package console

import (
	"testing"

	"github.com/lyceum-school/lyceum"
)

// TestEveryEndHasASentence: a reason that ended says how, whatever ended it.
func TestEveryEndHasASentence(t *testing.T) {
	for _, end := range lyceum.EntitlementEnds() {
		if reasonEnds[end] == "" {
			t.Errorf("%s has no sentence", end)
		}
	}
	if len(reasonEnds) != len(lyceum.EntitlementEnds()) {
		t.Errorf("%d sentences, want %d", len(reasonEnds), len(lyceum.EntitlementEnds()))
	}
}
