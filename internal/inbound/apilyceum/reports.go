package apilyceum

import (
	"context"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/reports"
)

func (f *Face) reports() []wire.Operation {
	return []wire.Operation{
		heavy(appended("showSalesReport", wire.Get, "/lyceum/v1/reports/sales", bindSalesReport, f.salesReport)),
	}
}

// reportRequest is a report, and whether it is requested as a file.
type reportRequest struct {
	reports.Query

	format string
}

func bindSalesReport(in *wire.Input) reportRequest {
	return reportRequest{wire.BindSalesReport(in), wire.OneOf(in.Query("format"), "json", "csv").Value}
}

func (f *Face) salesReport(ctx context.Context, by lyceum.By, q reportRequest) (wire.Body, error) {
	r, err := f.Reports.Sales(ctx, by, q.Query)
	if err != nil {
		return nil, err
	}
	if q.format == "csv" {
		return wire.SalesReportCSV{Report: r}, nil
	}
	return wire.As("report", salesReport)(r), nil
}

func salesReport(r reports.Report) gen.SalesReport {
	shown := gen.SalesReport{
		From: r.From.String(), Until: r.Until.String(), TimeZone: string(r.Zone), Figures: salesFigures(r.Figures),
		Before: gen.SalesReportBefore{
			From: r.Before.From.String(), Until: r.Before.Until.String(), Figures: salesFigures(r.Before.Figures),
		},
		Groups: make([]gen.SalesReportGroup, len(r.Groups)),
	}
	if r.By.Present {
		by := gen.SalesReportBy(r.By.Value)
		shown.By = &by
	}
	for i := range r.Groups {
		shown.Groups[i] = salesReportGroup(&r.Groups[i])
	}
	return shown
}

func salesReportGroup(g *reports.Group) gen.SalesReportGroup {
	shown := gen.SalesReportGroup{Name: text(g.Name), Figures: salesFigures(g.Figures)}
	if g.ID.Present {
		shown.ID = &g.ID.Value
	}
	if g.Kind != "" {
		kind := string(g.Kind)
		shown.Type = &kind
	}
	if g.Days.Present {
		from, until := g.Days.Value.From.String(), g.Days.Value.Until.String()
		shown.From, shown.Until = &from, &until
	}
	return shown
}

func salesFigures(f reports.Figures) gen.SalesFigures {
	all := f.All()
	shown := gen.SalesFigures{
		SalesCount: all.Sales, RenewalsCount: all.Renewals, NewBuyersCount: all.NewBuyers,
		ChargebacksCount: all.Chargebacks, Charge: int64(all.Charge), Revenue: int64(all.Revenue),
		Currencies: make([]gen.SalesSums, len(f)),
	}
	for i := range f {
		s := &f[i]
		shown.Currencies[i] = gen.SalesSums{
			Currency: string(s.Currency), SalesCount: s.Sales, RenewalsCount: s.Renewals, NewBuyersCount: s.NewBuyers,
			ChargebacksCount: s.Chargebacks, Gross: int64(s.Gross), Tax: int64(s.Tax),
			RefundsBySaleDay: int64(s.RefundedOf), RefundsByRefundDay: int64(s.Refunded), Chargebacks: int64(s.ChargedBack),
			ChargebackFees: int64(s.ChargebackFees), AffiliateFees: int64(s.AffiliateFees), AuthorFees: int64(s.AuthorFees),
			Net: int64(s.Net()), Charge: int64(s.Charge), Revenue: int64(s.Revenue),
		}
	}
	return shown
}
