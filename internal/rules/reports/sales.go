package reports

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Service reports what a school sold.
type Service struct {
	Store lyceum.Store
	Clock func() time.Time
}

// By is what a report is grouped by.
type By string

// What a report can be grouped by.
const (
	ByDay       By = "day"
	ByWeek      By = "week" // from Monday
	ByMonth     By = "month"
	ByCourse    By = "course"
	ByProduct   By = "product"
	ByPlan      By = "plan"
	ByAuthor    By = "author"
	ByAffiliate By = "affiliate"
	ByCoupon    By = "coupon"
	ByCurrency  By = "currency"
)

// Groupings lists everything that a report can be grouped by.
func Groupings() []By {
	return []By{
		ByDay, ByWeek, ByMonth, ByCourse, ByProduct, ByPlan, ByAuthor, ByAffiliate, ByCoupon, ByCurrency,
	}
}

// sums returns what the store must group its sums by to get these groups.
func (b By) sums() lyceum.SalesGroup {
	switch b {
	case ByDay, ByWeek, ByMonth:
		return lyceum.SalesByDay
	case ByCourse, ByProduct, ByPlan:
		return lyceum.SalesByPlan
	case ByAuthor:
		return lyceum.SalesByAuthor
	case ByAffiliate:
		return lyceum.SalesByAffiliate
	case ByCoupon:
		return lyceum.SalesByCoupon
	default:
		return lyceum.AllSales
	}
}

// Query is a query for a report.
type Query struct {
	From   lyceum.Opt[lyceum.Day] // inclusive; absent: the first day of the month of Until
	Until  lyceum.Opt[lyceum.Day] // inclusive; absent: today
	By     lyceum.Opt[By]
	Zone   lyceum.Opt[lyceum.TimeZone] // absent: the school's
	Filter lyceum.TransactionFilter    // without Created
}

// Span is a period of days, both ends inclusive.
type Span struct{ From, Until lyceum.Day }

// Report is what was sold and refunded in a period.
type Report struct {
	Span

	By      lyceum.Opt[By]
	Zone    lyceum.TimeZone
	Figures Figures
	Before  Part
	Groups  []Group
}

// Part is a period with its figures.
type Part struct {
	Span

	Figures Figures
}

// Group is a part of a report. ID is that of a course, a product, a plan, an author, an
// affiliate or a coupon. Days is the part of a day, week or month that is in the period.
type Group struct {
	ID      lyceum.Opt[int32]
	Kind    lyceum.ProductKind // of a product
	Name    lyceum.Opt[string]
	Days    lyceum.Opt[Span]
	Figures Figures
}

// Figures are sums, one for each currency.
type Figures []lyceum.SalesSum

// ByUse returns the figures with the currency in which the most was charged first: free sales
// have a currency, too.
func (f Figures) ByUse() Figures {
	return slices.SortedStableFunc(slices.Values(f), func(a, b lyceum.SalesSum) int {
		return cmp.Or(cmp.Compare(b.Charge, a.Charge), cmp.Compare(b.Sales, a.Sales))
	})
}

// All returns the sum of all currencies. Only the counts and the amounts in US cents are set.
func (f Figures) All() lyceum.SalesSum {
	var all lyceum.SalesSum
	for i := range f {
		all.Add(&f[i])
	}
	all.Gross, all.Tax, all.RefundedOf, all.Refunded, all.ChargedBack = 0, 0, 0, 0, 0
	all.ChargebackFees, all.AffiliateFees, all.AuthorFees = 0, 0, 0
	return all
}

// add adds a sum to the one of the same currency. Figures stay sorted by currency.
func (f *Figures) add(s lyceum.SalesSum) {
	s.Of = lyceum.None[int32]()
	i, found := slices.BinarySearchFunc(*f, s.Currency, func(s lyceum.SalesSum, c lyceum.Currency) int {
		return cmp.Compare(s.Currency, c)
	})
	if found {
		(*f)[i].Add(&s)
		return
	}
	*f = slices.Insert(*f, i, s)
}

func figuresOf(sums []lyceum.SalesSum) Figures {
	var f Figures
	for i := range sums {
		f.add(sums[i])
	}
	return f
}

// MaxYears is the maximum length of a period, in years.
const MaxYears = 50

// mostSums is the maximum number of sums read from a store. Several of them can be combined
// into one group.
const mostSums = 1 << 20

// Sales returns a report of a period, with the figures of the period before.
func (s *Service) Sales(ctx context.Context, by lyceum.By, q Query) (Report, error) {
	v := s.Store.In(ctx, by.School)
	school, err := v.GetSchool()
	if err != nil {
		return Report{}, err
	}
	r := Report{By: q.By, Zone: q.Zone.Else(school.TimeZone)}
	zone, err := r.Zone.Location()
	if err != nil {
		return Report{}, lyceum.InvalidFields(lyceum.FieldError{Field: "time_zone", Message: lyceum.ZoneTaken})
	}
	r.Until = q.Until.Else(lyceum.DayAt(s.Clock(), zone))
	r.From = q.From.Else(lyceum.Day{Year: r.Until.Year, Month: r.Until.Month, Day: 1})
	if err := r.check(); err != nil {
		return Report{}, err
	}
	r.Before.Span = r.before()
	query := func(of Span, group lyceum.SalesGroup) lyceum.SalesSumQuery {
		return lyceum.SalesSumQuery{
			Filter: q.Filter, First: of.From, Last: of.Until, Zone: zone, Group: group, Most: mostSums,
		}
	}
	sums, err := s.Store.SumSales(ctx, by.School, query(r.Span, q.By.Value.sums()), query(r.Before.Span, lyceum.AllSales))
	if err != nil {
		return Report{}, err
	}
	r.Figures, r.Before.Figures = figuresOf(sums[0]), figuresOf(sums[1])
	if q.By.Present {
		if r.Groups, err = groups(v, q.By.Value, r.Span, sums[0]); err != nil {
			return Report{}, err
		}
	}
	return r, nil
}

func (r *Report) check() error {
	refuse := func(field, format string, args ...any) error {
		return lyceum.InvalidFields(lyceum.FieldError{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	switch n := int(r.Until.Number()) - int(r.From.Number()) + 1; {
	case r.Until.Before(r.From):
		return refuse("until", "must not be before from, which is %s", r.From)
	case !r.Until.Before(r.From.AddMonths(12 * MaxYears)):
		return refuse("until", "must be less than %d years after from: at the latest %s", MaxYears,
			r.From.AddMonths(12*MaxYears).Add(-1))
	case r.By == lyceum.Some(ByDay) && n > lyceum.MaxReportGroups:
		return refuse("by", "must be week or month for a period of %d days: a report has at most %d groups", n,
			lyceum.MaxReportGroups)
	}
	return nil
}

// before returns the period before s: the same number of whole months if s consists of whole
// months, otherwise the same number of days.
func (s Span) before() Span {
	last := s.From.Add(-1)
	if next := s.Until.Add(1); s.From.Day == 1 && next.Day == 1 {
		months := (next.Year-s.From.Year)*12 + int(next.Month-s.From.Month)
		return Span{s.From.AddMonths(-months), last}
	}
	return Span{s.From.Add(int(s.From.Number()-s.Until.Number()) - 1), last}
}
