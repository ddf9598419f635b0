package intake

import (
	"encoding/json"
	"strconv"
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
	text, _ := json.Marshal(v) //nolint:errchkjson // lists of strings and of structs of texts: nothing that could fail
	if e.format == JSONLines {
		e.raw(string(text))
	} else {
		e.buf = wire.AppendCSVText(e.buf, string(text))
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
		e.buf = wire.AppendCSVText(e.buf, s)
	}
}
