package wire

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lyceum-school/lyceum"
)

// Input is all that a request says: ids of its path, parameters of its query
// and, once it was asked for, the members of its body. Like Binder, which reads
// the query, it collects what is wrong, so that one answer names every mistake.
type Input struct {
	*Binder

	request *http.Request
	failure error // which outweighs the mistakes
	members map[string]json.RawMessage
	body    []byte
}

// With makes an endpoint of a function that wants the input of a request bound
// and gives a body.
func With[P any, A Body](bind func(*Input) P, answer func(context.Context, Principal, P) (A, error)) Endpoint {
	return func(ctx context.Context, who Principal, r *http.Request) (Body, error) {
		query, err := ParseQuery(r.URL.RawQuery)
		if err != nil {
			return nil, err
		}
		in := &Input{Binder: NewBinder(query), request: r}
		params := bind(in)
		if in.failure != nil {
			return nil, in.failure
		}
		if err := in.Err(); err != nil {
			return nil, err
		}
		return answer(ctx, who, params)
	}
}

// PathID gives the id that stands in the path under a name such as course_id.
// It is taken in one writing, so that a thing has one address.
func (in *Input) PathID(name string) int32 {
	text := in.request.PathValue(name)
	n, err := strconv.ParseInt(text, 10, 32)
	const taken = "must be an integer from 1 to 2147483647"
	switch {
	case err != nil || n < 1:
		in.refuse(name, taken)
	case strconv.FormatInt(n, 10) != text:
		in.refuse(name, taken+", without a sign and without leading zeros")
	}
	return int32(n)
}

// ReadJSON reads the body: one JSON object, whose members the methods below
// give by name. With known names every other member is refused; without them
// others are ignored.
func (in *Input) ReadJSON(known ...string) {
	kind, _, err := mime.ParseMediaType(in.request.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		in.failure = lyceum.Invalidf("the header Content-Type must be application/json")
		return
	}
	text, err := io.ReadAll(in.request.Body)
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); !ok {
			err = lyceum.Invalidf("the body broke off")
		}
		in.failure = err
		return
	}
	in.body = text
	if in.members, err = object(text); err != nil {
		in.failure = err
		return
	}
	if len(known) > 0 {
		in.refuseOthers(known)
	}
}

// ReadNothing refuses a body that has members, where there is nothing to say.
func (in *Input) ReadNothing() {
	if in.request.ContentLength == 0 {
		return
	}
	text, err := io.ReadAll(in.request.Body)
	if in.body = bytes.TrimSpace(text); err != nil {
		in.failure = err
	} else if len(in.body) > 0 && string(in.body) != "{}" {
		in.failure = lyceum.Invalidf("this operation takes no body")
	}
}

func (in *Input) refuseOthers(known []string) {
	for _, name := range slices.Sorted(maps.Keys(in.members)) {
		if !slices.Contains(known, name) {
			in.refuse(nameForMessage(name, aMember), "is not taken here; known are "+strings.Join(known, ", "))
		}
	}
}

// object takes one JSON object apart. A name that stands twice is refused.
func object(text []byte) (map[string]json.RawMessage, error) {
	wrong := lyceum.Invalidf("the body must be one JSON object")
	if !utf8.Valid(text) {
		return nil, lyceum.Invalidf("the body must be UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, wrong
	}
	members := map[string]json.RawMessage{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, wrong
		}
		name, _ := token.(string) // the decoder lets nothing else be a name
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, wrong
		}
		if _, twice := members[name]; twice {
			return nil, lyceum.InvalidFields(lyceum.FieldError{Field: nameForMessage(name, aMember), Message: "must be given once"})
		}
		members[name] = value
	}
	if _, err := decoder.Token(); err != nil {
		return nil, wrong
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, wrong
	}
	return members, nil
}

// Has tells whether the body has a member, be it null.
func (in *Input) Has(name string) bool {
	_, there := in.members[name]
	return there
}

// RequiredID gives an id that the body must have. A text of digits is taken as
// the number.
func (in *Input) RequiredID(name string) int32 {
	raw, there := in.members[name]
	if !there {
		if in.failure == nil {
			in.refuse(name, "is missing; it must be an integer from 1 to "+strconv.Itoa(maxInt32))
		}
		return 0
	}
	return in.number(name, raw, 1, maxInt32)
}

// number reads an integer. A text of digits is taken as the number.
func (in *Input) number(name string, raw json.RawMessage, least, most int64) int32 {
	text := strings.Trim(string(raw), `"`)
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < least || n > most || text[0] == '+' {
		in.refuse(name, "must be an integer from "+strconv.FormatInt(least, 10)+" to "+strconv.FormatInt(most, 10))
		return int32(least)
	}
	return int32(n)
}

// Int gives an integer of the body within bounds; absent and null are absent.
func (in *Input) Int(name string, least, most int32) lyceum.Opt[int32] {
	raw, there := in.members[name]
	if !there || string(raw) == "null" {
		return lyceum.None[int32]()
	}
	return lyceum.Some(in.number(name, raw, int64(least), int64(most)))
}

