package lyceum_test

import (
	"testing"

	"github.com/lyceum-school/lyceum"
)

func TestCheckShown(t *testing.T) {
	seen := func(name string, on bool) string { return lyceum.Fingerprint(name, on) }
	for _, tc := range []struct {
		name, shown, before, after string
		refused                    bool
	}{
		{"nothing was shown", "", seen("a", false), seen("b", false), false},
		{"what was shown", seen("a", false), seen("a", false), seen("b", false), false},
		{"another name", seen("a", false), seen("c", false), seen("b", false), true},
		{"another switch", seen("a", false), seen("a", true), seen("b", false), true},
		{"what is wanted is there", seen("a", false), seen("b", true), seen("b", true), false},
	} {
		err := lyceum.By{Shown: tc.shown}.CheckShown(tc.before, tc.after)
		if refused := err != nil && lyceum.Public(err).Code == lyceum.ChangedMeanwhile; refused != tc.refused {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	if lyceum.Fingerprint("a", "b") == lyceum.Fingerprint("a\", \"b") || lyceum.Fingerprint("1") == lyceum.Fingerprint(1) {
		t.Error("different values have one fingerprint")
	}
}
