package console

import (
	"testing"

	"github.com/lyceum-school/lyceum"
)

func TestChange(t *testing.T) {
	for _, tc := range []struct {
		now, before lyceum.USDCents
		want        string
	}{
		{11700, 10000, "17% more than yesterday ($100.00)"},
		{8300, 10000, "17% less than yesterday ($100.00)"},
		{10000, 10000, "The same as yesterday"},
		{10049, 10000, "Less than 1% more than yesterday ($100.00)"},
		{10050, 10000, "1% more than yesterday ($100.00)"},
		{0, 10000, "100% less than yesterday ($100.00)"},
		{110000, 10000, "1,000% more than yesterday ($100.00)"},
		{110001, 10000, "Compared with $100.00 for yesterday"},
		{500, 0, "Compared with $0.00 for yesterday"},
		{500, -700, "Compared with −$7.00 for yesterday"},
		{-500, 1000, "150% less than yesterday ($10.00)"},
	} {
		if got := change(tc.now, tc.before, "yesterday"); got != tc.want {
			t.Errorf("%d after %d is %q, want %q", tc.now, tc.before, got, tc.want)
		}
	}
}
