package lyceum_test

import (
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

func TestCheckText(t *testing.T) {
	for _, tc := range []struct {
		name, text  string
		least, most int
		want        string
	}{
		{"one", "a", 1, 3, ""},
		{"characters, not bytes", "äöü", 1, 3, ""},
		{"beyond the first plane", "🎓🎓🎓", 1, 3, ""},
		{"the replacement character", "\uFFFD", 1, 3, ""},
		{"control characters", "\t\n\x01", 1, 3, ""},
		{"empty where it may be", "", 0, 3, ""},
		{"empty", "", 1, 3, "must be 1 to 3 characters long"},
		{"too long", "abcd", 1, 3, "must be 1 to 3 characters long"},
		{"too long where it may be empty", "abcd", 0, 3, "must be at most 3 characters long"},
		{"NUL", "a\x00", 0, 3, "must be UTF-8 text without NUL characters"},
		{"NUL alone", "\x00", 0, 3, "must be UTF-8 text without NUL characters"},
		{"no UTF-8", "a\xff", 0, 3, "must be UTF-8 text without NUL characters"},
		{"half of a pair", "\xed\xa0\x80", 0, 3, "must be UTF-8 text without NUL characters"},
		{"broken off", "a\xc3", 0, 3, "must be UTF-8 text without NUL characters"},
		{"NUL in one that is too long", strings.Repeat("a", 9) + "\x00", 0, 3, "must be UTF-8 text without NUL characters"},
	} {
		if got := lyceum.CheckText(tc.text, tc.least, tc.most); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
