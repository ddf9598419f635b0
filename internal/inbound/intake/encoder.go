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

// json appends a value as JSON, which in CSV is the text of a cell.
func (e *encoder) json(v any) {
	text, _ := json.Marshal(v) //nolint:errchkjson // lists of strings and structs of strings never fail
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

// word appends a string that needs no escaping in either format.
func (e *encoder) word(s string) {
	e.quote()
	e.raw(s)
	e.quote()
}

// quote appends the quote before or after words and times in JSON.
func (e *encoder) quote() {
	if e.format == JSONLines {
		e.buf = append(e.buf, '"')
	}
}

// null appends null, which is nothing in CSV; the empty string is a pair of quotes there.
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
