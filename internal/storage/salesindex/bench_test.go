package salesindex_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
)

// benchRows is how many sales the benchmarks use; SALESINDEX_ROWS overrides it.
var benchRows = sync.OnceValue(func() int {
	if n, err := strconv.Atoi(os.Getenv("SALESINDEX_ROWS")); err == nil {
		return n
	}
	return 1_000_000
})

// shopSale returns the n-th sale of a school with 400 plans, 120 courses, 2,000 affiliates and
// one user per five sales. 5 % of the sales come up to 72 hours late.
func shopSale(r *rand.Rand, id lyceum.TransactionID, n int) lyceum.Transaction {
	skewed := func(of int) int { return int(float64(of) * r.Float64() * r.Float64() * r.Float64()) }
	at := begin.Add(time.Duration(n) * 90 * time.Second)
	if r.IntN(20) == 0 {
		at = at.Add(-time.Duration(r.IntN(72*3600)) * time.Second)
	}
	t := lyceum.Transaction{
		ID: id, UserID: lyceum.UserID(1 + skewed(n/5+1)), PricingPlanID: lyceum.PricingPlanID(1 + skewed(400)), SaleID: lyceum.SaleID(id),
		CreatedAt: at, PurchasedAt: at, Charge: 4900, FinalPrice: 4900, Currency: "USD", Revenue: 4500, Paid: true,
		HasChargeback: lyceum.Some(r.IntN(300) == 0), ChargebackFee: lyceum.Some(lyceum.Minor(0)),
	}
	if r.IntN(4) == 0 {
		t.AffiliateID = lyceum.Some(lyceum.AffiliateID(1 + skewed(2000)))
	}
	if r.IntN(33) == 0 {
		t.RefundedAt, t.AmountRefunded = lyceum.Some(at), lyceum.Minor(2450*(1+r.IntN(2)))
	}
	return t
}

func builder(t testing.TB, r *rand.Rand, n int) *salesindex.Builder {
	b := salesindex.NewBuilder()
	for plan := range 400 {
		b.Plan(lyceum.PricingPlanID(plan+1), lyceum.Some(lyceum.CourseID(1+plan%120)))
	}
	for i := range n {
		s := shopSale(r, lyceum.TransactionID(i+1), i)
		if err := b.Add(&s); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func school(t testing.TB, r *rand.Rand, n int) *salesindex.Index {
	return builder(t, r, n).Build(lyceum.Version{})
}

var shared = sync.OnceValue(func() *salesindex.Index {
	return school(&testing.B{}, rand.New(rand.NewPCG(1, 1)), benchRows())
})

func BenchmarkFind(b *testing.B) {
	x := shared()
	put(x, lyceum.Transaction{ID: lyceum.MaxID, UserID: 1, PricingPlanID: 1, CreatedAt: begin, PurchasedAt: begin, Currency: "USD"})
	three := func(i int) lyceum.TransactionFilter {
		return lyceum.TransactionFilter{PricingPlanID: lyceum.Some(lyceum.PricingPlanID(1 + i%10)), Chargeback: lyceum.Some(false), FullyRefunded: lyceum.Some(false)}
	}
	fresh := func(i int) lyceum.TransactionFilter {
		f := three(i)
		f.Created.After = begin.Add(time.Duration(i) * time.Second * 91)
		return f
	}
	same := func(f lyceum.TransactionFilter) func(int) lyceum.TransactionFilter {
		return func(int) lyceum.TransactionFilter { return f }
	}
	last := int32(benchRows() / 20)
	for _, c := range []struct {
		name string
		page int32
		f    func(int) lyceum.TransactionFilter
	}{
		{"first", 1, same(lyceum.TransactionFilter{})},
		{"middle", last / 2, same(lyceum.TransactionFilter{})},
		{"last", last, same(lyceum.TransactionFilter{})},
		{"user", 1, func(i int) lyceum.TransactionFilter {
			return lyceum.TransactionFilter{UserID: lyceum.Some(lyceum.UserID(1 + i%1000))}
		}},
		{"course", 3, same(lyceum.TransactionFilter{CourseID: lyceum.Some(lyceum.CourseID(1))})},
		{"refunded", 3, same(lyceum.TransactionFilter{FullyRefunded: lyceum.Some(true)})},
		{"not refunded", 3, same(lyceum.TransactionFilter{FullyRefunded: lyceum.Some(false)})},
		{"month", 3, same(lyceum.TransactionFilter{Created: lyceum.Period{After: begin.AddDate(0, 3, 0), Until: begin.AddDate(0, 4, 0)}})},
		{"three cached", 3, three},
		{"three fresh", 3, fresh},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				x.Find(c.f(i), lyceum.NewestFirst, lyceum.Page{Number: c.page, Size: 20})
			}
		})
	}
}

func BenchmarkPut(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 3))
	x := school(b, r, benchRows())
	n := benchRows()
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			n++
			s := shopSale(r, lyceum.TransactionID(n), n)
			put(x, s)
		}
	})
	b.Run("refund", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			id := 1 + r.IntN(benchRows())
			found := x.Find(lyceum.TransactionFilter{}, lyceum.OldestFirst, lyceum.Page{Number: int32(id), Size: 1})
			s := found.All()[0]
			s.AmountRefunded, s.RefundedAt = s.FinalPrice-lyceum.Minor(i%2), lyceum.Some(s.CreatedAt)
			put(x, s)
		}
	})
}

