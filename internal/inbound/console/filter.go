package console

import (
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// filterFields are the parts of the list's filter, in the order of its form.
var filterFields = []string{"user_id", "affiliate_id", "course_id", "pricing_plan_id", "is_fully_refunded", "is_chargeback", "from", "until"}

// yesNo are the values of a choice in the filter, with their words.
var yesNo = map[string]string{"true": "yes", "false": "no"}

// chosen says in words what the filter of a form narrows to.
func chosen(f *form) []string {
	var parts []string
	for _, name := range filterFields {
		value := strings.TrimSpace(f.Values[name])
		if word, ok := yesNo[value]; ok {
			value = word
		}
		if value != "" {
			parts = append(parts, labels[name]+": "+value)
		}
	}
	return parts
}

// reading reads the fields of a filter and collects what is wrong with them.
type reading struct {
	form  *form
	wrong []lyceum.FieldError
}

// readFilter reads which transactions a form asks for.
func readFilter(f *form) (lyceum.TransactionFilter, lyceum.Page, []lyceum.FieldError) {
	r := &reading{form: f}
	filter := lyceum.TransactionFilter{
		UserID: id[lyceum.UserID](r, "user_id"), AffiliateID: id[lyceum.AffiliateID](r, "affiliate_id"),
		CourseID: id[lyceum.CourseID](r, "course_id"), PricingPlanID: id[lyceum.PricingPlanID](r, "pricing_plan_id"),
		FullyRefunded: r.choice("is_fully_refunded"), Chargeback: r.choice("is_chargeback"),
	}
	filter.Created = r.days()
	page := lyceum.Page{Number: 1, Size: pageSize}
	if number := id[int32](r, "page"); number.Present {
		page.Number = number.Value
	}
	return filter, page, r.wrong
}

// days reads the period from one day until another. Both days are included. Of
// a Period the beginning is not, and what it narrows has whole seconds.
func (r *reading) days() (p lyceum.Period) {
	from, until := r.day("from"), r.day("until")
	if from.Present {
		p.After = from.Value.Add(-time.Second)
	}
	if until.Present {
		p.Until = until.Value.AddDate(0, 0, 1).Add(-time.Second)
	}
	if from.Present && until.Present && until.Value.Before(from.Value) {
		r.refuse("until", "must not be before the day in From")
	}
	return p
}

func (r *reading) refuse(field, message string) {
	r.wrong = append(r.wrong, lyceum.FieldError{Field: field, Message: message})
}

func id[ID ~int32](r *reading, field string) lyceum.Opt[ID] {
	text := strings.TrimSpace(r.form.Values[field])
	if text == "" {
		return lyceum.None[ID]()
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 || !figures(text) {
		r.refuse(field, "must be a whole number from 1 to 2147483647, or stay empty")
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

// day reads a day, which begins at midnight UTC.
func (r *reading) day(field string) lyceum.Opt[time.Time] {
	text := strings.TrimSpace(r.form.Values[field])
	if text == "" {
		return lyceum.None[time.Time]()
	}
	at, err := time.Parse(time.DateOnly, text)
	if err != nil || at.Year() < 1 {
		r.refuse(field, "must be a day written like 2026-01-31, or stay empty")
		return lyceum.None[time.Time]()
	}
	return lyceum.Some(at)
}
