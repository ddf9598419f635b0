package salesindex_test

import (
	"math/rand/v2"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
)

// sumQueries draws queries for sums of days around those of the model.
func sumQueries(hour func() time.Time, n func(to int32) int32) []lyceum.SalesSumQuery {
	var list []lyceum.SalesSumQuery
	all := filters(hour, n)
	queried := []lyceum.TransactionFilter{{}, {}, all[n(1<<6-1)]}
	for bit := range 6 {
		queried = append(queried, all[1<<bit]) // a single condition
	}
	for _, f := range queried {
		f.Created = lyceum.Period{}
		first := lyceum.Day{Year: 2023, Month: 12, Day: 31}.Add(int(n(4)))
		q := lyceum.SalesSumQuery{
			Filter: f, First: first, Last: first.Add(int(n(4))), Zone: zones[n(1)], Group: lyceum.SalesGroup(n(int32(lyceum.SalesByCoupon))),
			Most: 1000,
		}
		list = append(list, q)
	}
	return list
}

var zones = []*time.Location{time.UTC, time.FixedZone("half past", -5*3600-1800)}

// summer sums sales: an index, or a store.
type summer interface {
	Sum(queries ...lyceum.SalesSumQuery) ([][]lyceum.SalesSum, error)
}

// checkSums compares sums with those of the naive list.
func (m *model) checkSums(t interface {
	Fatalf(format string, args ...any)
}, x summer, queries []lyceum.SalesSumQuery,
) {
	got, err := x.Sum(queries...)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for i, q := range queries {
		naive, marker := lyceum.NewSummer(q), lyceum.NewSaleMarker()
		for _, sale := range m.sorted() {
			naive.Add(&sale, m.courses[sale.PricingPlanID], marker.Mark(&sale))
		}
		want, err := naive.Sums()
		if diff := gocmp.Diff(want, got[i]); diff != "" || err != nil {
			t.Fatalf("%+v: %v\n%s", q, err, diff)
		}
	}
}

// TestTooManySums checks that a report with too many sums is rejected.
func TestTooManySums(t *testing.T) {
	m := newModel()
	for id := range lyceum.TransactionID(5) {
		m.sales[id] = lyceum.Transaction{ID: id, UserID: 1, PricingPlanID: lyceum.PricingPlanID(id), CreatedAt: begin, Currency: "USD", Paid: true}
	}
	day := lyceum.Day{Year: 2024, Month: 1, Day: 1}
	q := lyceum.SalesSumQuery{First: day, Last: day, Zone: time.UTC, Group: lyceum.SalesByPlan, Most: 5}
	x := m.build(t, false)
	if sums, err := x.Sum(q); err != nil || len(sums[0]) != 5 {
		t.Errorf("five sums: %v, %v", sums, err)
	}
	q.Most = 4
	if _, err := x.Sum(q); lyceum.Public(err).Kind != lyceum.Invalid {
		t.Errorf("five sums of at most four: %v", err)
	}
}

// TestSumsTakeLittleMemory checks that the sums that are kept stay small, whatever is queried.
func TestSumsTakeLittleMemory(t *testing.T) {
	const n = 70_000
	x := school(t, rand.New(rand.NewPCG(7, 7)), n)
	before := x.Bytes()
	first := lyceum.DayAt(begin, time.UTC)
	for i := range 50 {
		for group := range lyceum.SalesByCoupon + 1 {
			for _, f := range []lyceum.TransactionFilter{
				{},
				{PricingPlanID: lyceum.Some(lyceum.PricingPlanID(1 + i))},
				{CourseID: lyceum.Some(lyceum.CourseID(1 + i))},
				{AffiliateID: lyceum.Some(lyceum.AffiliateID(1 + i))},
				{FullyRefunded: lyceum.Some(i%2 == 0)},
			} {
				q := lyceum.SalesSumQuery{Filter: f, First: first, Last: first.Add(90), Zone: zones[i%2], Group: group, Most: 10_000}
				if _, err := x.Sum(q); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if more := float64(x.Bytes()-before) / n; more < 1 || more > 15 {
		t.Errorf("the sums take %.1f bytes a sale", more)
	}
}
