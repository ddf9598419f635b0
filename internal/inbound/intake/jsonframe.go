package intake

import (
	"bytes"
	"unicode/utf8"
)

// outcome is the result of looking for the end of a value.
type outcome uint8

const (
	framed    outcome = iota // the value is in the window
	oversized                // it is longer than maxRecord and was skipped
	unclosed                 // the input ends inside it
)

// frame finds the end of the value at the start of the window. The text is valid until the
// window moves.
func (l *jsonLists[T]) frame() (text []byte, result outcome) {
	var f framer
	i, long := 0, false
	for {
		n, done := f.scan(l.src.unread()[i:])
		i += n
		long = long || i > maxRecord
		if long {
			l.pass(i)
			i = 0
		}
		switch {
		case done && long:
			return nil, oversized
		case done:
			return l.src.unread()[:i], framed
		}
		if !l.src.more() {
			return nil, unclosed
		}
	}
}

// framer tracks only the quotes and brackets of a JSON value.
type framer struct {
	depth    int
	inString bool
	escaped  bool
}

// scan continues with b. It returns how many of its bytes belong to the value, and whether
// the value ends there.
func (f *framer) scan(b []byte) (n int, done bool) {
	for i, c := range b {
		switch {
		case f.escaped:
			f.escaped = false
		case f.inString && c == '\\':
			f.escaped = true
		case f.inString:
			if f.inString = c != '"'; !f.inString && f.depth == 0 {
				return i + 1, true
			}
		case c == '"':
			f.inString = true
		case c == '{', c == '[':
			f.depth++
		case c == '}', c == ']':
			if f.depth == 0 {
				return i, true
			}
			if f.depth--; f.depth == 0 {
				return i + 1, true
			}
		case f.depth == 0 && (c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			return i, true
		}
	}
	return len(b), false
}

// textPlace is a position in a text. Lines and columns count from 1, columns in
// characters.
type textPlace struct {
	line, column int
	afterCR      bool // a \n that follows is part of the same line end
}

func startOfText() textPlace { return textPlace{line: 1, column: 1} }

// add advances the position past b.
func (p *textPlace) add(b []byte) {
	for len(b) > 0 {
		n := bytes.IndexAny(b, "\r\n")
		if n < 0 {
			p.column += utf8.RuneCount(b)
			p.afterCR = false
			return
		}
		if n > 0 || b[n] == '\r' || !p.afterCR {
			p.line++
			p.column = 1
		}
		p.afterCR = b[n] == '\r'
		b = b[n+1:]
	}
}
