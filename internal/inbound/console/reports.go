package console

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/reports"
)

// reportPage is a report of sales.
type reportPage struct {
	Form   *form
	Report *reports.Report // nil while the form is wrong
	Days   string
	Before string
	All    []reportRow
	Rows   []reportRow
	File   string // its address as a file
	Ways   []reportWay
}

// reportWay is a choice of groups.
type reportWay struct {
	Value, Name string
	Chosen      bool
}

// reportRow is a group in one currency.
type reportRow struct {
	Name, Sales, Buyers                     string
	Currency                                lyceum.Currency
	Gross, Tax, Refunds, Fees, Net, Revenue string
}

const (
	reportPath     = "/admin/reports/sales"
	reportFilePath = "/admin/reports/sales.csv"
)

// groupWords are what the groups of a report are called.
var groupWords = map[reports.By]string{
	reports.ByDay: "Day", reports.ByWeek: "Week", reports.ByMonth: "Month", reports.ByCourse: "Course",
	reports.ByProduct: "Product", reports.ByPlan: "Pricing plan", reports.ByAuthor: "Author",
	reports.ByAffiliate: "Affiliate", reports.ByCoupon: "Coupon", reports.ByCurrency: "Currency",
}

func reportAddress(of reports.Span, by reports.By) string {
	asked := url.Values{"from": {of.From.String()}, "until": {of.Until.String()}, "by": {string(by)}}
	return reportPath + "?" + asked.Encode()
}

// askReport reads which report a page asks for and makes it.
func (c *console) askReport(r *http.Request, v *visit) (reports.Report, error) {
	given := url.Values{}
	for name, values := range r.URL.Query() {
		if values[0] != "" {
			given[name] = values
		}
	}
	asked := r.Clone(r.Context())
	asked.URL.RawQuery = given.Encode()
	in, err := wire.NewInput(asked)
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
	f := &form{Action: reportPath, Values: map[string]string{}}
	f.keep(r.URL.Query().Get, "from", "until", "by")
	p := reportPage{Form: f}
	for _, by := range reports.Groupings() {
		p.Ways = append(p.Ways, reportWay{string(by), groupWords[by], f.Values["by"] == string(by)})
	}
	report, err := c.askReport(r, v)
	if err != nil {
		if f.refuse(err) {
			return c.show(w, r, http.StatusUnprocessableEntity, "report.gohtml", v, "Sales report", p)
		}
		return err
	}
	f.Values["from"], f.Values["until"] = report.From.String(), report.Until.String()
	p.Report, p.Days, p.Before = &report, spanText(report.Span), spanText(report.Before.Span)
	p.All = append(reportRows("All", report.Figures), reportRows("Before", report.Before.Figures)...)
	for i := range report.Groups {
		p.Rows = append(p.Rows, reportRows(groupName(&report.Groups[i], groupWords[report.By.Value]),
			report.Groups[i].Figures)...)
	}
	p.File = reportFilePath + "?" + r.URL.Query().Encode()
	return c.show(w, r, http.StatusOK, "report.gohtml", v, "Sales report", p)
}

// sendReport serves GET /admin/reports/sales.csv.
func (c *console) sendReport(w http.ResponseWriter, r *http.Request, v *visit) error {
	report, err := c.askReport(r, v)
	if err != nil && lyceum.Public(err).Kind == lyceum.Invalid { // the page says what is wrong
		http.Redirect(w, r, reportPath+"?"+r.URL.Query().Encode(), http.StatusSeeOther) //nolint:gosec // our own page
		return nil
	}
	if err != nil {
		return err
	}
	file := wire.SalesReportCSV{Report: report}
	text, err := file.AppendJSON(nil)
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

// groupName is what a group of a kind is called.
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
	return "None"
}

func spanText(s reports.Span) string {
	if s.From == s.Until {
		return shortDay(s.From)
	}
	return shortDay(s.From) + " to " + shortDay(s.Until)
}

// reportRows are the rows of a group, one for each currency.
func reportRows(name string, figures reports.Figures) []reportRow {
	if len(figures) == 0 {
		return []reportRow{{Name: name, Sales: "0", Buyers: "0"}}
	}
	var rows []reportRow
	for i := range figures {
		f := &figures[i]
		shown := func(m lyceum.Minor) string { return figure(m, f.Currency) }
		rows = append(rows, reportRow{
			Name: name, Currency: f.Currency, Sales: number(f.Sales), Buyers: number(f.NewBuyers), Gross: shown(f.Gross),
			Tax: shown(f.Tax), Refunds: shown(f.Refunded),
			Fees: shown(f.ChargebackFees + f.AffiliateFees + f.AuthorFees), Net: shown(f.Net()),
			Revenue: figure(lyceum.Minor(f.Revenue), "USD"),
		})
	}
	return rows
}
