package wire

import (
	"encoding/json"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lyceum-school/lyceum"
)

const (
	minInt32 = math.MinInt32
	maxInt32 = math.MaxInt32
)

// Unbounded is the maximum length for strings that the rules limit.
const Unbounded = math.MaxInt

// Field is a parameter of the query or a member of the body. It is bound by one of the
// functions below, which take its bounds. An absent or invalid field yields the zero Opt; if it
// is invalid, the Input records why. A null in the body counts as absent unless a function says
// otherwise.
type Field struct {
	in       *Input
	name     string
	inBody   bool
	required bool
	of       map[string]json.RawMessage // the object that contains the member; nil if that is the body
	within   string                     // the name of that object, with a dot
}

// Required makes the field one that the request must have.
func (f Field) Required() Field {
	f.required = true
	return f
}

// Given reports whether the body has the member, even as null.
func (f Field) Given() bool {
	_, given := f.member()
	return given
}

// Null reports whether the body has the member and it is null.
func (f Field) Null() bool {
	value, given := f.member()
	return given && string(value) == "null"
}

// Never rejects the member whenever it is sent, and does not list it among the accepted ones.
func (f Field) Never(message string) {
	if f.Given() {
		f.Refuse(message)
		delete(f.in.body.members, f.name)
	}
	f.in.body.names = slices.DeleteFunc(f.in.body.names, func(name string) bool { return name == f.name })
}

func (f Field) member() (value json.RawMessage, found bool) {
	members := f.of
	if members == nil {
		members = f.in.body.members
	}
	value, found = members[f.name]
	return value, found
}

// Refuse records that the field is invalid, with a message worded to follow its name.
func (f Field) Refuse(message string) { f.in.Refuse(f.within+f.name, message) }

// Object binds an object in the body. Its members are bound like those of the body: members
// that are not asked for are rejected.
func (f Field) Object() (member func(name string) Field, found bool) {
	text, s := f.raw()
	if s == absent || f.isNull(text) {
		f.missing("an object")
	}
	if s != given || f.isNull(text) {
		return nil, false
	}
	members, err := object([]byte(text))
	if err != nil {
		f.Refuse("must be an object without repeated names")
		return nil, false
	}
	return f.membersOf(f.within+f.name, members), true
}

// Members binds an object in the body whose members may have any names.
func (f Field) Members() map[string]json.RawMessage {
	text, s := f.raw()
	if s == absent || f.isNull(text) {
		f.missing("an object")
	}
	if s != given || f.isNull(text) {
		return nil
	}
	members, err := object([]byte(text))
	if err != nil {
		f.Refuse("must be an object without repeated names")
	}
	return members
}

// RepeatsNames reports whether some JSON is an object in which a name is repeated.
func RepeatsNames(value json.RawMessage) bool {
	if len(value) == 0 || value[0] != '{' {
		return false
	}
	_, err := object(value)
	return err != nil
}

// Objects binds a list of 1 to most objects in the body.
func (f Field) Objects(most int) (members []func(name string) Field) {
	list := Sequence[json.RawMessage](f, "objects")
	if list != nil && len(list) == 0 || len(list) > most {
		f.Refuse("must be a list of 1 to " + strconv.Itoa(most) + " objects")
		return nil
	}
	for i, text := range list {
		found, err := object(text)
		if err != nil {
			f.Refuse("must be a list of objects without repeated names")
			return nil
		}
		members = append(members, f.membersOf(f.within+f.name+"["+strconv.Itoa(i)+"]", found))
	}
	return members
}

// membersOf binds the members of an object in the body, which is reported under the given name.
func (f Field) membersOf(name string, members map[string]json.RawMessage) func(string) Field {
	bound := &boundMembers{within: name + ".", members: members}
	f.in.objects = append(f.in.objects, bound)
	return func(name string) Field {
		bound.names = append(bound.names, name)
		return Field{in: f.in, name: name, inBody: true, of: members, within: bound.within}
	}
}

// boundMembers holds the members of an object in the body, and the names that were asked for.
type boundMembers struct {
	within  string
	members map[string]json.RawMessage
	names   []string
}

// state is what a request contains of a field.
type state uint8

const (
	absent state = iota
	given
	wrong // and already refused
)

