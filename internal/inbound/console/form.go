package console

import (
	"net/http"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// form is a form as it is shown: empty, or as it was submitted with what is wrong.
type form struct {
	Action string
	Reads  bool   // it is sent by GET and changes nothing
	Once   string // its unique name, to recognise a second submission; empty if that does no harm
	Values map[string]string
	Wrong  map[string]string // messages, by field
	Order  []string          // of the invalid fields
	Shown  string            // the fingerprint of what it changes, as of when it was shown
	Now    []current         // what somebody else has changed since

	Refused string // an error that is not about a field
}

// newFilter returns the empty form of a page's filter.
func newFilter(action string) *form {
	return &form{Action: action, Reads: true, Values: map[string]string{}}
}

// current is the current value of a field.
type current struct {
	Label, Value string
	Long         bool // has several lines, or is long
}

// labels are the names of fields as users see them.
var labels = map[string]string{
	"name": "Name", "redirect_url": "Redirect URL", "version": "Version", "permissions": "Permissions",
	"keep": "The current secret", "email": "Email address",
	"user_id": "Buyer", "affiliate_id": "Affiliate", "course_id": "Course", "pricing_plan_id": "Pricing plan",
	"q":                 "Find",
	"is_fully_refunded": "Fully refunded", "is_chargeback": "Chargeback", "from": "From", "until": "Until",
	"by": "By", "page": "Page",
	"product_type": "Kind of product", "product": "Product", "ends_on": "Last day",
	"action": "What to do", "tags": "Tags", "who": "For whom", "file": "File", "list": "List", "with_tag": "Tag",
	"with_product": "Their product",
	"amount":       "Amount", "reason": "Reason", "reference": "Reference",
	"url": "Address", "events": "Events", "schedule": "Schedule", "rate_limit": "Messages per minute", "event": "Event",
	"subject": "Subject", "role": "Role", "body": "Text", "secret": "Secret",
	"request_id": "Request ID", "address": "Postal address", "tax_number": "Tax number", "receipt_prefix": "Prefix",
	"find": "Find", "actor": "By", "id": "Number", "kind": "Kind of change", "before": "The page's start",
	"after": "The page's start",
	"state": "State", "replay": "Missed events", "require_pkce": "Require PKCE",
	"rotate_refresh_tokens": "Rotate refresh tokens", "as_array": "Send the body as an array",
	"time_zone": "Time zone", "on_refund": "When a sale is fully refunded",
	"on_chargeback": "When a payment is lost to a chargeback", "on_cancellation": "When a subscription is cancelled",
	"on_lapse": "When a subscription is not paid for", "grace_days": "Days of grace",
}

// refuse shows the reasons of an error at the fields. It returns false for an error that is not
// about fields.
func (f *form) refuse(err error) bool {
	e := lyceum.Public(err)
	if e.Kind != lyceum.Invalid || len(e.Fields) == 0 {
		return false
	}
	f.Wrong = map[string]string{}
	for _, wrong := range e.Fields {
		label, ok := labels[wrong.Field]
		if !ok {
			label = wrong.Field
		}
		f.Wrong[wrong.Field] = label + " " + wrong.Message
		f.Order = append(f.Order, wrong.Field)
	}
	return true
}

// overtaken handles an error that says that what the form changes was changed since it was
// shown: it adds the current values to the form, which can then be submitted again to overwrite
// them.
func (f *form) overtaken(err error, now *form, names ...string) bool {
	if lyceum.Public(err).Code != lyceum.ChangedMeanwhile {
		return false
	}
	f.Shown = now.Shown
	for _, name := range names {
		value := now.Values[name]
		if value == f.Values[name] {
			continue
		}
		if word, ok := words[name][value]; ok {
			value = word
		}
		f.Now = append(f.Now, current{labels[name], value, len(value) > 500 || strings.Contains(value, "\n")})
	}
	return true
}

var onOff = map[string]string{"": "off", "on": "on"}

// words are the values of fields as users see them.
var words = map[string]map[string]string{
	"require_pkce": onOff, "rotate_refresh_tokens": onOff, "as_array": onOff,
	"schedule":   {string(lyceum.ContractSchedule): "four attempts", string(lyceum.StandardSchedule): "ten attempts"},
	"rate_limit": {"": "no limit"},
	"on_refund":  offered("on_refund"), "on_chargeback": offered("on_chargeback"),
	"on_cancellation": offered("on_cancellation"), "on_lapse": offered("on_lapse"),
}

// Field returns a text field of the form for its template.
func (f *form) Field(name, kind, hint string) field {
	return field{Name: name, Label: labels[name], Hint: hint, Type: kind, Value: f.Values[name], Error: f.Wrong[name]}
}

// Optional returns a text field that may stay empty; mode is the keyboard that a phone shows
// for it.
func (f *form) Optional(name, mode, hint string) field {
	made := f.Field(name, "text", hint)
	made.Optional, made.Mode = true, mode
	return made
}

// Number returns a field for a whole number.
func (f *form) Number(name, hint string) field {
	made := f.Field(name, "text", hint)
	made.Mode = "numeric"
	return made
}

// Day returns a field for a day that may stay empty. An invalid day is shown in a text field,
// because a browser would drop it from a date field.
func (f *form) Day(name string) field {
	made := f.Field(name, "date", "")
	if made.Optional = true; made.Error != "" {
		made.Type = "text"
	}
	return made
}

// LastDay returns a field for the last day of something, which may stay empty.
func (f *form) LastDay() field {
	made := f.Day("ends_on")
	made.Hint = "Leave it empty for no end."
	return made
}

// Amount returns the field for an amount in a currency.
func (f *form) Amount(currency lyceum.Currency) field {
	made := f.Field("amount", "text", "In "+string(currency)+".")
	if made.Mode = "decimal"; currency.Decimals() == 0 {
		made.Mode = "numeric"
	}
	return made
}

// keep stores what was typed, to show it again.
func (f *form) keep(get func(string) string, names ...string) {
	for _, name := range names {
		f.Values[name] = strings.ToValidUTF8(get(name), "\uFFFD")
	}
}

// trimmed returns a function that returns a field of the submitted form without surrounding
// spaces.
func trimmed(r *http.Request) func(string) string {
	return func(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }
}

// lines returns a function that returns a field of the submitted form with \n at the end of
// lines, as they are stored; browsers send \r\n.
func lines(r *http.Request) func(string) string {
	return func(name string) string { return strings.ReplaceAll(r.PostForm.Get(name), "\r\n", "\n") }
}
