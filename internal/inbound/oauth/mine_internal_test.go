package oauth

import "testing"

func TestSizesOfFiles(t *testing.T) {
	for _, tc := range []struct {
		bytes int64
		want  string
	}{
		{0, "0 bytes"},
		{999, "999 bytes"},
		{1000, "1 kB"},
		{999_499, "999 kB"},
		{999_500, "1.0 MB"},
		{1_250_000, "1.2 MB"},
		{999_949_999, "999.9 MB"},
		{999_950_000, "1.0 GB"},
		{1_500_000_000, "1.5 GB"},
		{20 << 30, "21.5 GB"},
	} {
		if got := size(tc.bytes); got != tc.want {
			t.Errorf("%d bytes are shown as %q, want %q", tc.bytes, got, tc.want)
		}
	}
}
