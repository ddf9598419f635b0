package lyceum

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// TextTaken says which texts are taken, worded to follow a name.
const TextTaken = "must be UTF-8 text without NUL characters"

// IsText tells whether a text is one that every engine keeps as it is.
// PostgreSQL takes no other; SQLite takes anything.
func IsText(text string) bool { return utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 }

// CheckText says what is wrong with a text of least to most characters, worded
// to follow its name. It is empty for a good one.
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
