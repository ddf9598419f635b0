package intake

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// encoder appends values in one format.
type encoder struct {
	buf    []byte
	format Format
}

func (e *encoder) raw(s string)    { e.buf = append(e.buf, s...) }
func (e *encoder) integer(n int64) { e.buf = strconv.AppendInt(e.buf, n, 10) }
func (e *encoder) boolean(b bool)  { e.buf = strconv.AppendBool(e.buf, b) }

func (e *encoder) number(f float64) { e.buf = strconv.AppendFloat(e.buf, f, 'g', -1, 64) }

// json writes a value that JSON has, in CSV inside a cell.
func (e *encoder) json(v any) {
	text, _ := json.Marshal(v) //nolint:errchkjson // lists of texts and of structs of texts: nothing that could fail
	if e.format == JSONLines {
		e.raw(string(text))
	} else {
		e.buf = appendCSVText(e.buf, string(text))
	}
}

func (e *encoder) time(t time.Time) {
	e.quote()
	e.buf = lyceum.AppendTime(e.buf, t)
	e.quote()
}

// word writes a text that holds nothing to be escaped in either format.
func (e *encoder) word(s string) {
	e.quote()
	e.raw(s)
	e.quote()
}

// quote stands around words and times.
func (e *encoder) quote() {
	if e.format == JSONLines {
		e.buf = append(e.buf, '"')
	}
}

// null is nothing at all in CSV; the empty text is a pair of quotes there.
func (e *encoder) null() {
	if e.format == JSONLines {
		e.raw("null")
	}
}

func (e *encoder) text(s string) {
	if e.format == JSONLines {
		e.buf = wire.AppendString(e.buf, s)
	} else {
		e.buf = appendCSVText(e.buf, s)
	}
}

// appendCSVText appends s as a cell. A cell that a spreadsheet would run is
// prefixed with an apostrophe, and so is one that looks as if it had been
// prefixed already, so that taking one away always restores the cell.
func appendCSVText(b []byte, s string) []byte {
	formula := startsFormula(strings.TrimLeft(s, "'"))
	if !formula && s != "" && !strings.ContainsAny(s, ",\"\r\n") {
		return append(b, s...)
	}
	b = append(b, '"')
	if formula {
		b = append(b, '\'')
	}
	for {
		i := strings.IndexByte(s, '"')
		if i < 0 {
			break
		}
		b = append(append(b, s[:i]...), `""`...)
		s = s[i+1:]
	}
	return append(append(b, s...), '"')
}

// startsFormula tells whether a spreadsheet may take s for a formula: = + - @
// tab or a line end come first, or the full-width form of one of the signs.
func startsFormula(s string) bool {
	if s == "" {
		return false
	}
	switch s[0] {
	case '=', '+', '-', '@', '\t', '\r', '\n':
		return true
	}
	return strings.HasPrefix(s, "＝") || strings.HasPrefix(s, "＋") ||
		strings.HasPrefix(s, "－") || strings.HasPrefix(s, "＠")
}
