package console

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/reports"
)

// reportPage is the data of a report of sales.
type reportPage struct {
	Form    *form
	Report  *reports.Report // nil if the form is invalid
	Days    string
	Revenue string // of all groups, in US dollars
	Now     lyceum.SalesSum
	Change  string
	All     []reportGroup // the period, and the one before
	Groups  []reportGroup
	File    string // its URL as a file
	Sales   string // the URL of the list of its sales
	Ways    []reportWay
	Narrow  []chip // the parts of the filter
	Hidden  []hidden
}

// reportWay is a choice of grouping.
type reportWay struct {
	Value, Name string
	Chosen      bool
}

// reportGroup is a group with a row for each currency.
type reportGroup struct {
	Name    string
	Address string // of the list of its sales; empty if the list has no such filter
	Rows    []reportRow
}

// reportRow is a group in one currency.
type reportRow struct {
	Sales, Buyers                                     string
	Gross, Tax, Refunds, Disputed, Fees, Net, Revenue string
}

const (
	reportPath     = "/admin/reports/sales"
	reportFilePath = "/admin/reports/sales.csv"
)

// groupWords are the labels of the groupings.
var groupWords = map[reports.By]string{
	reports.ByDay: "Day", reports.ByWeek: "Week", reports.ByMonth: "Month", reports.ByCourse: "Course",
	reports.ByProduct: "Product", reports.ByPlan: "Pricing plan", reports.ByAuthor: "Author",
	reports.ByAffiliate: "Affiliate", reports.ByCoupon: "Coupon", reports.ByCurrency: "Currency",
}

func reportAddress(of reports.Span, by reports.By) string {
	query := url.Values{"from": {of.From.String()}, "until": {of.Until.String()}, "by": {string(by)}}
	return reportPath + "?" + query.Encode()
}

// queryReport parses the query of a report and makes the report.
func (c *console) queryReport(r *http.Request, v *visit) (reports.Report, error) {
	given := url.Values{}
	for name, values := range r.URL.Query() {
		if values[0] != "" {
			given[name] = values
		}
	}
	clone := r.Clone(r.Context())
	clone.URL.RawQuery = given.Encode()
	in, err := wire.NewInput(clone)
	if err != nil {
		return reports.Report{}, err
	}
	q := wire.BindSalesReport(in)
	if err := in.Err(); err != nil {
		return reports.Report{}, err
	}
	return c.Reports.Sales(r.Context(), v.by(), q)
}

// showReport serves GET /admin/reports/sales.
func (c *console) showReport(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := newFilter(reportPath)
	f.keep(r.URL.Query().Get, append(filterFields, "by", "time_zone")...)
	p := reportPage{Form: f}
	var err error
	if p.Narrow, err = c.narrow(r.Context(), v, f); err != nil {
		return err
	}
	for _, by := range reports.Groupings() {
		p.Ways = append(p.Ways, reportWay{string(by), groupWords[by], f.Values["by"] == string(by)})
	}
	report, err := c.queryReport(r, v)
	if err != nil {
		if f.refuse(err) {
			return c.show(w, r, http.StatusUnprocessableEntity, "report.gohtml", v, "Sales report", p)
		}
		return err
	}
	f.Values["from"], f.Values["until"] = report.From.String(), report.Until.String()
	p.Report, p.Days, p.Now = &report, spanText(report.Span), report.Figures.All()
	p.Revenue = dollars(p.Now.Revenue)
	p.Change = change(p.Now.Revenue, report.Before.Figures.All().Revenue, "the period before")
	p.Sales = listAddress(narrowed(f))
	for _, name := range append(wire.SalesFilterNames(), "time_zone") {
		if text := f.Values[name]; text != "" {
			p.Hidden = append(p.Hidden, hidden{name, text})
		}
	}
	p.All = []reportGroup{
		{Name: p.Days, Address: p.Sales, Rows: reportRows(report.Figures)},
		{
			Name:    spanText(report.Before.Span),
			Address: groupAddress(f, &reports.Group{Days: lyceum.Some(report.Before.Span)}, ""),
			Rows:    reportRows(report.Before.Figures),
		},
	}
	for i := range report.Groups {
		g := &report.Groups[i]
		p.Groups = append(p.Groups, reportGroup{
			groupName(g, groupWords[report.By.Value]), groupAddress(f, g, report.By.Value), reportRows(g.Figures),
		})
	}
	p.File = reportFilePath + "?" + r.URL.Query().Encode()
	return c.show(w, r, http.StatusOK, "report.gohtml", v, "Sales report", p)
}

