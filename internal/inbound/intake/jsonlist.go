package intake

import (
	"bytes"
	"io"

	"github.com/lyceum-school/lyceum"
)

// newJSONRows detects whether the input is JSON Lines or lists.
func newJSONRows[T any](kind Kind[T], src *source) (rowReader[T], error) {
	decoder := newJSONDecoder(kind)
	list, other := findList(src, kind.list)
	switch {
	case list:
		return &jsonLists[T]{jsonDecoder: decoder, src: src, place: startOfText()}, nil
	case other != "":
		return nil, lyceum.Invalidf("the file is a list of %s, not of %s", other, kind.list)
	}
	return &jsonLines[T]{jsonDecoder: decoder, src: src, line: 1}, nil
}

// findList reports whether the input begins with an array, or with an object that has an
// array named list. Other is the name of a different list in that object, unless the
// object has an id.
func findList(src *source, list string) (found bool, other string) {
	for {
		p := jsonText{b: src.unread()}
		if p.token() == '[' {
			return true, ""
		}
		hasID := false
		other = ""
		fault := p.members(func(key []byte) *jsonFault {
			name := string(key)
			if p.token() == '[' {
				switch name {
				case list:
					found = true
					return p.fault("the list is found")
				case "transactions", "users", "courses", "pricing_plans":
					other = name
				}
			}
			hasID = hasID || name == "id"
			_, fault := p.value(1)
			return fault
		})
		if hasID {
			other = ""
		}
		if found || fault == nil || len(p.b)-p.i > longestToken || len(p.b) > maxRecord {
			return found, other
		}
		for len(src.unread()) < 2*len(p.b) && src.more() {
		}
		if len(src.unread()) == len(p.b) {
			return false, other
		}
	}
}

// longestToken is how far before the end of a truncated text a fault can be and still
// result from the truncation: at the start of an escape.
const longestToken = 6

const unclosedValue = "the file ends inside the value that begins here"

// jsonLists reads list responses and arrays of objects, one after another. It finds rows
// by quotes and brackets, so that an oversized or invalid row costs no other. After a
// syntax error nothing can be said for certain, and reading ends.
type jsonLists[T any] struct {
	*jsonDecoder[T]
	src   *source
	place textPlace // of the start of the window
	fatal error     // set when nothing more can be read

	state  listState
	wants  listNext
	bare   bool // a top-level array rather than a list response
	listed bool // the list of the response has been read
	begin  int  // line on which the response begins
}

// listState is the reader's position in the structure of the file.
type listState uint8

const (
	outside    listState = iota // between responses
	inResponse                  // among the members of a response
	inElements                  // among the rows
)

// listNext is what may come next in a response or an array.
type listNext uint8

const (
	itemOrEnd  listNext = iota // after the opening bracket
	commaOrEnd                 // after an item
	item                       // after a comma
)

func (l *jsonLists[T]) lineAt() *int { return nil }

func (l *jsonLists[T]) next() (Row[T], error) {
	for l.fatal == nil {
		c, ok := l.token()
		if !ok {
			if err := l.src.failure(); err != nil {
				return Row[T]{}, err
			}
			if l.state == outside {
				return Row[T]{}, io.EOF
			}
			row, _ := l.broken(l.place, "the file ends inside a list")
			return row, nil
		}
		if row, found := l.step(c); found {
			return row, nil
		}
	}
	return Row[T]{}, l.fatal
}

// step handles the token that begins with c.
func (l *jsonLists[T]) step(c byte) (row Row[T], found bool) {
	end := byte('}')
	if l.state == inElements {
		end = ']'
	}
	switch {
	case l.state == outside:
		return l.open(c)
	case c == end && l.wants != item:
		return l.close()
	case c == ',' && l.wants == commaOrEnd:
		l.pass(1)
		l.wants = item
		return row, false
	case l.wants == commaOrEnd:
		return l.broken(l.place, "a comma or "+string(end)+" must come here")
	}
	l.wants = commaOrEnd
	if l.state == inElements {
		return l.element()
	}
	return l.member(c)
}

// open enters a list response or an array.
func (l *jsonLists[T]) open(c byte) (row Row[T], found bool) {
	switch c {
	case '{':
		l.state, l.listed, l.begin = inResponse, false, l.place.line
	case '[':
		l.state, l.bare = inElements, true
	default:
		return l.broken(l.place, "an object or an array must come here")
	}
	l.wants = itemOrEnd
	l.pass(1)
	return row, false
}

