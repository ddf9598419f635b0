package wire

import (
	"bytes"
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
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lyceum-school/lyceum"
)

// Input is everything a request contains: ids in its path, parameters of its query and members
// of its body. It collects what is wrong with them, so that one response names every mistake.
// Parameters that are not asked for are ignored.
type Input struct {
	query    Query
	problems []lyceum.FieldError
	request  *http.Request
	body     *body           // nil until a member is asked for
	objects  []*boundMembers // the objects in the body that were bound
}

// body is the body of a request.
type body struct {
	text    []byte
	members map[string]json.RawMessage
	names   []string // that were asked for, in order
	failure error    // of the body as a whole; reported instead of the problems
}

// NewInput parses the query string of a request.
func NewInput(r *http.Request) (*Input, error) {
	query, err := ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	return &Input{query: query, request: r}, nil
}

// Err returns an error if anything in the request was wrong.
func (in *Input) Err() error {
	switch {
	case in.body != nil && in.body.failure != nil:
		return in.body.failure
	case len(in.problems) == 0:
		return nil
	}
	return lyceum.InvalidFields(in.problems...)
}

// Refuse records a problem, with a message worded to follow the name.
func (in *Input) Refuse(name, message string) {
	in.problems = append(in.problems, lyceum.FieldError{Field: name, Message: message})
}

// Query is a parameter of the query string.
func (in *Input) Query(name string) Field { return Field{in: in, name: name} }

// Body is a member of the body, which must be one JSON object. The body is read when its first
// member is asked for.
func (in *Input) Body(name string) Field {
	if in.body == nil {
		in.body = &body{names: make([]string, 0, 8)}
		in.body.failure = in.readObject()
	}
	if !slices.Contains(in.body.names, name) {
		in.body.names = append(in.body.names, name)
	}
	return Field{in: in, name: name, inBody: true}
}

// PathID returns the id in the path under a name such as course_id. Only its canonical form is
// accepted.
func PathID[T ~int32](in *Input, name string) T {
	text := in.request.PathValue(name)
	n, err := strconv.ParseInt(text, 10, 32)
	const taken = "must be an integer from 1 to 2147483647"
	switch {
	case err != nil || n < 1:
		in.Refuse(name, taken)
	case strconv.FormatInt(n, 10) != text:
		in.Refuse(name, taken+", without a sign and without leading zeros")
	}
	return T(n)
}

// PathWord returns the word in the path under a name, which must be one of those listed.
func PathWord[T ~string](in *Input, name string, words ...T) T {
	word := T(in.request.PathValue(name))
	if !slices.Contains(words, word) {
		in.Refuse(name, "must be "+choice(Field{inBody: true}, words))
	}
	return word
}

// PathText returns the text in the path under a name.
func (in *Input) PathText(name string) string { return in.request.PathValue(name) }

// ByID binds a request that only has an id in its path.
func ByID[T ~int32](name string) func(*Input) T {
	return func(in *Input) T { return PathID[T](in, name) }
}

// Anything binds a request without parameters.
func Anything(*Input) struct{} { return struct{}{} }

// NoBody rejects a body with members, for operations that take none.
func NoBody[P any](bind func(*Input) P) func(*Input) P {
	return func(in *Input) P {
		in.body = &body{}
		if in.request.ContentLength != 0 {
			text, err := io.ReadAll(in.request.Body)
			if in.body.text = bytes.TrimSpace(text); err != nil {
				in.body.failure = err
			} else if len(in.body.text) > 0 && string(in.body.text) != "{}" {
				in.body.failure = lyceum.Invalidf("this operation takes no body")
			}
		}
		return bind(in)
	}
}

// OptBody allows the body to be omitted, for operations that rarely need one.
func OptBody[P any](bind func(*Input) P) func(*Input) P {
	return func(in *Input) P {
		if in.request.ContentLength == 0 {
			in.body = &body{}
		}
		return bind(in)
	}
}

func (in *Input) readObject() error {
	kind, _, err := mime.ParseMediaType(in.request.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return lyceum.Invalidf("the header Content-Type must be application/json")
	}
	in.body.text, err = io.ReadAll(in.request.Body)
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); !ok {
			err = lyceum.Invalidf("the body ended early")
		}
		return err
	}
	in.body.members, err = object(in.body.text)
	return err
}

// refuseOthers refuses members of the body that were not asked for. These problems are listed
// before those of the members that were.
func (in *Input) refuseOthers() {
	if in.body == nil {
		return
	}
	others := otherMembers("", in.body.members, in.body.names)
	for _, o := range in.objects {
		others = append(others, otherMembers(o.within, o.members, o.names)...)
	}
	in.problems = append(others, in.problems...)
}

// otherMembers returns an error for each member of an object that was not asked for.
func otherMembers(within string, members map[string]json.RawMessage, names []string) (others []lyceum.FieldError) {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(names, name) {
			others = append(others, lyceum.FieldError{
				Field:   within + nameForMessage(name, aMember),
				Message: "is not accepted here; accepted: " + strings.Join(names, ", "),
			})
		}
	}
	return others
}

// object parses one JSON object. Duplicate names are rejected.
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
		name, _ := token.(string) // the decoder accepts only strings as names
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, wrong
		}
		if _, twice := members[name]; twice {
			return nil, lyceum.InvalidFields(lyceum.FieldError{
				Field: nameForMessage(name, aMember), Message: "must be sent once",
			})
		}
		if half := halfCharacter(value); half != "" {
			return nil, lyceum.InvalidFields(lyceum.FieldError{
				Field: nameForMessage(name, aMember), Message: "must be UTF-8 text: " + half + " is half of a character",
			})
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

// halfCharacter returns the first escape in some JSON that is one half of a surrogate pair
// without the other, or "". No valid text contains that, and the decoder would replace it with
// another character.
func halfCharacter(value []byte) string {
	for i := 0; i < len(value); i++ {
		if value[i] != '\\' {
			continue
		}
		first, ok := unicodeEscape(value[i:])
		switch {
		case !ok:
			i++ // the escaped character may be another backslash
		case utf16.IsSurrogate(first):
			second, _ := unicodeEscape(value[i+6:])
			if utf16.DecodeRune(first, second) == utf8.RuneError {
				return string(value[i : i+6])
			}
			i += 11
		default:
			i += 5
		}
	}
	return ""
}

// unicodeEscape reads the \uXXXX at the start of some JSON.
func unicodeEscape(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}

// maxKey is the length of the longest Idempotency-Key, in characters.
const maxKey = 255

// Once returns the request's Idempotency-Key, if it has one, and a hash of what it requests
// (draft-ietf-httpapi-idempotency-key-header-07). It must be called after the body was read.
func (in *Input) Once() (key lyceum.Opt[string], hash lyceum.KeyHash) {
	keys := in.request.Header["Idempotency-Key"]
	if len(keys) == 0 {
		return key, hash
	}
	text := strings.Trim(keys[0], `"`) // the draft uses a string of structured fields
	message := lyceum.CheckText(text, 1, maxKey)
	if len(keys) > 1 {
		message = "must be sent once"
	}
	if message != "" {
		in.Refuse("Idempotency-Key", message)
		return key, hash
	}
	var said []byte
	if in.body != nil {
		said = in.body.text
	}
	sum := sha256.New()
	for _, part := range [][]byte{[]byte(in.request.Method), []byte(in.request.URL.Path), said} {
		sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		sum.Write(part)
	}
	return lyceum.Some(text), lyceum.KeyHash(sum.Sum(nil))
}
