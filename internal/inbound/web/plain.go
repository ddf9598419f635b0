package web

import (
	"strings"
	"unicode"
)

// maxShown is how much of a name that strangers chose a page shows, in
// characters.
const maxShown = 80

// Plain makes a name that a stranger chose fit to be read: Visible, and no
// longer than a page has room for (RFC 6749, section 10.14).
func Plain(name string) string {
	shown := Visible(name)
	if runes := []rune(shown); len(runes) > maxShown {
		return string(runes[:maxShown-1]) + "…"
	}
	return shown
}

// Visible takes out of a text what cannot be seen or turns the direction of
// writing.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, text)
}