// close leaves the array or the response. A response without the list, such as that of a
// failed call, is a bad row, because its rows are missing.
func (l *jsonLists[T]) close() (row Row[T], found bool) {
	l.pass(1)
	if l.state == inElements && !l.bare {
		l.state, l.wants = inResponse, commaOrEnd
		return row, false
	}
	response := l.state == inResponse
	l.state = outside
	if response && !l.listed {
		return badRow[T](l.begin, "is an answer without a list of "+l.kind.list), true
	}
	return row, false
}

// member reads a member of a response, and enters it if it is the list.
func (l *jsonLists[T]) member(c byte) (row Row[T], found bool) {
	if c != '"' {
		return l.broken(l.place, "the name of a member, in double quotes, must come here")
	}
	begin := l.place
	text, result := l.frame()
	switch result {
	case unclosed:
		return l.broken(begin, unclosedValue)
	case oversized:
		return l.broken(begin, "the name of a member "+tooLong)
	}
	p := jsonText{b: text}
	key, fault := p.string()
	if fault != nil {
		return l.broken(l.placeOf(text, fault), fault.message)
	}
	isList := string(key) == l.kind.list
	l.pass(len(text))
	if c, ok := l.token(); !ok || c != ':' {
		return l.broken(l.place, "a colon must come here")
	}
	l.pass(1)
	if c, _ := l.token(); c == '[' && isList {
		l.state, l.wants, l.bare, l.listed = inElements, itemOrEnd, false, true
		l.pass(1)
		return row, false
	}
	return l.skip()
}

// skip skips a value that is not a row.
func (l *jsonLists[T]) skip() (row Row[T], found bool) {
	begin := l.place
	text, result := l.frame()
	switch result {
	case unclosed:
		return l.broken(begin, unclosedValue)
	case oversized:
		return row, false
	}
	if fault := whole(text); fault != nil && fault.syntax {
		return l.broken(l.placeOf(text, fault), fault.message)
	}
	l.pass(len(text))
	return row, false
}

// element reads one element of the list.
func (l *jsonLists[T]) element() (row Row[T], found bool) {
	begin := l.place
	text, result := l.frame()
	switch result {
	case unclosed:
		return l.broken(begin, unclosedValue)
	case oversized:
		return badRow[T](begin.line, tooLong), true
	}
	var fault *jsonFault
	if len(text) > 0 && text[0] == '{' {
		row, fault = l.decode(text, begin.line)
	} else if fault = whole(text); fault == nil {
		row = badRow[T](begin.line, "must be an object")
	}
	switch {
	case fault != nil && fault.syntax:
		return l.broken(l.placeOf(text, fault), fault.message)
	case fault != nil:
		row = badRow[T](begin.line, fault.message)
	}
	l.pass(len(text))
	return row, true
}

// whole returns what is wrong with a text that should be one JSON value.
func whole(text []byte) *jsonFault {
	p := jsonText{b: text}
	_, fault := p.value(0)
	if fault == nil {
		fault = p.end()
	}
	return fault
}

func badRow[T any](line int, message string) Row[T] {
	return Row[T]{Line: line, Problems: []Problem{{Line: line, Message: message}}}
}

// broken ends reading because of a syntax error. If the input itself failed, that is the
// reason, and no row is returned.
func (l *jsonLists[T]) broken(at textPlace, message string) (row Row[T], found bool) {
	if l.fatal = l.src.failure(); l.fatal != nil {
		return row, false
	}
	l.fatal = lyceum.Invalidf("the file is not valid JSON on line %d at column %d; what comes after is not read",
		at.line, at.column)
	fault := jsonFault{message: message, syntax: true}
	return Row[T]{Line: at.line, Problems: []Problem{fault.problemAt(at.line, at.column)}}, true
}

// placeOf returns the position of a fault in a text at the start of the window.
func (l *jsonLists[T]) placeOf(text []byte, fault *jsonFault) textPlace {
	at := l.place
	at.add(text[:fault.at])
	return at
}

// token skips white space and returns the next byte; ok is false at the end of the input.
func (l *jsonLists[T]) token() (c byte, ok bool) {
	for {
		u := l.src.unread()
		rest := bytes.TrimLeft(u, " \t\r\n")
		l.pass(len(u) - len(rest))
		if len(rest) > 0 {
			return rest[0], true
		}
		if !l.src.more() {
			return 0, false
		}
	}
}

// pass advances past n bytes of the window.
func (l *jsonLists[T]) pass(n int) {
	l.place.add(l.src.unread()[:n])
	l.src.advance(n)
}
