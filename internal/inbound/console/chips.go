package console

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/rules/reports"
)

// chip is a filter that one click sets, or removes if it is On.
type chip struct {
	Text, Address string
	On            bool
}

// chipGroup is a filter with fields, which can be unfolded.
type chipGroup struct {
	Name, ID string
	Chosen   []string // in words
	Open     bool     // something in it must be corrected
	Fields   []chipField
	Without  string // the URL of the list without it
	Export   string // the path of the list as a file; empty if it has none
}

type chipField struct {
	field

	YesNo bool
}

// chipGroups are the groups of the filter's fields, in display order.
var chipGroups = []struct {
	name   string
	fields []string
}{
	{"Days", []string{"from", "until"}},
	{"Product", []string{"course_id", "pricing_plan_id"}},
	{"State", []string{"is_fully_refunded", "is_chargeback"}},
	{"Buyer", []string{"user_id"}},
	{"Affiliate", []string{"affiliate_id"}},
}

// months returns the current and the previous month.
func months(now time.Time, zone *time.Location) (this, last reports.Span) {
	today := lyceum.DayAt(now, zone)
	first := lyceum.Day{Year: today.Year, Month: today.Month, Day: 1}
	return reports.Span{From: first, Until: first.AddMonths(1).Add(-1)},
		reports.Span{From: first.AddMonths(-1), Until: first.Add(-1)}
}

// narrowed returns the parameters of the filter that are set.
func narrowed(f *form) url.Values {
	query := url.Values{}
	for _, name := range filterFields {
		if value := strings.TrimSpace(f.Values[name]); value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// without returns the URL of the list without some parts of the filter.
func without(query url.Values, names ...string) string {
	rest := url.Values{}
	for name, values := range query {
		rest[name] = values
	}
	for _, name := range names {
		rest.Del(name)
	}
	if len(rest) == 0 {
		return transactionsPath
	}
	return transactionsPath + "?" + rest.Encode()
}

// periodChips returns the periods that one click selects.
func periodChips(f *form, now time.Time, zone *time.Location) []chip {
	this, last := months(now, zone)
	var chips []chip
	for _, period := range []struct {
		text string
		span reports.Span
	}{{"This month", this}, {"Last month", last}} {
		query, from, until := narrowed(f), period.span.From.String(), period.span.Until.String()
		if query.Get("from") == from && query.Get("until") == until {
			chips = append(chips, chip{period.text, without(query, "from", "until"), true})
			continue
		}
		query.Set("from", from)
		query.Set("until", until)
		chips = append(chips, chip{Text: period.text, Address: listAddress(query)})
	}
	return chips
}

// groups returns the groups of the filter with what is chosen in them.
func (p *listPage) groups() []chipGroup {
	query := narrowed(p.Form)
	var groups []chipGroup
	for _, of := range chipGroups {
		g := chipGroup{Name: of.name, ID: strings.ToLower(of.name), Without: without(query, of.fields...)}
		for _, name := range of.fields {
			if text := p.chosen(name); text != "" && (of.name != "Days" || !p.month()) {
				g.Chosen = append(g.Chosen, text)
			}
			g.Open = g.Open || p.Form.Wrong[name] != ""
			switch {
			case isPicked(name):
				g.Fields = append(g.Fields, chipField{field: p.Named(name)})
			case of.name == "Days":
				g.Fields = append(g.Fields, chipField{field: p.Form.Day(name)})
			default:
				g.Fields = append(g.Fields, chipField{p.Form.Optional(name, "", ""), true})
			}
		}
		groups = append(groups, g)
	}
	return groups
}

// month reports whether the days of the filter are those of a chip.
func (p *listPage) month() bool {
	for _, c := range p.Periods {
		if c.On {
			return true
		}
	}
	return false
}

// chosen describes what a field of the filter narrows the list to; "" for nothing.
func (p *listPage) chosen(name string) string {
	value := strings.TrimSpace(p.Form.Values[name])
	if word, ok := yesNo[value]; ok {
		value = word
	}
	if n, ok := p.Names[name]; ok {
		value = web.Plain(called(n, value))
	}
	if value == "" {
		return ""
	}
	return labels[name] + ": " + value
}

// totalLine has the totals of the paid transactions of a list in one currency.
type totalLine struct {
	Paid, Gross, Net                 string
	Tax, Refunded, Chargebacks, Fees string // empty for nothing
}

// totalLines returns the totals of a list, and its revenue.
func totalLines(figures reports.Figures) (lines []totalLine, revenue string) {
	ordered := figures.ByUse()
	for i := range ordered {
		f := &ordered[i]
		shown := func(m lyceum.Minor) string {
			if m == 0 {
				return ""
			}
			return money(m, f.Currency)
		}
		lines = append(lines, totalLine{
			Paid: count(f.Sales, "paid", "paid"), Gross: money(f.Gross, f.Currency), Net: money(f.Net(), f.Currency),
			Tax: shown(f.Tax), Refunded: shown(f.RefundedOf), Chargebacks: shown(f.ChargedBack + f.ChargebackFees),
			Fees: shown(f.AffiliateFees + f.AuthorFees),
		})
	}
	all := figures.All()
	return lines, dollars(all.Revenue)
}

// exportAddress returns the URL of a list as a file.
func exportAddress(f *form) string {
	if query := narrowed(f); len(query) > 0 {
		return exportPath + "?" + query.Encode()
	}
	return exportPath
}

// reportOf returns the URL of a report of a list. Without a first day in the filter, or with one
// that is too long ago for a report, it begins on the day of the oldest sale.
func (c *console) reportOf(ctx context.Context, v *visit, f *form, of *salesQuery) (string, error) {
	query := narrowed(f)
	query.Set("by", string(reports.ByCourse))
	last := of.Until.Else(lyceum.DayAt(c.Clock(), v.zone))
	least := lyceum.Day{Year: last.Year - reports.MaxYears + 1, Month: time.January, Day: 1}
	if !of.From.Present || of.From.Value.Before(least) {
		query.Set("by", string(reports.ByMonth))
		oldest, err := c.Sales.List(ctx, v.by(), of.Filter, lyceum.OldestFirst, lyceum.Page{Number: 1, Size: 1})
		if err != nil {
			return "", err
		}
		for _, t := range oldest.All() {
			first := lyceum.DayAt(t.CreatedAt, v.zone)
			if first.Before(least) {
				first = least
			}
			query.Set("from", first.String())
		}
	}
	return reportPath + "?" + query.Encode(), nil
}

// exportName returns the file name of a list.
func exportName(query *salesQuery) string {
	name := "sales"
	for _, day := range []lyceum.Opt[lyceum.Day]{query.From, query.Until} {
		if day.Present {
			name += "-" + day.Value.String()
		}
	}
	if f := query.Filter; f.UserID.Present {
		name += "-buyer-" + strconv.Itoa(int(f.UserID.Value))
	}
	return name + ".csv"
}
