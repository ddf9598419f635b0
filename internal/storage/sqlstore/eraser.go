package sqlstore

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lyceum-school/lyceum"
)

// eraser removes a person from texts.
type eraser struct {
	user   lyceum.UserID
	called lyceum.Called
}

// shortestName is the length, in characters, of the shortest name that is searched for in
// texts: a shorter one occurs within other words.
const shortestName = 4

// words returns what is searched for in texts.
func (e *eraser) words() []string {
	words := slices.Clone(e.called.Emails)
	for _, name := range e.called.Names {
		if utf8.RuneCountInString(name) >= shortestName {
			words = append(words, name)
		}
	}
	return words
}

// marks returns what marks a text about the person: it contains at least one of these, with
// the pieces in this order.
func (e *eraser) marks(isJSON bool) [][]string {
	var all [][]string
	for _, word := range e.words() {
		all = append(all, pieces(word))
	}
	if !isJSON {
		return all
	}
	for _, name := range e.called.Names { // a short one counts as a whole value
		quoted := pieces(name)
		quoted[0] = `"` + quoted[0]
		quoted[len(quoted)-1] += `"`
		all = append(all, quoted)
	}
	if e.user != 0 { // what they wrote need not contain their name, and as an author they may have another one
		theirs := `"user_id":` + strconv.Itoa(int(e.user))
		all = append(all, []string{theirs + ",", `"body":`}, []string{theirs + ",", `"answers":`},
			[]string{theirs + ",", `"bio":`}, []string{`"bio":`, theirs + ","}, []string{`"bio":`, theirs + "}"})
	}
	return all
}

// pieces splits a word into the parts that JSON does not escape.
func pieces(word string) []string {
	return regexp.MustCompile(`["\\<>&\x00-\x1f]+`).Split(word, -1)
}

// finder returns a function that reports whether a text has one of the marks, ignoring case.
func (e *eraser) finder(isJSON bool) func(text string) bool {
	marks := e.marks(isJSON)
	for _, mark := range marks {
		for i := range mark {
			mark[i] = strings.ToLower(mark[i])
		}
	}
	return func(text string) bool {
		text = strings.ToLower(text)
		return slices.ContainsFunc(marks, func(mark []string) bool { return inOrder(text, mark) })
	}
}

func inOrder(text string, pieces []string) bool {
	for _, piece := range pieces {
		_, rest, found := strings.Cut(text, piece)
		if !found {
			return false
		}
		text = rest
	}
	return true
}

// narrow narrows to texts with one of the marks, and returns false if there are no marks. It
// tries marks in several cases, because an engine may only know the case of ASCII letters.
func (e *eraser) narrow(w *where, column string, isJSON bool) bool {
	var patterns []string
	for _, mark := range e.marks(isJSON) {
		for _, write := range []func(string) string{func(s string) string { return s }, strings.ToLower, strings.ToUpper} {
			var b strings.Builder
			for _, piece := range mark {
				b.WriteString("%" + likeEscaper.Replace(lowerASCII(write(piece))))
			}
			patterns = append(patterns, b.String()+"%")
		}
	}
	if len(patterns) == 0 {
		return false
	}
	slices.Sort(patterns)
	var conds []string
	for _, pattern := range slices.Compact(patterns) {
		conds = append(conds, "LOWER("+column+") LIKE "+w.arg(pattern)+" ESCAPE '!'")
	}
	var parts []string // because SQLite limits how deeply conditions are nested
	for some := range slices.Chunk(conds, 100) {
		parts = append(parts, "("+strings.Join(some, " OR ")+")")
	}
	w.and("(" + strings.Join(parts, " OR ") + ")")
	return true
}

var likeEscaper = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

func lowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return unicode.ToLower(r)
		}
		return r
	}, text)
}

// plain replaces the words in a text, unless they are part of another word or address.
func (e *eraser) plain(text string) string {
	for _, address := range e.called.Emails {
		text = e.replace(text, regexp.MustCompile(`(?i)`+regexp.QuoteMeta(address)), ofAddresses)
	}
	for _, name := range e.called.Names {
		switch {
		case utf8.RuneCountInString(name) < shortestName:
		case strings.ContainsFunc(name, unicode.IsSpace):
			text = e.replace(text, regexp.MustCompile(`(?i)`+regexp.QuoteMeta(name)), ofWords)
		default: // in another case, a single name may be an ordinary word: Will, Grace
			text = e.replace(text, regexp.MustCompile(regexp.QuoteMeta(name)), ofWords)
		}
	}
	return text
}

// replace replaces the matches in a text that are not joined to what comes before or after
// them.
func (e *eraser) replace(text string, find *regexp.Regexp, joins func(before, after string) bool) string {
	var b strings.Builder
	done := 0
	for _, at := range find.FindAllStringIndex(text, -1) {
		if joins(text[:at[0]], text[at[1]:]) {
			continue
		}
		b.WriteString(text[done:at[0]])
		b.WriteString(lyceum.ErasedEmail(e.user))
		done = at[1]
	}
	return b.String() + text[done:]
}

// ofWords reports whether a name has a letter or a digit next to it.
func ofWords(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	return isWordRune(last) || isWordRune(first)
}

func isWordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// ofAddresses reports whether an email address continues before or after a match, as
// anna@example.com does around na@example.com.
func ofAddresses(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, size := utf8.DecodeRuneInString(after)
	next, _ := utf8.DecodeRuneInString(after[size:])
	return isWordRune(last) || strings.ContainsRune("._%+-", last) || isWordRune(first) ||
		strings.ContainsRune(".-", first) && isWordRune(next)
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
			case theirs && name == "answers":
				v[name] = nil
			case theirs && name == "attachments":
				v[name] = []any{}
			case theirs && name == "meta": // of an author's profile, which it repeats
				v[name] = withoutTexts(value)
			case isText && theirs && slices.Contains(personal, name):
				v[name] = nil
			case isText && slices.Contains(renaming, name) && (theirs || slices.Contains(e.called.Names, text)):
				v[name] = ""
			default:
				v[name] = e.value(value)
			}
		}
	}
	return v
}

// withoutTexts replaces the texts of an object by null.
func withoutTexts(v any) any {
	object, _ := v.(map[string]any)
	for name, value := range object {
		if _, isText := value.(string); isText {
			object[name] = nil
		}
	}
	return v
}

// personal has the members of an object about a person that are only about them.
var personal = []string{
	"name", "phone_number", "src", "first_touch", "last_touch", "notes", "last_sign_in_ip", "current_sign_in_ip", "bio",
	"profile_image_url", "author_name", "body",
}

// renaming has the members that contain a name in any object.
var renaming = []string{"old_name", "new_name", "user_name", "author_name", "customer_name"}

// isTheirs reports whether an object is about the person: it has their email address, or
// refers to them as its user.
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
