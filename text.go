package lyceum

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// TextTaken says which text is valid, worded to follow a field's name.
const TextTaken = "must be UTF-8 text without NUL characters"

// IsText reports whether text is valid for every engine. PostgreSQL accepts nothing else;
// SQLite accepts anything.
func IsText(text string) bool { return utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 }

// CheckText returns what is wrong with a text that must have least to most characters, worded
// to follow the field's name, or "" if it is valid.
func CheckText(text string, least, most int) string {
	switch length := utf8.RuneCountInString(text); {
	case !IsText(text):
		return TextTaken
	case length >= least && length <= most:
		return ""
	case least == 0:
		return fmt.Sprintf("must be at most %d characters long", most)
	}
	return fmt.Sprintf("must be %d to %d characters long", least, most)
}
