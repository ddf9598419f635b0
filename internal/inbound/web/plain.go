package web

import (
	"strings"
	"unicode"
)

// maxShown is how much of a name that a stranger chose is shown on a page, in characters.
const maxShown = 80

// noDots is the Braille cell without dots, which looks like a space.
const noDots = '\u2800'

// Plain makes a name that a stranger chose safe to show: Whole, and no longer than a page has room
// for (RFC 6749, section 10.14).
func Plain(name string) string {
	shown := Whole(name)
	if runes := []rune(shown); len(runes) > maxShown {
		return string(runes[:maxShown-1]) + "…"
	}
	return shown
}

// Whole makes a name safe to show at any length, on what people print: Visible, without spaces
// around it. It is empty if there is nothing to see.
func Whole(name string) string {
	return strings.TrimFunc(Visible(name), func(r rune) bool { return unicode.IsSpace(r) || r == noDots })
}

// Visible removes characters that are invisible or change the direction of the text.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar ||
			unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return r
	}, text)
}