// Amount gives an integer of the body from least on; absent and null are absent.
func (in *Input) Amount(name string, least int32) lyceum.Opt[int32] {
	return in.Int(name, least, maxInt32)
}

// Sentence gives a text of the body of 1 to most characters; absent and null are
// absent.
func (in *Input) Sentence(name string, most int) lyceum.Opt[string] {
	text := in.Text(name)
	if message := lyceum.CheckText(text.Value, 1, most); text.Present && message != "" {
		in.refuse(name, message)
	}
	return text
}

// Choice gives one of the values; absent is absent.
func (in *Input) Choice(name string, values ...string) lyceum.Opt[string] {
	if !in.Has(name) {
		return lyceum.None[string]()
	}
	var text string
	if err := json.Unmarshal(in.members[name], &text); err != nil || !slices.Contains(values, text) {
		in.refuse(name, "must be "+strings.Join(values[:len(values)-1], ", ")+" or "+values[len(values)-1])
	}
	return lyceum.Some(text)
}

// TimeZone returns the name of a time zone; absent is absent.
func (in *Input) TimeZone(name string) lyceum.Opt[lyceum.TimeZone] {
	if !in.Has(name) {
		return lyceum.None[lyceum.TimeZone]()
	}
	var zone lyceum.TimeZone
	if err := json.Unmarshal(in.members[name], &zone); err != nil || zone.Check() != nil {
		in.refuse(name, lyceum.ZoneTaken)
	}
	return lyceum.Some(zone)
}

// Texts gives a list of texts that the body must have.
func (in *Input) Texts(name string) []string {
	var texts []string
	if raw, there := in.members[name]; !there || string(raw) == "null" || json.Unmarshal(raw, &texts) != nil {
		if in.failure == nil {
			in.refuse(name, "must be a list of texts")
		}
	}
	return texts
}

// TextLists gives a list of lists of texts that the body must have.
func (in *Input) TextLists(name string) [][]string {
	var lists [][]string
	if raw, there := in.members[name]; !there || string(raw) == "null" || json.Unmarshal(raw, &lists) != nil {
		if in.failure == nil {
			in.refuse(name, "must be a list of lists of texts")
		}
	}
	return lists
}

// Moment gives a time of the body; the zero time when it is absent or null.
func (in *Input) Moment(name string) time.Time {
	text := in.Text(name)
	if !text.Present {
		return time.Time{}
	}
	at, err := lyceum.ParseTime(text.Value)
	if err != nil {
		in.refuse(name, lyceum.Public(err).Detail)
	}
	return at
}

// Truth gives true or false of the body; absent and null are absent.
func (in *Input) Truth(name string) lyceum.Opt[bool] {
	raw, there := in.members[name]
	if !there || string(raw) == "null" {
		return lyceum.None[bool]()
	}
	if text := string(raw); text != "true" && text != "false" {
		in.refuse(name, "must be true or false")
	}
	return lyceum.Some(string(raw) == "true")
}

// Once gives the key under which the request happens once, if it bears one, and
// what it asks (draft-ietf-httpapi-idempotency-key-header-07). It is called
// after ReadJSON.
func (in *Input) Once() (key lyceum.Opt[string], asked lyceum.KeyHash) {
	keys := in.request.Header["Idempotency-Key"]
	if len(keys) == 0 {
		return key, asked
	}
	text := strings.Trim(keys[0], `"`) // the draft has a string of structured fields
	message := lyceum.CheckText(text, 1, maxKey)
	if len(keys) > 1 {
		message = "must be given once"
	}
	if message != "" {
		in.refuse("Idempotency-Key", message)
		return key, asked
	}
	sum := sha256.New()
	for _, part := range []string{in.request.Method, in.request.URL.Path, string(in.body)} {
		sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		sum.Write([]byte(part))
	}
	return lyceum.Some(text), lyceum.KeyHash(sum.Sum(nil))
}

// maxKey is the length of the longest Idempotency-Key, in characters.
const maxKey = 255

// Text gives a text of the body; absent and null are absent.
func (in *Input) Text(name string) lyceum.Opt[string] {
	raw, there := in.members[name]
	if !there || string(raw) == "null" {
		return lyceum.None[string]()
	}
	var text string
	switch err := json.Unmarshal(raw, &text); {
	case err != nil:
		in.refuse(name, "must be a text")
		return lyceum.None[string]()
	case !lyceum.IsText(text):
		in.refuse(name, lyceum.TextTaken)
		return lyceum.None[string]()
	}
	return lyceum.Some(text)
}

// RequiredText gives a text that the body must have and that is not empty.
func (in *Input) RequiredText(name string) string {
	text := in.Text(name)
	if (!text.Present || text.Value == "") && in.failure == nil {
		if raw, there := in.members[name]; !there || string(raw) == "null" || string(raw) == `""` {
			in.refuse(name, "is missing; it must be a text")
		}
	}
	return text.Value
}
