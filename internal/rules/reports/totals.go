package reports

import (
	"context"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// allDays are all days that can be written.
var allDays = Span{lyceum.Day{Year: 1, Month: 1, Day: 1}, lyceum.Day{Year: 9999, Month: 12, Day: 31}}

// Totals returns the sums of the paid transactions that match a filter, one for each currency
// that has any. Only transactions from one day to another, both inclusive, in the school's time
// zone are counted; the filter's Created is ignored. RefundedOf is what was refunded of them.
func (s *Service) Totals(
	ctx context.Context, by lyceum.By, f lyceum.TransactionFilter, from, until lyceum.Opt[lyceum.Day],
) (Figures, error) {
	school, err := s.Store.In(ctx, by.School).GetSchool()
	if err != nil {
		return nil, err
	}
	zone, err := school.TimeZone.Location()
	if err != nil {
		return nil, err
	}
	f.Created = lyceum.Period{}
	sums, err := s.Store.SumSales(ctx, by.School, lyceum.SalesSumQuery{
		Filter: f, First: from.Else(allDays.From), Last: until.Else(allDays.Until), Zone: zone, Group: lyceum.AllSales,
		Most: mostSums,
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(figuresOf(sums[0]), func(s lyceum.SalesSum) bool { return s.Sales == 0 }), nil
}