// sendReport serves GET /admin/reports/sales.csv.
func (c *console) sendReport(w http.ResponseWriter, r *http.Request, v *visit) error {
	report, err := c.queryReport(r, v)
	if err != nil && lyceum.Public(err).Kind == lyceum.Invalid { // the page shows what is wrong
		http.Redirect(w, r, reportPath+"?"+r.URL.Query().Encode(), http.StatusSeeOther) //nolint:gosec // our own page
		return nil
	}
	if err != nil {
		return err
	}
	file := wire.SalesReportCSV{Report: report}
	text, err := file.AppendJSON([]byte(byteOrderMark))
	if err != nil {
		return err
	}
	name := "sales-" + report.From.String() + "-" + report.Until.String() + ".csv"
	w.Header().Set("Content-Type", file.ContentType())
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, err = w.Write(text)
	if err != nil {
		web.Logger(c.Log, w, r).DebugContext(r.Context(), "report was not read to its end", "err", err)
	}
	return nil
}

// groupName returns the name of a group; kind is the label of the grouping.
func groupName(g *reports.Group, kind string) string {
	switch {
	case g.Days.Present:
		return spanText(g.Days.Value)
	case g.Name.Present:
		return g.Name.Value
	case g.ID.Present && g.Kind != "":
		return g.Kind.Name() + " " + strconv.Itoa(int(g.ID.Value))
	case g.ID.Present:
		return kind + " " + strconv.Itoa(int(g.ID.Value))
	}
	return "No " + strings.ToLower(kind)
}

// groupFields are the fields of the filter that narrow the list of sales to a group.
var groupFields = map[reports.By]string{
	reports.ByCourse: "course_id", reports.ByPlan: "pricing_plan_id", reports.ByAffiliate: "affiliate_id",
}

// groupAddress returns the URL of the list of a group's sales, or "" if the list has no such
// filter.
func groupAddress(f *form, g *reports.Group, by reports.By) string {
	query := narrowed(f)
	switch field := groupFields[by]; {
	case g.Days.Present:
		query.Set("from", g.Days.Value.From.String())
		query.Set("until", g.Days.Value.Until.String())
	case field != "" && g.ID.Present:
		query.Set(field, strconv.Itoa(int(g.ID.Value)))
	default:
		return ""
	}
	return listAddress(query)
}

// narrow returns the active parts of a report's filter, each of which one click removes.
func (c *console) narrow(ctx context.Context, v *visit, f *form) ([]chip, error) {
	names, err := c.namesIn(ctx, v, f)
	if err != nil {
		return nil, err
	}
	list := &listPage{Form: f, Names: names}
	var chips []chip
	for _, name := range wire.SalesFilterNames() {
		if text := list.chosen(name); text != "" {
			query := narrowed(f)
			query.Del(name)
			if f.Values["by"] != "" {
				query.Set("by", f.Values["by"])
			}
			chips = append(chips, chip{text, reportPath + "?" + query.Encode(), true})
		}
	}
	return chips, nil
}

func spanText(s reports.Span) string {
	if s.From == s.Until {
		return shortDay(s.From)
	}
	return shortDay(s.From) + " to " + shortDay(s.Until)
}

// reportRows returns the rows of a group, one for each currency.
func reportRows(figures reports.Figures) []reportRow {
	if len(figures) == 0 {
		return []reportRow{{Sales: "0", Buyers: "0"}}
	}
	var rows []reportRow
	ordered := figures.ByUse()
	for i := range ordered {
		f := &ordered[i]
		shown := func(m lyceum.Minor) string { return money(m, f.Currency) }
		rows = append(rows, reportRow{
			Sales: number(f.Sales), Buyers: number(f.NewBuyers), Gross: shown(f.Gross),
			Tax: shown(f.Tax), Refunds: shown(f.Refunded), Disputed: shown(f.ChargedBack + f.ChargebackFees),
			Fees: shown(f.AffiliateFees + f.AuthorFees), Net: shown(f.Net()),
			Revenue: dollars(f.Revenue),
		})
	}
	return rows
}