// raw returns the text of a parameter or the JSON of a member.
func (f Field) raw() (string, state) {
	if f.inBody {
		if member, ok := f.member(); ok {
			return string(member), given
		}
		return "", absent
	}
	found := -1
	for i := range f.in.query.pairs {
		if f.in.query.pairs[i].name != f.name {
			continue
		}
		if found >= 0 {
			f.Refuse("must be sent once")
			return "", wrong
		}
		found = i
	}
	if found < 0 {
		return "", absent
	}
	return f.in.query.pairs[found].value, given
}

// missing refuses the field if it is required.
func (f Field) missing(want string) {
	if f.required {
		f.Refuse("is required; it must be " + want)
	}
}

func (f Field) isNull(text string) bool { return f.inBody && text == "null" }

// Int binds an integer from least to most. In the body, a string of digits is accepted too.
func Int[T ~int32 | ~int64](f Field, least, most T) lyceum.Opt[T] {
	text, s := f.raw()
	if s != given || !f.required && f.isNull(text) {
		if s == absent && f.required {
			f.Refuse("is required; it must be " + integer(least, most))
		}
		return lyceum.None[T]()
	}
	if f.inBody {
		text = strings.Trim(text, `"`)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < int64(least) || n > int64(most) || text[0] == '+' {
		f.Refuse("must be " + integer(least, most))
		return lyceum.None[T]()
	}
	return lyceum.Some(T(n))
}

// Fraction binds a number from least to 1, such as 0.25 for a quarter.
func (f Field) Fraction(least float64) lyceum.Opt[float64] { return f.Number(least, 1) }

// Number binds a number from least, which must not be negative, to most.
func (f Field) Number(least, most float64) lyceum.Opt[float64] {
	want := "a number from " + strconv.FormatFloat(least, 'f', -1, 64) + " to " + strconv.FormatFloat(most, 'f', -1, 64)
	text, s := f.raw()
	if s == absent || f.isNull(text) {
		f.missing(want)
	}
	if s != given || f.isNull(text) {
		return lyceum.None[float64]()
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < least || n > most || n != n || text[0] == '-' {
		f.Refuse("must be " + want)
		return lyceum.None[float64]()
	}
	return lyceum.Some(n)
}

func integer[T ~int32 | ~int64](least, most T) string {
	if least == most {
		return strconv.FormatInt(int64(least), 10)
	}
	return "an integer from " + strconv.FormatInt(int64(least), 10) + " to " + strconv.FormatInt(int64(most), 10)
}

// ID binds an id.
func ID[T ~int32](f Field) lyceum.Opt[T] { return Int[T](f, 1, maxInt32) }

// Amount binds an integer of at least least.
func Amount[T ~int32 | ~int64](f Field, least T) lyceum.Opt[T] { return Int(f, least, maxInt32) }

// AnyInt binds any 32-bit integer.
func AnyInt[T ~int32](f Field) lyceum.Opt[T] { return Int[T](f, minInt32, maxInt32) }

// OneOf binds one of the listed values, in exactly that letter case. A null in the body is
// rejected.
func OneOf[T ~string](f Field, values ...T) lyceum.Opt[T] {
	text, s := f.raw()
	if s == given && f.inBody {
		text, _ = unquote(text)
	}
	switch {
	case s == absent && f.required:
		f.Refuse("is required; it must be " + choice(f, values))
	case s == given && slices.Contains(values, T(text)):
		return lyceum.Some(T(text))
	case s == given:
		f.Refuse("must be " + choice(f, values))
	}
	return lyceum.None[T]()
}

// OneOfOrNull is OneOf, but accepts null as no value unless the field is required.
func OneOfOrNull[T ~string](f Field, values ...T) lyceum.Opt[T] {
	if f.Null() && !f.required {
		return lyceum.None[T]()
	}
	return OneOf(f, values...)
}

func choice[T ~string](f Field, values []T) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = string(v)
	}
	if last := len(words) - 1; f.inBody && last > 0 {
		return strings.Join(words[:last], ", ") + " or " + words[last]
	}
	return strings.Join(words, " or ")
}

// Bool binds true or false; the query also accepts 1 and 0.
func (f Field) Bool() lyceum.Opt[bool] {
	text, s := f.raw()
	if s == absent || f.isNull(text) {
		f.missing("true or false")
	}
	if s != given || f.isNull(text) {
		return lyceum.None[bool]()
	}
	truth := text == "true" || !f.inBody && text == "1"
	if !truth && text != "false" && (f.inBody || text != "0") {
		if f.inBody {
			f.Refuse("must be true or false")
		} else {
			f.Refuse("must be true or false (or 1 or 0)")
		}
		return lyceum.None[bool]()
	}
	return lyceum.Some(truth)
}

