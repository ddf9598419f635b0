package lyceum_test

import (
	"testing"

	"github.com/lyceum-school/lyceum"
)

func TestShare(t *testing.T) {
	for _, tc := range []struct{ amount, part, whole, want lyceum.Minor }{
		{300, 400, 1000, 120},
		{299, 400, 1000, 120},
		{298, 400, 1000, 119},
		{5, 1, 2, 3},
		{299, 0, 1000, 0},
		{299, 1000, 1000, 299},
		{299, 0, 0, 0},
		{-300, 400, 1000, -120},
		{-299, 400, 1000, -120},
		{-298, 400, 1000, -119},
		{-5, 1, 2, -3},
		{-299, 1000, 1000, -299},
	} {
		if got := tc.amount.Share(tc.part, tc.whole); got != tc.want {
			t.Errorf("of %d, as %d of %d: %d, want %d", tc.amount, tc.part, tc.whole, got, tc.want)
		}
	}
}
