package console

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// filterFields are the fields of the list's filter, in the order of its form.
var filterFields = slices.Clip(append(wire.SalesFilterNames(), "from", "until"))

// yesNo are the values of a yes/no field of the filter, with their labels.
var yesNo = map[string]string{"true": "yes", "false": "no"}

// salesQuery is the parsed filter of a list of transactions.
type salesQuery struct {
	Filter      lyceum.TransactionFilter
	From, Until lyceum.Opt[lyceum.Day] // the days of Filter.Created
	Page        lyceum.Page
}

// reading parses the fields of a filter and collects what is wrong with them.
type reading struct {
	form  *form
	zone  *time.Location // in which days begin
	wrong []lyceum.FieldError
}

// readFilter parses the filter of a list of transactions.
func readFilter(f *form, zone *time.Location) (salesQuery, []lyceum.FieldError) {
	r := &reading{form: f, zone: zone}
	given := url.Values{}
	for _, name := range wire.SalesFilterNames() {
		if text := strings.TrimSpace(f.Values[name]); r.offered(name, text) {
			given.Set(name, text)
		}
	}
	filter, err := wire.SalesFilterOf(given)
	if err != nil {
		r.wrong = append(r.wrong, lyceum.Public(err).Fields...)
	}
	query := salesQuery{Filter: filter, Page: lyceum.Page{Number: 1, Size: pageSize}}
	query.From, query.Until = r.span()
	query.Filter.Created = lyceum.Days(query.From, query.Until, r.zone)
	if number := id[int32](r, "page"); number.Present {
		query.Page.Number = number.Value
	}
	return query, r.wrong
}

// days parses the period from one day to another, both included.
func (r *reading) days() lyceum.Period {
	from, until := r.span()
	return lyceum.Days(from, until, r.zone)
}

// span parses the days of a period.
func (r *reading) span() (from, until lyceum.Opt[lyceum.Day]) {
	from, until = r.day("from"), r.day("until")
	if from.Present && until.Present && until.Value.Before(from.Value) {
		r.refuse("until", "must not be before the day in From")
	}
	return from, until
}

func (r *reading) refuse(field, message string) {
	r.wrong = append(r.wrong, lyceum.FieldError{Field: field, Message: message})
}

// offered reports whether text is a value that the form offers for a field; the API's list
// accepts others, too. A name instead of a number has already been looked up.
func (r *reading) offered(field, text string) bool {
	if isPicked(field) {
		return figures(text) && id[int32](r, field).Present
	}
	return r.choice(field).Present
}

func id[ID ~int32](r *reading, field string) lyceum.Opt[ID] {
	text := strings.TrimSpace(r.form.Values[field])
	if text == "" {
		return lyceum.None[ID]()
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 || !figures(text) {
		r.refuse(field, "must be a whole number from 1 to 2147483647, or be left empty")
		return lyceum.None[ID]()
	}
	return lyceum.Some(ID(n))
}

func (r *reading) choice(field string) lyceum.Opt[bool] {
	switch r.form.Values[field] {
	case "":
		return lyceum.None[bool]()
	case "true":
		return lyceum.Some(true)
	case "false":
		return lyceum.Some(false)
	}
	r.refuse(field, "must be any, yes or no")
	return lyceum.None[bool]()
}

// day parses a day.
func (r *reading) day(field string) lyceum.Opt[lyceum.Day] {
	text := strings.TrimSpace(r.form.Values[field])
	if text == "" {
		return lyceum.None[lyceum.Day]()
	}
	day, err := lyceum.ParseDay(text)
	if err != nil {
		r.refuse(field, "must be a day written like 2026-01-31, or be left empty")
		return lyceum.None[lyceum.Day]()
	}
	return lyceum.Some(day)
}