// heap returns the number of bytes in use after a garbage collection.
func heap() int64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// BenchmarkBuild builds the index of benchRows sales in arbitrary order.
func BenchmarkBuild(b *testing.B) {
	for range b.N {
		b.StopTimer()
		before := heap()
		made := builder(b, rand.New(rand.NewPCG(1, 1)), benchRows())
		b.StartTimer()
		x := made.Build(lyceum.Version{})
		b.StopTimer()
		millions := float64(benchRows()) / 1e6
		b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/millions, "s/million")
		b.ReportMetric(float64(x.Bytes())/1e6/millions, "MB/million")
		b.ReportMetric(float64(heap()-before)/1e6/millions, "heap-MB/million")
		runtime.KeepAlive(x)
		b.StartTimer()
	}
}

// BenchmarkSnapshot saves and reads the index of benchRows sales.
func BenchmarkSnapshot(b *testing.B) {
	x := shared()
	path := filepath.Join(b.TempDir(), "snapshot")
	save := func() {
		if err := salesindex.SaveSnapshot(path, x.View(), salesindex.SnapshotHeader{School: 1}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("save", func(b *testing.B) {
		for range b.N {
			save()
		}
	})
	save()
	b.Run("read", func(b *testing.B) {
		for range b.N {
			got, _, err := load(path)
			if err != nil || got.Len() != x.Len() {
				b.Fatal(err)
			}
		}
	})
}

// processors returns the CPU time that the process has used.
func processors() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkSum sums random periods, from a week to all time. On a busy machine, CPU time says
// more than elapsed time: dearest-ms is that of the most expensive sum.
func BenchmarkSum(b *testing.B) {
	x := shared()
	before := x.Bytes()
	first := lyceum.DayAt(begin, time.UTC)
	days := benchRows() * 90 / (24 * 3600)
	plan := func(id int) lyceum.TransactionFilter {
		return lyceum.TransactionFilter{PricingPlanID: lyceum.Some(lyceum.PricingPlanID(id))}
	}
	course := func(id int) lyceum.TransactionFilter {
		return lyceum.TransactionFilter{CourseID: lyceum.Some(lyceum.CourseID(id))}
	}
	for _, c := range []struct {
		name  string
		group lyceum.SalesGroup
		f     func(i int) lyceum.TransactionFilter
	}{
		{"by day", lyceum.SalesByDay, nil},
		{"by currency", lyceum.AllSales, nil},
		{"by plan", lyceum.SalesByPlan, nil},
		{"by affiliate", lyceum.SalesByAffiliate, nil},
		{"of a plan", lyceum.SalesByDay, func(i int) lyceum.TransactionFilter { return plan(1 + i%9) }},
		{"of a course", lyceum.SalesByDay, func(i int) lyceum.TransactionFilter { return course(1 + i%9) }},
		{"of a course, by affiliate", lyceum.SalesByAffiliate, func(i int) lyceum.TransactionFilter { return course(1 + i%9) }},
		{"of an affiliate", lyceum.SalesByDay, func(i int) lyceum.TransactionFilter {
			return lyceum.TransactionFilter{AffiliateID: lyceum.Some(lyceum.AffiliateID(1 + i%9))}
		}},
		{"of an affiliate, by plan", lyceum.SalesByPlan, func(i int) lyceum.TransactionFilter {
			return lyceum.TransactionFilter{AffiliateID: lyceum.Some(lyceum.AffiliateID(1 + i%9))}
		}},
		{"of a buyer", lyceum.SalesByDay, func(i int) lyceum.TransactionFilter {
			return lyceum.TransactionFilter{UserID: lyceum.Some(lyceum.UserID(1 + i%99))}
		}},
		{"not refunded", lyceum.SalesByDay, func(int) lyceum.TransactionFilter {
			return lyceum.TransactionFilter{FullyRefunded: lyceum.Some(false)}
		}},
		{"of a course, not refunded", lyceum.SalesByPlan, func(i int) lyceum.TransactionFilter {
			f := course(1 + i%9)
			f.FullyRefunded = lyceum.Some(false)
			return f
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(5, 5))
			sum := func(i, from, n int) {
				q := lyceum.SalesSumQuery{First: first.Add(from), Last: first.Add(from + n), Zone: time.UTC, Group: c.group, Most: 1 << 20}
				if c.f != nil {
					q.Filter = c.f(i)
				}
				if _, err := x.Sum(q); err != nil {
					b.Fatal(err)
				}
			}
			for i := range 9 {
				sum(i, 0, days) // computes the sums of blocks
			}
			var dearest time.Duration
			b.ResetTimer()
			begun := processors()
			for i := range b.N {
				n := 7 + r.IntN(days-7)
				at := processors()
				sum(i, r.IntN(days-n), n)
				dearest = max(dearest, processors()-at)
			}
			b.ReportMetric((processors()-begun).Seconds()*1e3/float64(b.N), "processors-ms/op")
			b.ReportMetric(dearest.Seconds()*1e3, "dearest-ms")
		})
	}
	b.Run("memory", func(b *testing.B) {
		for range b.N {
			b.ReportMetric(float64(x.Bytes()-before)/float64(benchRows()), "bytes/sale")
		}
	})
}
