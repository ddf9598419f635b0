package reports

import (
	"context"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// allDays are the days that a day can be written as.
var allDays = Span{lyceum.Day{Year: 1, Month: 1, Day: 1}, lyceum.Day{Year: 9999, Month: 12, Day: 31}}

// Totals returns what the paid transactions come to that pass a filter, with a sum for
// each currency that has any. They are those from one day until another, both included,
// in the school's time zone; the filter's Created is not used. What was refunded of them
// is RefundedOf.
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
