package sqlstore

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lyceum-school/lyceum"
)

// eraser takes a person out of texts.
type eraser struct {
	user   lyceum.UserID
	called lyceum.Called
}

// shortestName is the shortest name that is looked for in texts, in characters: a
// shorter one is a part of other words.
const shortestName = 4

// words are what is looked for in texts.
func (e *eraser) words() []string {
	words := slices.Clone(e.called.Emails)
	for _, name := range e.called.Names {
		if utf8.RuneCountInString(name) >= shortestName {
			words = append(words, name)
		}
	}
	return words
}

// narrow finds texts with one of the words, and reports false where there is none.
func (e *eraser) narrow(w *where, column string, isJSON bool) bool {
	var conds []string
	for _, word := range e.words() {
		if isJSON {
			quoted, err := json.Marshal(word)
			if err != nil {
				continue
			}
			word = string(quoted[1 : len(quoted)-1])
		}
		conds = append(conds, "LOWER("+column+") LIKE "+w.arg(partOf(word))+" ESCAPE '!'")
	}
	for _, name := range e.called.Names { // a short one is a value of its own
		if quoted, err := json.Marshal(name); isJSON && err == nil {
			conds = append(conds, "LOWER("+column+") LIKE "+w.arg(partOf(string(quoted)))+" ESCAPE '!'")
		}
	}
	if len(conds) == 0 {
		return false
	}
	w.and("(" + strings.Join(conds, " OR ") + ")")
	return true
}

// plain replaces the words in a text.
func (e *eraser) plain(text string) string {
	for _, word := range e.words() {
		text = regexp.MustCompile(`(?i)`+regexp.QuoteMeta(word)).ReplaceAllLiteralString(text, lyceum.ErasedEmail(e.user))
	}
	return text
}

// json rewrites JSON; text that is not JSON is treated as plain text.
func (e *eraser) json(text string) string {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return e.plain(text)
	}
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(e.value(value)); err != nil {
		return e.plain(text)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (e *eraser) value(v any) any {
	switch v := v.(type) {
	case string:
		return e.plain(v)
	case []any:
		for i := range v {
			v[i] = e.value(v[i])
		}
	case map[string]any:
		theirs := e.isTheirs(v)
		for name, value := range v {
			text, isText := value.(string)
			switch {
			case isText && theirs && slices.Contains(personal, name):
				v[name] = nil
			case isText && slices.Contains(renaming, name) && slices.Contains(e.called.Names, text):
				v[name] = ""
			default:
				v[name] = e.value(value)
			}
		}
	}
	return v
}

// personal are the members of an object about a person that are about them alone.
var personal = []string{
	"name", "phone_number", "src", "first_touch", "last_touch", "notes", "last_sign_in_ip", "current_sign_in_ip", "bio",
	"profile_image_url", "author_name", "body",
}

// renaming are members that have a name wherever they stand.
var renaming = []string{"old_name", "new_name", "user_name", "author_name", "customer_name"}

// isTheirs reports whether an object is about the person: it has their address, or
// says that it is theirs.
func (e *eraser) isTheirs(object map[string]any) bool {
	email, _ := object["email"].(string)
	if slices.ContainsFunc(e.called.Emails, func(known string) bool { return strings.EqualFold(known, email) }) {
		return true
	}
	for _, name := range []string{"user_id", "user"} {
		switch of := object[name].(type) {
		case json.Number:
			if n, err := of.Int64(); err == nil && n == int64(e.user) {
				return true
			}
		case map[string]any:
			if e.isTheirs(of) {
				return true
			}
		}
	}
	return false
}
