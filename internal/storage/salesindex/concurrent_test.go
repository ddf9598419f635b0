package salesindex_test

import (
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
)

// listQuery is a page that readers request repeatedly.
type listQuery struct {
	f lyceum.TransactionFilter
	o lyceum.Order
	p lyceum.Page
}

var listQueries = []listQuery{
	{p: lyceum.Page{Number: 1, Size: 20}},
	{p: lyceum.Page{Number: 3, Size: 50}, o: lyceum.OldestFirst},
	{f: lyceum.TransactionFilter{UserID: lyceum.Some(lyceum.UserID(2))}, p: lyceum.Page{Number: 2, Size: 10}},
	{f: lyceum.TransactionFilter{CourseID: lyceum.Some(lyceum.CourseID(1))}, p: lyceum.Page{Number: 1, Size: 100}},
	{f: lyceum.TransactionFilter{Chargeback: lyceum.Some(false), FullyRefunded: lyceum.Some(true)}, p: lyceum.Page{Number: 1, Size: 9}},
	{f: lyceum.TransactionFilter{PricingPlanID: lyceum.Some(lyceum.PricingPlanID(3)), Chargeback: lyceum.Some(true), AffiliateID: lyceum.Some(lyceum.AffiliateID(1))}, p: lyceum.Page{Number: 1, Size: 50}},
	{f: lyceum.TransactionFilter{FullyRefunded: lyceum.Some(false), Created: lyceum.Period{After: begin.Add(20 * time.Hour), Until: begin.Add(70 * time.Hour)}}, p: lyceum.Page{Number: 2, Size: 30}},
}

var hashSeed = maphash.MakeSeed()

// digest returns a hash of a response.
func digest(total int64, rows []lyceum.Transaction) uint64 {
	sum := uint64(total)
	for i := range rows {
		sum = sum*31 + maphash.Comparable(hashSeed, rows[i])
	}
	return sum
}

func (m *model) digestOf(sorted []lyceum.Transaction, q listQuery) uint64 {
	var passed []lyceum.Transaction
	for i := range sorted {
		if q.f.Match(&sorted[i], m.courses[sorted[i].PricingPlanID]) {
			passed = append(passed, sorted[i])
		}
	}
	if q.o == lyceum.NewestFirst {
		slices.Reverse(passed)
	}
	from := min(q.p.Offset(), int64(len(passed)))
	return digest(int64(len(passed)), passed[from:min(from+int64(q.p.Size), int64(len(passed)))])
}

func randomSale(r *rand.Rand, id lyceum.TransactionID, hours int) lyceum.Transaction {
	t := lyceum.Transaction{
		ID: id, UserID: lyceum.UserID(1 + r.IntN(5)), PricingPlanID: lyceum.PricingPlanID(1 + r.IntN(4)), SaleID: 1,
		CreatedAt: begin.Add(time.Duration(r.IntN(hours)) * time.Hour), PurchasedAt: begin, Currency: "EUR",
		FinalPrice: lyceum.Minor(r.IntN(3)), AmountRefunded: lyceum.Minor(r.IntN(3)), HasChargeback: lyceum.Some(r.IntN(3) == 0),
	}
	if r.IntN(2) == 0 {
		t.AffiliateID = lyceum.Some(lyceum.AffiliateID(1 + r.IntN(2)))
	}
	return t
}

// TestReadersSeeOneVersion reads while sales are added, changed and moved, and compares every
// response with the naive list at the version that it names.
func TestReadersSeeOneVersion(t *testing.T) {
	salesindex.Shrink(t)
	r := rand.New(rand.NewPCG(4, 4))
	m := newModel()
	for ; m.next <= 200; m.next++ {
		m.sales[m.next] = randomSale(r, m.next, 60)
	}
	for plan := range lyceum.PricingPlanID(4) {
		m.courses[plan+1] = lyceum.Some(lyceum.CourseID(1 + r.IntN(2)))
	}
	x := m.build(t, false)
	want := [][]uint64{nil} // by version
	note := func() {
		for int(x.Version().Number) >= len(want) {
			want = append(want, nil)
		}
		var digests []uint64
		sorted := m.sorted()
		for _, q := range listQueries {
			digests = append(digests, m.digestOf(sorted, q))
		}
		want[x.Version().Number] = digests
	}
	note()

	type seen struct {
		query   int
		version int64
		digest  uint64
	}
	var done atomic.Bool
	var wait sync.WaitGroup
	all := make([]map[seen]struct{}, 4)
	for i := range all {
		all[i] = map[seen]struct{}{}
		wait.Go(func() {
			for n := i; !done.Load(); n++ {
				q := listQueries[n%len(listQueries)]
				listing := x.Find(q.f, q.o, q.p)
				all[i][seen{n % len(listQueries), listing.Version.Number, digest(listing.Total, listing.All())}] = struct{}{}
			}
		})
	}
	for step := range 200 {
		var sales []lyceum.Transaction
		var plans []lyceum.PricingPlan
		for range 1 + r.IntN(6) {
			id := m.next
			switch r.IntN(8) {
			case 0:
				plan := lyceum.PricingPlan{ID: lyceum.PricingPlanID(1 + r.IntN(4)), CourseID: lyceum.Some(lyceum.CourseID(1 + r.IntN(3)))}
				m.courses[plan.ID] = plan.CourseID
				plans = append(plans, plan)
				continue
			case 1, 2, 3:
				id = 1 + lyceum.TransactionID(r.IntN(int(m.next)-1))
			default:
				m.next++
			}
			s := randomSale(r, id, 60+step/20)
			if old, is := m.sales[id]; is && r.IntN(4) > 0 {
				s.CreatedAt = old.CreatedAt
			}
			m.sales[id] = s
			sales = append(sales, s)
		}
		if err := x.Update(next(x), sales, plans); err != nil {
			t.Fatal(err)
		}
		note()
	}
	done.Store(true)
	wait.Wait()
	versions := map[int64]struct{}{}
	for _, of := range all {
		for s := range of {
			versions[s.version] = struct{}{}
			if want[s.version][s.query] != s.digest {
				t.Fatalf("question %d at version %d: an answer that was never true", s.query, s.version)
			}
		}
	}
	t.Logf("%d of %d versions were seen", len(versions), len(want))
}
