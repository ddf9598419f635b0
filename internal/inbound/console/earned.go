package console

import (
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/reports"
)

// earned is what the home page shows of the school's money.
type earned struct {
	Cards               []earnedCard
	Chart               *chart
	Currencies          []currencyLink // other than the chart's
	Courses, Affiliates []bestGroup
	Newest              []row
	LastMonth, Month    string // URLs of reports by course
	ByAffiliate         string
	Recent              string // URLs of reports of the last 30 days
	RecentAffiliates    string
	Quiet               *monthLink // of the newest sale, if the last 30 days had none
}

// earnedCard compares a period with another one.
type earnedCard struct {
	Name            string
	Now             lyceum.SalesSum
	Lines           []earnedLine
	Revenue, Change string
	Report          string // its URL
}

// earnedLine is what was sold and refunded in one currency.
type earnedLine struct {
	Currency       lyceum.Currency
	Gross, Refunds string
}

type currencyLink struct {
	Currency lyceum.Currency
	Address  string
}

type bestGroup struct{ Name, Address, Revenue, Sales string }

func newEarned(o *reports.Overview, currency lyceum.Currency) *earned {
	e := &earned{
		Cards: []earnedCard{
			newCard("Today", "yesterday", &o.Today), newCard("This month", "the same days of last month", &o.Month),
			newCard("Last 30 days", "the 30 days before", &o.Recent),
		},
		Courses: bestGroups(o, reports.ByCourse, o.Courses), Affiliates: bestGroups(o, reports.ByAffiliate, o.Affiliates),
		Recent:           reportAddress(o.Recent.Now.Span, reports.ByCourse),
		RecentAffiliates: reportAddress(o.Recent.Now.Span, reports.ByAffiliate),
		LastMonth:        reportAddress(o.LastMonth, reports.ByCourse),
		Month:            reportAddress(o.Month.Now.Span, reports.ByCourse),
		ByAffiliate:      reportAddress(o.LastMonth, reports.ByAffiliate),
	}
	figures := o.Recent.Now.Figures.ByUse()
	if len(figures) == 0 {
		return e
	}
	chosen := figures[0].Currency
	for i := range figures {
		if figures[i].Currency == currency {
			chosen = currency
		}
	}
	for i := range figures {
		if other := figures[i].Currency; other != chosen {
			e.Currencies = append(e.Currencies, currencyLink{other, homePath + "?currency=" + string(other)})
		}
	}
	e.Chart = newChart(o.Days, chosen)
	return e
}

func newCard(name, beside string, b *reports.Beside) earnedCard {
	c := earnedCard{
		Name: name, Now: b.Now.Figures.All(), Report: reportAddress(b.Now.Span, reports.ByCourse),
	}
	c.Revenue = dollars(c.Now.Revenue)
	c.Change = change(c.Now.Revenue, b.Before.Figures.All().Revenue, beside)
	figures := b.Now.Figures.ByUse()
	for i := range figures {
		f := &figures[i]
		line := earnedLine{Currency: f.Currency, Gross: money(f.Gross, f.Currency)}
		if f.Refunded != 0 {
			line.Refunds = money(f.Refunded, f.Currency)
		}
		c.Lines = append(c.Lines, line)
	}
	return c
}

// change compares revenue with that of another time, in words.
func change(now, before lyceum.USDCents, time string) string {
	switch difference := now - before; {
	case before <= 0 || difference > 10*before:
		return "Compared with " + dollars(before) + " for " + time
	case difference == 0:
		return "The same as " + time
	case difference > 0:
		return percent(difference, before) + " more than " + time + " (" + dollars(before) + ")"
	default:
		return percent(-difference, before) + " less than " + time + " (" + dollars(before) + ")"
	}
}

// percent formats a part of a whole as a percentage; both must be positive.
func percent(part, whole lyceum.USDCents) string {
	if n := (200*part + whole) / (2 * whole); n > 0 {
		return number(int64(n)) + "%"
	}
	return "Less than 1%"
}

func bestGroups(o *reports.Overview, by reports.By, groups []reports.Group) []bestGroup {
	days := &form{Values: map[string]string{
		"from": o.Recent.Now.From.String(), "until": o.Recent.Now.Until.String(),
	}}
	var list []bestGroup
	for i := range groups {
		all := groups[i].Figures.All()
		list = append(list, bestGroup{
			groupName(&groups[i], groupWords[by]), groupAddress(days, &groups[i], by), dollars(all.Revenue), number(all.Sales),
		})
	}
	return list
}

// chart shows what was sold and refunded each day in one currency, as bars above and below a
// line.
type chart struct {
	Currency       lyceum.Currency
	Width, Height  int
	Zero           int // the position of the line
	Top, Bottom    string
	First, Last    string
	Gross, Refunds string
	Bars           []bar
}

// bar is a day of a chart.
type bar struct {
	X, Width             int
	Y, Up, Down          int
	Day, Gross, Refunded string
	Sales                int64
}

// Sizes of a chart, in its own units.
const (
	chartBar    = 22
	chartGap    = 2
	chartHeight = 180
	chartTop    = 2 // above the highest bar, and below the lowest
)

func newChart(days []reports.Group, currency lyceum.Currency) *chart {
	c := &chart{
		Currency: currency, Width: len(days) * (chartBar + chartGap), Height: chartHeight + 2*chartTop,
		First: shortDay(days[0].Days.Value.From), Last: shortDay(days[len(days)-1].Days.Value.Until),
	}
	sums := make([]lyceum.SalesSum, len(days))
	var up, down, gross, refunded lyceum.Minor
	for i := range days {
		for j := range days[i].Figures {
			if f := &days[i].Figures[j]; f.Currency == currency {
				sums[i] = *f
			}
		}
		up, down = max(up, sums[i].Gross), max(down, sums[i].Refunded)
		gross, refunded = gross+sums[i].Gross, refunded+sums[i].Refunded
	}
	units := max(up+down, 1)
	scale := func(m lyceum.Minor) int { return int(float64(max(m, 0)) / float64(units) * chartHeight) }
	c.Zero = chartTop + scale(up)
	c.Top, c.Gross, c.Refunds = money(up, currency), money(gross, currency), money(refunded, currency)
	if down > 0 {
		c.Bottom = money(down, currency)
	}
	for i := range sums {
		s := &sums[i]
		b := bar{
			X: i * (chartBar + chartGap), Width: chartBar, Up: scale(s.Gross), Down: scale(s.Refunded), Sales: s.Sales,
			Day: shortDay(days[i].Days.Value.From), Gross: money(s.Gross, currency), Refunded: money(s.Refunded, currency),
		}
		b.Y = c.Zero - b.Up
		c.Bars = append(c.Bars, b)
	}
	return c
}

func shortDay(d lyceum.Day) string {
	return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC).Format("2\u00a0Jan\u00a02006")
}
