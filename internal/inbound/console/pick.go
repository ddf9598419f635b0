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

// pickedField is a field of the filter in which a person types a name, with the
// sequence of what is meant.
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

// maxOptions is how many things a person picks from at most.
const maxOptions = 20

// picking asks which of several things of that name is meant.
type picking struct {
	Label, Text string
	Options     []option
	More        bool // there are more than are shown
}

// option is one thing that can be picked.
type option struct{ Name, Note, Address string }

// picks is what became of the names in a filter.
type picks struct {
	Question *picking // the first name that fits several things
	Address  string   // of the list with the numbers of what was found
	Wrong    []lyceum.FieldError
}

// called is what something is called, and otherwise its number.
func called(n lyceum.Named, otherwise string) string {
	for _, name := range []string{strings.TrimSpace(n.Name), n.Note} {
		if name != "" {
			return name
		}
	}
	return otherwise
}

// pick looks for the names that were typed into a filter. For the first that
// fits several things it gives these to pick from; where each fits one thing it
// gives the address of the list with their numbers. What fits nothing is wrong.
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
			pick.Question = pickingOf(p.Field, text, options, query)
			return pick, nil
		}
	}
	if found {
		pick.Address = listAddress(query)
	}
	return pick, nil
}

// options finds what fits a text, and one more than can be shown.
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

// listAddress is the address of the list of transactions with a filter, at its
// first page.
func listAddress(query url.Values) string {
	kept := url.Values{}
	for name, values := range query {
		if name != "page" && values[0] != "" {
			kept.Set(name, values[0])
		}
	}
	return transactionsPath + "?" + kept.Encode()
}

// namesIn returns what the numbers in a filter stand for, by field.
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

// isPicked reports whether a person types a name into a field of the filter.
func isPicked(field string) bool {
	return slices.ContainsFunc(picked, func(p pickedField) bool { return p.Field == field })
}

// Named returns a field in which a person types a name or a number; its hint says
// what the number in it stands for.
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
