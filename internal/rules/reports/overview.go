package reports

import (
	"context"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// Beside is a period and the period it is compared with.
type Beside struct{ Now, Before Part }

// Overview summarizes how a school is doing.
type Overview struct {
	Today               Beside  // compared with yesterday
	Month               Beside  // up to today, compared with the same days of the previous month
	Recent              Beside  // the last 30 days, compared with the 30 days before
	LastMonth           Span    // the whole previous month
	Days                []Group // the last 30 days
	Courses, Affiliates []Group // the best of the last 30 days, by revenue
}

// overviewDays is the number of days in an overview, and best the number of courses and
// affiliates in it.
const (
	overviewDays = 30
	best         = 5
)

// Overview returns an overview of a school. All its sums are from one snapshot.
func (s *Service) Overview(ctx context.Context, by lyceum.By) (Overview, error) {
	v := s.Store.In(ctx, by.School)
	school, err := v.GetSchool()
	if err != nil {
		return Overview{}, err
	}
	zone, err := school.TimeZone.Location()
	if err != nil {
		return Overview{}, err
	}
	today := lyceum.DayAt(s.Clock(), zone)
	first := lyceum.Day{Year: today.Year, Month: today.Month, Day: 1}
	recent := Span{today.Add(1 - overviewDays), today}
	var o Overview
	o.LastMonth = Span{first.AddMonths(-1), first.Add(-1)}
	parts := []struct {
		part *Part
		span Span
	}{
		{&o.Today.Now, Span{today, today}},
		{&o.Today.Before, Span{today.Add(-1), today.Add(-1)}},
		{&o.Month.Now, Span{first, today}},
		{&o.Month.Before, Span{first.AddMonths(-1), today.AddMonths(-1)}},
		{&o.Recent.Now, recent},
		{&o.Recent.Before, recent.before()},
	}
	var queries []lyceum.SalesSumQuery
	add := func(of Span, group lyceum.SalesGroup) {
		queries = append(queries, lyceum.SalesSumQuery{
			First: of.From, Last: of.Until, Zone: zone, Group: group, Most: mostSums,
		})
	}
	add(recent, lyceum.SalesByDay)
	add(recent, lyceum.SalesByPlan)
	add(recent, lyceum.SalesByAffiliate)
	for _, p := range parts {
		add(p.span, lyceum.AllSales)
	}
	sums, err := s.Store.SumSales(ctx, by.School, queries...)
	if err != nil {
		return Overview{}, err
	}
	o.Days = calendar(ByDay, recent, sums[0])
	if o.Courses, err = bestOf(v, ByCourse, sums[1]); err != nil {
		return Overview{}, err
	}
	if o.Affiliates, err = bestOf(v, ByAffiliate, sums[2]); err != nil {
		return Overview{}, err
	}
	for i, p := range parts {
		*p.part = Part{p.span, figuresOf(sums[3+i])}
	}
	return o, nil
}

// bestOf returns the groups with the highest revenue. Groups without an id or without sales are
// left out.
func bestOf(v lyceum.View, by By, sums []lyceum.SalesSum) ([]Group, error) {
	list, err := groups(v, by, Span{}, sums)
	list = slices.DeleteFunc(list, func(g Group) bool { return !g.ID.Present || g.Figures.All().Sales == 0 })
	return list[:min(len(list), best)], err
}
