package console

import (
	"net/http"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// form is a form as it is shown: empty, or as it was sent with what is wrong.
type form struct {
	Action string
	Once   string // its name, by which it is told from another; empty where sending twice does no harm
	Values map[string]string
	Wrong  map[string]string // by field, sentences
	Order  []string          // of the fields that are wrong
	Shown  string            // the fingerprint of what it changes, as it was shown
	Now    []current         // what somebody else has changed since
}

// current is the value that a field has now.
type current struct {
	Label, Value string
	Long         bool // several lines, or a long one
}

// labels are the fields' names as a person sees them.
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
}

// refuse puts the reasons of a refusal beside the fields. It is false for an
// error that says nothing of fields.
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

// overtaken puts into a form what it changes as it is now, if that was changed after it was
// shown. The form may be sent again to replace that.
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

// words are how values of fields are said.
var words = map[string]map[string]string{
	"require_pkce": onOff, "rotate_refresh_tokens": onOff, "as_array": onOff,
	"schedule":   {string(lyceum.ContractSchedule): "four attempts", string(lyceum.StandardSchedule): "ten attempts"},
	"rate_limit": {"": "no limit"},
}

// Field gives one text field of the form for its template.
func (f *form) Field(name, kind, hint string) field {
	return field{Name: name, Label: labels[name], Hint: hint, Type: kind, Value: f.Values[name], Error: f.Wrong[name]}
}

// Optional gives a text field that may stay empty, with the keyboard that a
// phone shows for it.
func (f *form) Optional(name, mode, hint string) field {
	made := f.Field(name, "text", hint)
	made.Optional, made.Mode = true, mode
	return made
}

// Day gives a field for a day that may stay empty. One that is no day is shown
// as text: a browser would leave it out of a field for days.
func (f *form) Day(name string) field {
	made := f.Field(name, "date", "")
	if made.Optional = true; made.Error != "" {
		made.Type = "text"
	}
	return made
}

// LastDay gives a field for the last day of something, which may stay empty.
func (f *form) LastDay() field {
	made := f.Day("ends_on")
	made.Hint = "Empty: without an end."
	return made
}

// Amount gives the field for an amount of a currency.
func (f *form) Amount(currency lyceum.Currency) field {
	made := f.Field("amount", "text", "In "+string(currency)+".")
	if made.Mode = "decimal"; currency.Decimals() == 0 {
		made.Mode = "numeric"
	}
	return made
}

// keep takes up what was typed, to show it again.
func (f *form) keep(get func(string) string, names ...string) {
	for _, name := range names {
		f.Values[name] = strings.ToValidUTF8(get(name), "\uFFFD")
	}
}

// trimmed gives what was typed into the fields of a form, without the spaces
// around it.
func trimmed(r *http.Request) func(string) string {
	return func(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }
}

// lines gives what was typed into the fields of a form, with the ends of lines that are
// kept: browsers send others.
func lines(r *http.Request) func(string) string {
	return func(name string) string { return strings.ReplaceAll(r.PostForm.Get(name), "\r\n", "\n") }
}
