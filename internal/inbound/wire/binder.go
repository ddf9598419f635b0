package wire

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Binder turns parameters into typed values and collects what is wrong with
// them, so that one answer names every mistake. A parameter that is absent
// gives nil; parameters nobody asks for are ignored.
type Binder struct {
	query    Query
	problems []lyceum.FieldError
}

// NewBinder binds the parameters of a query.
func NewBinder(q Query) *Binder { return &Binder{query: q} }

// Err refuses the request if anything was wrong.
func (b *Binder) Err() error {
	if len(b.problems) == 0 {
		return nil
	}
	return lyceum.InvalidFields(b.problems...)
}

// Refuse adds something that is wrong, worded to follow the name.
func (b *Binder) Refuse(name, message string) { b.refuse(name, message) }

func (b *Binder) refuse(name, message string) {
	b.problems = append(b.problems, lyceum.FieldError{Field: name, Message: message})
}

// text gives the value of a parameter that is there once.
func (b *Binder) text(name string) (string, bool) {
	found := -1
	for i := range b.query.pairs {
		if b.query.pairs[i].name != name {
			continue
		}
		if found >= 0 {
			b.refuse(name, "must be given once")
			return "", false
		}
		found = i
	}
	if found < 0 {
		return "", false
	}
	return b.query.pairs[found].value, true
}

const (
	minInt32 = -1 << 31
	maxInt32 = 1<<31 - 1
)

// Int32 binds any integer of 32 bits.
func (b *Binder) Int32(name string) *int32 { return b.Int32From(name, minInt32) }

// Int32From binds an integer from least to 2147483647.
func (b *Binder) Int32From(name string, least int32) *int32 {
	text, ok := b.text(name)
	if !ok {
		return nil
	}
	v, err := strconv.ParseInt(text, 10, 32)
	if err != nil || v < int64(least) || text[0] == '+' {
		b.refuse(name, "must be an integer from "+strconv.Itoa(int(least))+" to "+strconv.Itoa(maxInt32))
		return nil
	}
	n := int32(v)
	return &n
}

// Int64From binds an integer from least on; least when it is absent.
func (b *Binder) Int64From(name string, least int64) int64 {
	text, ok := b.text(name)
	if !ok {
		return least
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || text[0] == '+' {
		b.refuse(name, "must be an integer from "+strconv.FormatInt(least, 10)+" to 9223372036854775807")
		return least
	}
	return n
}

// Int32Between binds an integer from least to most.
func (b *Binder) Int32Between(name string, least, most int32) *int32 {
	text, ok := b.text(name)
	if !ok {
		return nil
	}
	v, err := strconv.ParseInt(text, 10, 32)
	if err != nil || v < int64(least) || v > int64(most) || text[0] == '+' {
		b.refuse(name, "must be an integer from "+strconv.Itoa(int(least))+" to "+strconv.Itoa(int(most)))
		return nil
	}
	n := int32(v)
	return &n
}

// RequiredInt32From is Int32From for a parameter that must be there.
func (b *Binder) RequiredInt32From(name string, least int32) int32 {
	before := len(b.problems)
	if v := b.Int32From(name, least); v != nil {
		return *v
	}
	if len(b.problems) == before {
		b.refuse(name, "is missing; it must be an integer from "+strconv.Itoa(int(least))+" to "+strconv.Itoa(maxInt32))
	}
	return 0
}

// Words binds a text that is not empty.
func (b *Binder) Words(name string) *string {
	text, ok := b.text(name)
	if !ok {
		return nil
	}
	switch {
	case text == "":
		b.refuse(name, "must be a text that is not empty")
		return nil
	case !lyceum.IsText(text):
		b.refuse(name, lyceum.TextTaken)
		return nil
	}
	return &text
}

// Bool binds true, false, 1 or 0.
func (b *Binder) Bool(name string) *bool {
	text, ok := b.text(name)
	if !ok {
		return nil
	}
	v := text == "true" || text == "1"
	if !v && text != "false" && text != "0" {
		b.refuse(name, "must be true or false (or 1 or 0)")
		return nil
	}
	return &v
}

// Time binds a time as lyceum.ParseTime reads it.
func (b *Binder) Time(name string) *time.Time {
	text, ok := b.text(name)
	if !ok {
		return nil
	}
	t, err := lyceum.ParseTime(text)
	if err != nil {
		b.refuse(name, lyceum.Public(err).Detail)
		return nil
	}
	return &t
}

// OneOf binds one of the values listed, in their own letter case.
func (b *Binder) OneOf(name string, values ...string) *string {
	text, ok := b.text(name)
	if !ok {
		return nil
	}
	if !slices.Contains(values, text) {
		b.refuse(name, "must be "+strings.Join(values, " or "))
		return nil
	}
	return &text
}

// Bound gives one end of a period, which is open for nil. The first second of year 1, which can be
// asked for, is the zero time and would leave that end open.
func Bound(t *time.Time) time.Time {
	switch {
	case t == nil:
		return time.Time{}
	case t.IsZero():
		return t.Add(time.Nanosecond)
	}
	return *t
}
