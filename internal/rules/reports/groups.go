package reports

import (
	"cmp"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// groups returns the groups of a report, made of sums.
func groups(v lyceum.View, by By, of Span, sums []lyceum.SalesSum) ([]Group, error) {
	var list []Group
	switch by {
	case ByDay, ByWeek, ByMonth:
		return calendar(by, of, sums), nil
	case ByCurrency:
		list = currencies(sums)
	default:
		var err error
		if list, err = named(v, by, sums); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(list, func(a, b Group) int {
		x, y := a.Figures.All(), b.Figures.All()
		return cmp.Or(cmp.Compare(y.Revenue, x.Revenue), cmp.Compare(y.Sales, x.Sales), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.ID.Value, b.ID.Value))
	})
	return list, nil
}

// calendar returns a group for each day, week or month of the period.
func calendar(by By, of Span, sums []lyceum.SalesSum) []Group {
	var list []Group
	for day := of.From; !of.Until.Before(day); day = day.Add(1) {
		end := day
		switch by {
		case ByWeek:
			end = day.Add(int(time.Saturday+1-day.Weekday()) % 7)
		case ByMonth:
			end = lyceum.Day{Year: day.Year, Month: day.Month, Day: 1}.AddMonths(1).Add(-1)
		}
		if of.Until.Before(end) {
			end = of.Until
		}
		list = append(list, Group{Days: lyceum.Some(Span{day, end})})
		day = end
	}
	at := 0
	for i := range sums {
		for list[at].Days.Value.Until.Number() < sums[i].Of.Value {
			at++
		}
		list[at].Figures.add(sums[i])
	}
	return list
}

func currencies(sums []lyceum.SalesSum) []Group {
	var list []Group
	for i := range sums {
		list = append(list, Group{Name: lyceum.Some(string(sums[i].Currency)), Figures: figuresOf(sums[i : i+1])})
	}
	return list
}

// groupKey is what the sums of a group have in common.
type groupKey struct {
	kind lyceum.ProductKind
	id   lyceum.Opt[int32]
}

// named returns a group for each object with a name.
func named(v lyceum.View, by By, sums []lyceum.SalesSum) ([]Group, error) {
	key, err := keys(v, by, sums)
	if err != nil {
		return nil, err
	}
	var list []Group
	places := map[groupKey]int{}
	for i := range sums {
		k := key(sums[i].Of)
		at, found := places[k]
		if !found {
			at = len(list)
			places[k] = at
			list = append(list, Group{ID: k.id, Kind: k.kind})
		}
		list[at].Figures.add(sums[i])
	}
	if len(list) > lyceum.MaxReportGroups {
		return nil, lyceum.ErrTooManyGroups()
	}
	return list, name(v, by, list)
}

// keys returns a function that returns the group of a sum.
func keys(v lyceum.View, by By, sums []lyceum.SalesSum) (func(lyceum.Opt[int32]) groupKey, error) {
	if by != ByCourse && by != ByProduct {
		return func(of lyceum.Opt[int32]) groupKey { return groupKey{id: of} }, nil
	}
	var ids []lyceum.PricingPlanID
	for i := range sums {
		ids = append(ids, lyceum.PricingPlanID(sums[i].Of.Value))
	}
	slices.Sort(ids)
	plans, err := v.PricingPlans.Find(v, slices.Compact(ids)...)
	return func(of lyceum.Opt[int32]) groupKey {
		plan := plans[lyceum.PricingPlanID(of.Value)]
		product := plan.Product()
		switch {
		case by == ByCourse && plan.CourseID.Present:
			return groupKey{id: lyceum.Some(int32(plan.CourseID.Value))}
		case by == ByProduct && product.Present:
			return groupKey{product.Value.Kind, lyceum.Some(product.Value.ID)}
		}
		return groupKey{}
	}, err
}

// numbered maps groupings to the sequences by which names are found.
var numbered = map[By]lyceum.Sequence{
	ByCourse: lyceum.CourseSequence, ByPlan: lyceum.PricingPlanSequence, ByAuthor: lyceum.AuthorSequence,
	ByAffiliate: lyceum.AffiliateSequence,
}

// name sets the names of groups.
func name(v lyceum.View, by By, list []Group) error {
	switch by {
	case ByProduct:
		return nameProducts(v, list)
	case ByCoupon:
		return nameOf(v, v.Coupons, list, "", func(c lyceum.Coupon) lyceum.Opt[string] { return c.Code.Or(c.Name.Value) })
	}
	var ids []int32
	for i := range list {
		if list[i].ID.Present {
			ids = append(ids, list[i].ID.Value)
		}
	}
	names, err := v.FindNames(numbered[by], ids)
	if err != nil {
		return err
	}
	for i := range list {
		list[i].called(names[list[i].ID.Value].Name)
	}
	return nil
}

func (g *Group) called(name string) {
	if name != "" && g.ID.Present {
		g.Name = lyceum.Some(name)
	}
}

func nameProducts(v lyceum.View, list []Group) error {
	for _, err := range []error{
		nameOf(v, v.Courses, list, lyceum.CourseKind,
			func(c lyceum.Course) lyceum.Opt[string] { return lyceum.Some(c.Name) }),
		nameOf(v, v.DigitalDownloads, list, lyceum.DownloadKind,
			func(d lyceum.DigitalDownload) lyceum.Opt[string] { return lyceum.Some(d.Name) }),
		nameOf(v, v.ProductCollections, list, lyceum.CollectionKind,
			func(c lyceum.ProductCollection) lyceum.Opt[string] { return lyceum.Some(c.Name) }),
		nameOf(v, v.MembershipTiers, list, lyceum.TierKind,
			func(t lyceum.MembershipTier) lyceum.Opt[string] { return lyceum.Some(t.Name) }),
		nameOf(v, v.Coaching, list, lyceum.CoachingKind,
			func(c lyceum.Coaching) lyceum.Opt[string] { return lyceum.Some(c.Name) }),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// nameOf sets the names of the groups of a kind from rows.
func nameOf[ID ~int32, T, F any](
	v lyceum.View, rows lyceum.Rows[ID, T, F], list []Group, kind lyceum.ProductKind, name func(T) lyceum.Opt[string],
) error {
	var ids []ID
	for i := range list {
		if list[i].Kind == kind && list[i].ID.Present {
			ids = append(ids, ID(list[i].ID.Value))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	found, err := rows.Find(v, ids...)
	if err != nil {
		return err
	}
	for i := range list {
		if row, there := found[ID(list[i].ID.Value)]; there && list[i].Kind == kind {
			list[i].called(name(row).Value)
		}
	}
	return nil
}
