package intake

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is the maximum nesting depth of JSON.
const maxDepth = 32

// jsonFault is a position at which a text is not the expected JSON, and why. After a fault
// that is not of the syntax, the reader still knows where the object ends.
type jsonFault struct {
	at      int // byte offset in the text
	message string
	syntax  bool
}

const tooDeep = "nests deeper than 32"

// jsonText parses a JSON text in memory by RFC 8259, recursing at most maxDepth deep.
type jsonText struct {
	b       []byte
	i       int
	scratch []byte
}

func (p *jsonText) fault(message string) *jsonFault {
	return &jsonFault{at: p.i, message: message, syntax: true}
}

// token skips white space and returns the next byte, or 0 at the end.
func (p *jsonText) token() byte {
	for ; p.i < len(p.b); p.i++ {
		if c := p.b[p.i]; c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
	return 0
}

// expect consumes one byte that must come next.
func (p *jsonText) expect(c byte, message string) *jsonFault {
	if p.token() != c {
		return p.fault(message)
	}
	p.i++
	return nil
}

// end checks that only white space follows.
func (p *jsonText) end() *jsonFault {
	if p.token(); p.i < len(p.b) {
		return p.fault("nothing may come after the value")
	}
	return nil
}

// members calls visit at the value of each member of the next object. Visit must consume
// the value; the key is valid until then.
func (p *jsonText) members(visit func(key []byte) *jsonFault) *jsonFault {
	if fault := p.expect('{', "an object must come here"); fault != nil {
		return fault
	}
	if p.token() == '}' {
		p.i++
		return nil
	}
	for {
		if p.token() != '"' {
			return p.fault("the name of a member, in double quotes, must come here")
		}
		key, fault := p.string()
		if fault == nil {
			fault = p.expect(':', "a colon must come here")
		}
		if fault == nil {
			fault = visit(key)
		}
		if fault != nil {
			return fault
		}
		if p.token() == '}' {
			p.i++
			return nil
		}
		if fault := p.expect(',', "a comma or } must come here"); fault != nil {
			return fault
		}
	}
}

// value consumes the next value, at the given depth, and returns it as a cell.
func (p *jsonText) value(depth int) (cell, *jsonFault) {
	switch c := p.token(); {
	case c == '"':
		text, fault := p.string()
		return cell{text: text, form: formText}, fault
	case c == '{' || c == '[':
		begin := p.i
		fault := p.skip(depth)
		return cell{text: p.b[begin:p.i], form: formComposite}, fault
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	for _, word := range [...]struct {
		text string
		form form
	}{{"null", formNull}, {"true", formBoolean}, {"false", formBoolean}} {
		if bytes.HasPrefix(p.b[p.i:], []byte(word.text)) {
			text := p.b[p.i : p.i+len(word.text)]
			p.i += len(word.text)
			return cell{text: text, form: word.form}, nil
		}
	}
	return cell{}, p.fault("a value must come here")
}

// skip skips an object or array at the given depth.
func (p *jsonText) skip(depth int) *jsonFault {
	if depth >= maxDepth {
		return &jsonFault{at: p.i, message: tooDeep}
	}
	if p.token() == '{' {
		return p.members(func([]byte) *jsonFault {
			_, fault := p.value(depth + 1)
			return fault
		})
	}
	p.i++
	if p.token() == ']' {
		p.i++
		return nil
	}
	for {
		if _, fault := p.value(depth + 1); fault != nil {
			return fault
		}
		if p.token() == ']' {
			p.i++
			return nil
		}
		if fault := p.expect(',', "a comma or ] must come here"); fault != nil {
			return fault
		}
	}
}

// number consumes a JSON number, possibly with a fraction and an exponent. The column
// decides whether it accepts those.
func (p *jsonText) number() (cell, *jsonFault) {
	start := p.i
	if p.b[p.i] == '-' {
		p.i++
	}
	switch {
	case p.i < len(p.b) && p.b[p.i] == '0':
		p.i++
	case !p.digits():
		return cell{}, p.fault("a digit must come here")
	}
	if p.i < len(p.b) && p.b[p.i] == '.' {
		p.i++
		if !p.digits() {
			return cell{}, p.fault("a digit must come here")
		}
	}
	if p.i < len(p.b) && (p.b[p.i] == 'e' || p.b[p.i] == 'E') {
		p.i++
		if p.i < len(p.b) && (p.b[p.i] == '+' || p.b[p.i] == '-') {
			p.i++
		}
		if !p.digits() {
			return cell{}, p.fault("a digit must come here")
		}
	}
	return cell{text: p.b[start:p.i], form: formNumber}, nil
}

// digits consumes digits and reports whether there were any.
func (p *jsonText) digits() bool {
	start := p.i
	for p.i < len(p.b) && p.b[p.i] >= '0' && p.b[p.i] <= '9' {
		p.i++
	}
	return p.i > start
}

// string consumes the next string and returns its text, which is valid until the next
// string. Invalid UTF-8 and unpaired surrogates are returned as invalid UTF-8.
func (p *jsonText) string() ([]byte, *jsonFault) {
	p.i++
	start := p.i
	escaped := false
	for ; p.i < len(p.b); p.i++ {
		switch c := p.b[p.i]; {
		case c == '"':
			p.i++
			if escaped {
				return p.scratch, nil
			}
			return p.b[start : p.i-1], nil
		case c == '\\':
			if !escaped {
				escaped = true
				p.scratch = append(p.scratch[:0], p.b[start:p.i]...)
			}
			if !p.escape() {
				return nil, p.fault("a valid escape must come here")
			}
		case c < ' ':
			return nil, p.fault("a control character must be escaped")
		case escaped:
			p.scratch = append(p.scratch, c)
		}
	}
	return nil, p.fault("the string is not closed")
}

// escape appends the character of the next escape and stops at the escape's last byte.
func (p *jsonText) escape() bool {
	if p.i+1 >= len(p.b) {
		return false
	}
	const signs, meant = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if n := strings.IndexByte(signs, p.b[p.i+1]); n >= 0 {
		p.scratch = append(p.scratch, meant[n])
		p.i++
		return true
	}
	r, ok := p.unicode(p.i)
	if !ok {
		return false
	}
	p.i += 5
	if !utf16.IsSurrogate(r) {
		p.scratch = utf8.AppendRune(p.scratch, r)
		return true
	}
	if low, ok := p.unicode(p.i + 1); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			p.i += 6
			p.scratch = utf8.AppendRune(p.scratch, pair)
			return true
		}
	}
	p.scratch = append(p.scratch, 0xFF)
	return true
}

// unicode parses the escape \uXXXX at i.
func (p *jsonText) unicode(i int) (r rune, ok bool) {
	if i+6 > len(p.b) || p.b[i] != '\\' || p.b[i+1] != 'u' {
		return 0, false
	}
	for _, c := range p.b[i+2 : i+6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
