package wire

import (
	"strconv"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/reports"
)

// BindSalesReport binds the query of a sales report.
func BindSalesReport(in *Input) reports.Query {
	return reports.Query{
		From:  Parsed(in.Query("from"), lyceum.ParseDay),
		Until: Parsed(in.Query("until"), lyceum.ParseDay),
		By:    OneOf(in.Query("by"), reports.Groupings()...),
		Zone: Parsed(in.Query("time_zone"), func(text string) (lyceum.TimeZone, error) {
			if zone := lyceum.TimeZone(text); zone.Check() == nil {
				return zone, nil
			}
			return "", lyceum.Invalidf(lyceum.ZoneTaken)
		}),
		Filter: bindSalesParts(in),
	}
}

// SalesReportCSV is a report as a CSV file: a line for each group and currency.
type SalesReportCSV struct{ Report reports.Report }

// ContentType implements Typed.
func (SalesReportCSV) ContentType() string { return "text/csv; charset=utf-8" }

const salesReportNames = "from,until,type,id,name,currency,sales_count,renewals_count,new_buyers_count," +
	"chargebacks_count,gross,tax,refunds_by_sale_day,refunds_by_refund_day,chargebacks,chargeback_fees," +
	"affiliate_fees,author_fees,net,charge,revenue\n"

// AppendJSON appends the file, which is not JSON.
func (f SalesReportCSV) AppendJSON(b []byte) ([]byte, error) {
	b = append(b, salesReportNames...)
	groups := f.Report.Groups
	if !f.Report.By.Present {
		groups = []reports.Group{{Figures: f.Report.Figures}}
	}
	for i := range groups {
		for j := range groups[i].Figures {
			b = f.line(b, &groups[i], &groups[i].Figures[j])
		}
	}
	return b, nil
}

func (f SalesReportCSV) line(b []byte, g *reports.Group, s *lyceum.SalesSum) []byte {
	days := g.Days.Else(f.Report.Span)
	b = append(append(append(b, days.From.String()...), ','), days.Until.String()...)
	b = append(append(append(b, ','), g.Kind...), ',')
	if g.ID.Present {
		b = strconv.AppendInt(b, int64(g.ID.Value), 10)
	}
	b = append(AppendCSVText(append(b, ','), g.Name.Value), ',')
	b = append(b, s.Currency...)
	for _, n := range [...]int64{s.Sales, s.Renewals, s.NewBuyers, s.Chargebacks} {
		b = strconv.AppendInt(append(b, ','), n, 10)
	}
	for _, amount := range [...]lyceum.Minor{
		s.Gross, s.Tax, s.RefundedOf, s.Refunded, s.ChargedBack, s.ChargebackFees, s.AffiliateFees, s.AuthorFees, s.Net(),
	} {
		b = append(append(b, ','), amount.Decimal(s.Currency)...)
	}
	for _, amount := range [...]lyceum.USDCents{s.Charge, s.Revenue} {
		b = append(append(b, ','), lyceum.Minor(amount).Decimal("USD")...)
	}
	return append(b, '\n')
}
