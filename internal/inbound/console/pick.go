package console

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
)

// pickedField is a field of the filter that accepts names, with the sequence of the objects
// they name.
type pickedField struct {
	Field string
	Of    lyceum.Sequence
}

var picked = []pickedField{
	{"user_id", lyceum.UserSequence},
	{"course_id", lyceum.CourseSequence},
	{"pricing_plan_id", lyceum.PricingPlanSequence},
	{"affiliate_id", lyceum.AffiliateSequence},
}

// maxOptions is the maximum number of options to pick from.
const maxOptions = 20

// picking asks which of several objects with a matching name is meant.
type picking struct {
	Label, Text string
	Options     []option
	More        bool // there are more than are shown
}

// option is one object that can be picked.
type option struct {
	Amount, Name string // Amount may be empty
	Note, Day    string // may be empty
	Address      string
}

// picks is the result of looking up the names in a filter.
type picks struct {
	Ambiguous *picking // for the first name with several matches
	Address   string   // of the list with the numbers that were found
	Wrong     []lyceum.FieldError
}

// called returns the name of something, or otherwise if it has none.
func called(n lyceum.Named, otherwise string) string {
	for _, name := range []string{seen(n.Name), n.Note} {
		if name != "" {
			return name
		}
	}
	return otherwise
}

// pick looks up the names that were typed into a filter. For the first name with several
// matches, it returns them to pick from. If each name has one match, it returns the URL of the
// list with their numbers. A name without a match is an error.
func (c *console) pick(ctx context.Context, v *visit, f *form, query url.Values) (pick picks, err error) {
	found := false
	for _, p := range picked {
		text := strings.TrimSpace(f.Values[p.Field])
		if text == "" || figures(text) {
			continue
		}
		options, err := c.options(ctx, v, p.Of, text)
		switch {
		case err != nil:
			return pick, err
		case len(options) == 0:
			pick.Wrong = append(pick.Wrong, lyceum.FieldError{
				Field: p.Field, Message: "matches nothing; type part of the name, or the number",
			})
		case len(options) == 1:
			query.Set(p.Field, strconv.Itoa(int(options[0].ID)))
			found = true
		default:
			pick.Ambiguous = pickingOf(p.Field, text, options, query)
			return pick, nil
		}
	}
	if found {
		pick.Address = listAddress(query)
	}
	return pick, nil
}

// options finds the matches for a text, up to one more than can be shown.
func (c *console) options(ctx context.Context, v *visit, of lyceum.Sequence, text string) ([]lyceum.Named, error) {
	if len(text) > maxEmail || !lyceum.IsText(text) {
		return nil, nil
	}
	return c.Names.In(ctx, v.School.ID).SearchNames(of, text, maxOptions+1)
}

func pickingOf(field, text string, found []lyceum.Named, query url.Values) *picking {
	p := &picking{Label: labels[field], Text: text, More: len(found) > maxOptions}
	for _, n := range found[:min(len(found), maxOptions)] {
		query.Set(field, strconv.Itoa(int(n.ID)))
		p.Options = append(p.Options, optionOf(n, listAddress(query)))
	}
	return p
}

func optionOf(n lyceum.Named, address string) option {
	o := option{Name: called(n, strconv.Itoa(int(n.ID))), Note: n.Note, Address: address}
	if o.Note == o.Name {
		o.Note = ""
	}
	return o
}

// listAddress returns the URL of the first page of the list of transactions with a filter.
func listAddress(query url.Values) string {
	kept := url.Values{}
	for name, values := range query {
		if name != "page" && values[0] != "" {
			kept.Set(name, values[0])
		}
	}
	return transactionsPath + "?" + kept.Encode()
}

// namesIn returns the names of the objects whose numbers are in a filter, by field.
func (c *console) namesIn(ctx context.Context, v *visit, f *form) (map[string]lyceum.Named, error) {
	names := map[string]lyceum.Named{}
	for _, p := range picked {
		number, err := strconv.ParseInt(strings.TrimSpace(f.Values[p.Field]), 10, 32)
		if err != nil {
			continue
		}
		found, err := c.Names.In(ctx, v.School.ID).FindNames(p.Of, []int32{int32(number)})
		if err != nil {
			return nil, err
		}
		if n, ok := found[int32(number)]; ok {
			names[p.Field] = n
		}
	}
	return names, nil
}

// isPicked reports whether a field of the filter accepts names.
func isPicked(field string) bool {
	return slices.ContainsFunc(picked, func(p pickedField) bool { return p.Field == field })
}

// Named returns a field that accepts a name or a number; its hint is the name for the current
// number.
func (p *listPage) Named(name string) field {
	hint := "A part of the name, or the number."
	if name == "user_id" {
		hint = "Part of the name or email address, or the number."
	}
	if n, ok := p.Names[name]; ok {
		hint = web.Plain(called(n, ""))
	}
	return p.Form.Optional(name, "", hint)
}
