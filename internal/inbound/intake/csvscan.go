package intake

import "bytes"

// What is wrong with a record, phrased to follow the column's name or "the row".
const (
	tooLong        = "is longer than 1 MiB"
	openQuote      = "has an unclosed quote, which does not end within 1 MiB or by the end of the file"
	strayQuote     = "contains a quote but does not begin with one; quote the whole cell and double the quotes in it"
	textAfterQuote = "has an unclosed quote, or text after the closing quote; double the quotes inside a cell"
)

// csvScanner splits the input into records and fields. Line ends within quotes are
// preserved.
type csvScanner struct {
	src     *source
	fields  []csvField
	size    int // bytes of the record, including its line end
	lines   int // physical lines of the record
	ended   bool
	scratch []byte
}

// csvField is the position of a cell in the record, without its quotes.
type csvField struct {
	start, end      int
	quoted, doubled bool // doubled: it contains "" for "
}

// scan finds the record at the start of the window. problem is why it is malformed, if it
// is. ended reports whether the input ended with or within it.
func (c *csvScanner) scan() (problem string) {
	c.fields, c.lines = c.fields[:0], 1
	for at := 0; ; at++ {
		at, problem = c.field(at)
		if problem == "" && at > maxRecord {
			problem = tooLong
		}
		separator, ok := c.src.at(at)
		c.ended = !ok
		if problem != "" {
			return problem
		}
		if separator != ',' {
			c.size = at + c.src.lineEnd(at)
			return ""
		}
	}
}

// pass advances past the latest record.
func (c *csvScanner) pass() { c.src.advance(c.size) }

// field finds the field at i and returns the index after it.
func (c *csvScanner) field(i int) (end int, problem string) {
	if b, _ := c.src.at(i); b == '"' {
		return c.quoted(i + 1)
	}
	return c.plain(i)
}

func (c *csvScanner) plain(start int) (end int, problem string) {
	i := start
	for {
		u := c.src.unread()
		for ; i < len(u); i++ {
			if u[i] > ',' {
				continue
			}
			switch u[i] {
			case ',', '\n', '\r':
				c.fields = append(c.fields, csvField{start: start, end: i})
				return i, ""
			case '"':
				return i, strayQuote
			}
		}
		if i > maxRecord {
			return i, tooLong
		}
		if !c.src.more() {
			c.fields = append(c.fields, csvField{start: start, end: i})
			return i, ""
		}
	}
}

func (c *csvScanner) quoted(start int) (end int, problem string) {
	field := csvField{start: start, quoted: true}
	i := start
	for {
		n := bytes.IndexByte(c.src.unread()[i:], '"')
		if n < 0 {
			i = len(c.src.unread())
			if i > maxRecord || !c.src.more() {
				return i, openQuote
			}
			continue
		}
		i += n
		if i > maxRecord {
			return i, openQuote
		}
		switch b, ok := c.src.at(i + 1); {
		case ok && b == '"':
			field.doubled = true
			i += 2
		case !ok || b == ',' || b == '\n' || b == '\r':
			field.end = i
			c.fields = append(c.fields, field)
			c.lines += countLines(c.src.unread()[start:i])
			return i + 1, ""
		default:
			return i, textAfterQuote
		}
	}
}

// text returns the text of a field of the latest record. It is valid until the next call.
func (c *csvScanner) text(f csvField) []byte {
	raw := c.src.unread()[f.start:f.end]
	if !f.doubled {
		return raw
	}
	c.scratch = c.scratch[:0]
	for {
		i := bytes.IndexByte(raw, '"')
		if i < 0 {
			return append(c.scratch, raw...)
		}
		c.scratch = append(c.scratch, raw[:i+1]...)
		raw = raw[i+2:]
	}
}

// cell returns a field as a cell, which is null if it is empty without quotes.
func (c *csvScanner) cell(f csvField) cell {
	if f.start == f.end && !f.quoted {
		return cell{form: formNull}
	}
	return cell{text: c.text(f), form: formText}
}