// Text binds a string of least to most characters.
func (f Field) Text(least, most int) lyceum.Opt[string] {
	text, s := f.plain()
	switch {
	case s == wrong:
		return lyceum.None[string]()
	case s == absent, text == "" && least > 0 && f.inBody && f.required:
		f.missing("a string")
		return lyceum.None[string]()
	case text == "" && least > 0 && (!f.inBody || most == Unbounded):
		f.Refuse("must not be empty")
		return lyceum.None[string]()
	}
	if message := lyceum.CheckText(text, least, most); message != "" {
		f.Refuse(message)
		return lyceum.None[string]()
	}
	return lyceum.Some(text)
}

// plain returns a string without its quotes.
func (f Field) plain() (string, state) {
	text, s := f.raw()
	switch {
	case s != given || !f.inBody:
		return text, s
	case text == "null":
		return "", absent
	}
	text, ok := unquote(text)
	if !ok {
		f.Refuse("must be a string")
		return "", wrong
	}
	return text, given
}

// unquote returns the text of a JSON string; ok is false for any other JSON value.
func unquote(raw string) (text string, ok bool) {
	ok = raw != "null" && json.Unmarshal([]byte(raw), &text) == nil
	return text, ok
}

// Parsed binds a string that parse reads, such as lyceum.ParseTime.
func Parsed[T comparable](f Field, parse func(string) (T, error)) lyceum.Opt[T] {
	text, s := f.plain()
	if s == absent {
		f.missing("a string")
	}
	if s != given {
		return lyceum.None[T]()
	}
	v, err := parse(text)
	if err != nil {
		f.Refuse(lyceum.Public(err).Detail)
		return lyceum.None[T]()
	}
	return lyceum.Some(v)
}

// Time binds a time as lyceum.ParseTime reads it.
func (f Field) Time() lyceum.Opt[time.Time] { return Parsed(f, lyceum.ParseTime) }

// Period binds a period by its ends, either of which may be open.
func Period(after, until Field) lyceum.Period {
	return lyceum.Period{After: end(after.Time()), Until: end(until.Time())}
}

// end returns one end of a period, which is open if t is absent. The first second of year 1 is
// a valid request, but it is the zero time and would leave that end open; so it is moved by a
// nanosecond.
func end(t lyceum.Opt[time.Time]) time.Time {
	if t.Present && t.Value.IsZero() {
		return t.Value.Add(time.Nanosecond)
	}
	return t.Value
}

// URL binds an absolute http or https address of at most the given number of characters.
func (f Field) URL(most int) lyceum.Opt[string] {
	return Parsed(f, func(text string) (string, error) {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || utf8.RuneCountInString(text) > most {
			return "", lyceum.Invalidf("must be a URL such as https://files.example.com/a.jpg, of at most %d characters", most)
		}
		return text, nil
	})
}

// Nullable distinguishes a null field from an absent one; bound is the field's value.
func Nullable[T comparable](f Field, bound lyceum.Opt[T]) lyceum.Opt[lyceum.Opt[T]] {
	return lyceum.Opt[lyceum.Opt[T]]{Value: bound, Present: f.Given()}
}

// TimeZone binds the name of a time zone. A null is rejected.
func (f Field) TimeZone() lyceum.Opt[lyceum.TimeZone] {
	text, s := f.raw()
	if s == absent && f.required {
		f.Refuse("is required; it " + lyceum.ZoneTaken)
	}
	if s != given {
		return lyceum.None[lyceum.TimeZone]()
	}
	var zone lyceum.TimeZone
	if err := json.Unmarshal([]byte(text), &zone); err != nil || zone.Check() != nil {
		f.Refuse(lyceum.ZoneTaken)
	}
	return lyceum.Some(zone)
}

// Sequence binds a list in the body; of names its elements for messages, such as "texts". The
// result is nil only if the list is absent or invalid. A null is invalid.
func Sequence[T any](f Field, of string) []T {
	text, s := f.raw()
	var list []T
	if s == absent && f.required || s == given && (f.isNull(text) || json.Unmarshal([]byte(text), &list) != nil) {
		f.Refuse("must be a list of " + of)
		return nil
	}
	return list
}
