package console

import "testing"

// TestOutcomeIsFolded checks that a confirmation shows ten products before the others are
// folded, and does not fold a single one.
func TestOutcomeIsFolded(t *testing.T) {
	for _, tc := range []struct {
		lines       int
		more        int64
		first, rest int
		count       int64
	}{{0, 0, 0, 0, 0}, {10, 0, 10, 0, 0}, {11, 0, 11, 0, 0}, {12, 0, 10, 2, 2}, {100, 7, 10, 90, 97}} {
		o := folded[accessLine]{make([]accessLine, tc.lines), tc.more}
		if first, rest := len(o.First()), len(o.Rest()); first != tc.first || rest != tc.rest || o.RestCount() != tc.count {
			t.Errorf("of %d and %d more: %d, %d, %d; want %+v", tc.lines, tc.more, first, rest, o.RestCount(), tc)
		}
	}
}
