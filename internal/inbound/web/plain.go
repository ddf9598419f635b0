package web

import (
	"strings"
	"unicode"
)

// maxShown is how much of a name that a stranger chose is shown on a page, in characters.
const maxShown = 80

// Plain makes a name that a stranger chose safe to show: Visible, and no longer than a page has
// room for (RFC 6749, section 10.14).
func Plain(name string) string {
	shown := Visible(name)
	if runes := []rune(shown); len(runes) > maxShown {
		return string(runes[:maxShown-1]) + "…"
	}
	return shown
}

// Visible removes characters that are invisible or change the direction of the text.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, text)
}
