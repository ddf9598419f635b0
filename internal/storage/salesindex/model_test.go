package salesindex_test

import (
	"cmp"
	"flag"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
	"pgregory.net/rapid"
)

var begin = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// model is the naive list with which the index is compared.
type model struct {
	sales   map[lyceum.TransactionID]lyceum.Transaction
	courses map[lyceum.PricingPlanID]lyceum.Opt[lyceum.CourseID]
	next    lyceum.TransactionID
	hours   int // the range of hours in which the sales are
}

func newModel() *model {
	return &model{
		sales: map[lyceum.TransactionID]lyceum.Transaction{}, next: 1, hours: 60,
		courses: map[lyceum.PricingPlanID]lyceum.Opt[lyceum.CourseID]{},
	}
}

func (m *model) sorted() []lyceum.Transaction {
	list := make([]lyceum.Transaction, 0, len(m.sales))
	for _, t := range m.sales {
		list = append(list, t)
	}
	slices.SortFunc(list, inOrder)
	return list
}

func inOrder(a, b lyceum.Transaction) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
}

func (m *model) build(t interface{ Fatal(args ...any) }, backwards bool) *salesindex.Index {
	b := salesindex.NewBuilder()
	list := m.sorted()
	if backwards {
		slices.Reverse(list)
	}
	for id, course := range m.courses {
		b.Plan(id, course)
	}
	for i := range list {
		if err := b.Add(&list[i]); err != nil {
			t.Fatal(err)
		}
	}
	return b.Build(lyceum.Version{})
}

func optional[T ~int32](r *rapid.T, name string, n int32) lyceum.Opt[T] {
	if rapid.Bool().Draw(r, name) {
		return lyceum.Some(T(rapid.Int32Range(1, n).Draw(r, name)))
	}
	return lyceum.None[T]()
}

// sale draws a sale whose values come from small ranges.
func (m *model) sale(r *rapid.T, id lyceum.TransactionID) lyceum.Transaction {
	n := func(name string, to int32) int32 { return rapid.Int32Range(0, to).Draw(r, name) }
	at := begin.Add(time.Duration(n("hour", int32(m.hours))) * time.Hour)
	t := lyceum.Transaction{
		ID: id, UserID: lyceum.UserID(1 + n("user", 5)), PricingPlanID: lyceum.PricingPlanID(1 + n("plan", 4)), SaleID: lyceum.SaleID(9 + n("sale", 1)),
		CreatedAt: at, PurchasedAt: at.Add(time.Minute), Charge: lyceum.USDCents(n("charge", 900)), FinalPrice: lyceum.Minor(n("price", 2)),
		Currency: []lyceum.Currency{"EUR", "USD", "JPY"}[n("currency", 2)], Revenue: -4, TaxCharge: 5, Paid: n("paid", 1) == 1,
		AffiliateID: optional[lyceum.AffiliateID](r, "affiliate", 3), AffiliateFees: 6, AuthorFees: 7,
		AuthorID: optional[lyceum.AuthorID](r, "author", 3), CouponID: optional[lyceum.CouponID](r, "coupon", 3),
	}
	if n("known", 1) == 1 {
		t.HasChargeback = lyceum.Some(n("chargeback", 1) == 1)
		t.ChargebackFee = lyceum.Some(lyceum.Minor(n("fee", 1)))
	}
	if n("refunded", 2) == 0 {
		t.RefundedAt, t.AmountRefunded = lyceum.Some(at.Add(time.Duration(n("days", 2)*24+1)*time.Hour)), lyceum.Minor(n("amount", 2))
	}
	return t
}

// put draws a new sale, or a change of an existing one, which may keep its time.
func (m *model) put(r *rapid.T, x *salesindex.Index) {
	id := m.next
	if len(m.sales) > 0 && rapid.IntRange(0, 2).Draw(r, "change") == 0 {
		id = lyceum.TransactionID(rapid.Int32Range(1, int32(m.next)-1).Draw(r, "id"))
	} else {
		m.next++
	}
	t := m.sale(r, id)
	if old, is := m.sales[id]; is && rapid.IntRange(0, 3).Draw(r, "move") > 0 {
		t.CreatedAt = old.CreatedAt
	}
	m.sales[id] = t
	if err := put(x, t); err != nil {
		r.Fatal(err)
	}
}

// next returns the state after one more entry.
func next(x *salesindex.Index) lyceum.Version {
	return lyceum.Version{Number: x.Version().Number + 1, At: begin}
}

func put(x *salesindex.Index, sales ...lyceum.Transaction) error {
	return x.Update(next(x), sales, nil)
}

func move(x *salesindex.Index, plan lyceum.PricingPlanID, course lyceum.Opt[lyceum.CourseID]) error {
	return x.Update(next(x), nil, []lyceum.PricingPlan{{ID: plan, CourseID: course}})
}

func (m *model) move(r *rapid.T, x *salesindex.Index) {
	plan := lyceum.PricingPlanID(rapid.Int32Range(1, 6).Draw(r, "moved plan"))
	m.courses[plan] = optional[lyceum.CourseID](r, "course", 2)
	if err := move(x, plan, m.courses[plan]); err != nil {
		r.Fatal(err)
	}
}

// filters returns filters with every combination of conditions. Some of the values do not occur.
func filters(hour func() time.Time, n func(to int32) int32) []lyceum.TransactionFilter {
	var list []lyceum.TransactionFilter
	for mask := range 1 << 9 {
		var f lyceum.TransactionFilter
		for bit, name := range []func(){
			func() { f.UserID = lyceum.Some(lyceum.UserID(1 + n(6))) },
			func() { f.AffiliateID = lyceum.Some(lyceum.AffiliateID(1 + n(3))) },
			func() { f.AuthorID = lyceum.Some(lyceum.AuthorID(1 + n(3))) },
			func() { f.CourseID = lyceum.Some(lyceum.CourseID(1 + n(2))) },
			func() { f.PricingPlanID = lyceum.Some(lyceum.PricingPlanID(1 + n(5))) },
			func() { f.FullyRefunded = lyceum.Some(n(1) == 1) },
			func() { f.Chargeback = lyceum.Some(n(1) == 1) },
			func() { f.Created.After = hour() },
			func() { f.Created.Until = hour() },
		} {
			if mask>>bit&1 == 1 {
				name()
			}
		}
		list = append(list, f)
	}
	return list
}

// lister serves lists: an index, or a store.
type lister interface {
	Len() int
	Find(f lyceum.TransactionFilter, o lyceum.Order, p lyceum.Page) lyceum.TransactionListing
	Each(f lyceum.TransactionFilter, o lyceum.Order, visit func(*lyceum.Transaction) error) error
}

func (m *model) check(t interface {
	Fatalf(format string, args ...any)
}, x lister, all []lyceum.TransactionFilter,
) {
	sorted := m.sorted()
	if x.Len() != len(sorted) {
		t.Fatalf("%d sales, want %d", x.Len(), len(sorted))
	}
	for _, f := range all {
		var want []lyceum.Transaction
		for i := range sorted {
			if f.Match(&sorted[i], m.courses[sorted[i].PricingPlanID]) {
				want = append(want, sorted[i])
			}
		}
		for _, order := range []lyceum.Order{lyceum.OldestFirst, lyceum.NewestFirst} {
			const size = 7
			last := int32(len(want)-1)/size + 1
			for _, p := range []lyceum.Page{{Number: 1, Size: size}, {Number: last/2 + 1, Size: size}, {Number: max(last, 1), Size: size}, {Number: last + 1, Size: size}, {Number: 400_000_000, Size: 100}, {Number: 1, Size: 1000}} {
				got := x.Find(f, order, p)
				from := min(p.Offset(), int64(len(want)))
				page := slices.Clone(want[from:min(from+int64(p.Size), int64(len(want)))])
				if got.Total != int64(len(want)) || got.Page != p || !slices.Equal(got.All(), page) {
					t.Fatalf("filter %+v order %d page %+v: total %d, want %d\n%s", f, order, p, got.Total, len(want), gocmp.Diff(page, got.All()))
				}
			}
			var each []lyceum.Transaction
			if err := x.Each(f, order, func(s *lyceum.Transaction) error { each = append(each, *s); return nil }); err != nil || !slices.Equal(each, want) {
				t.Fatalf("filter %+v order %d: %v\n%s", f, order, err, gocmp.Diff(want, each))
			}
			slices.Reverse(want)
		}
	}
}

// begun returns a model with at most the given number of sales, and an index built from them.
func begun(r *rapid.T, most int) (*model, *salesindex.Index) {
	m := newModel()
	for plan := range lyceum.PricingPlanID(4) {
		m.courses[plan+1] = optional[lyceum.CourseID](r, "course", 2)
	}
	for range rapid.IntRange(0, most).Draw(r, "built") {
		m.sales[m.next] = m.sale(r, m.next)
		m.next++
	}
	return m, m.build(r, rapid.Bool().Draw(r, "backwards"))
}

// By default there are few random histories; -rapid.checks sets their number.
var _ = flag.Set("rapid.checks", "50")

// TestModel compares the index with the naive list in random histories, with limits so low that
// moves, splits and bitmaps happen all the time.
func TestModel(t *testing.T) {
	salesindex.Shrink(t)
	rapid.Check(t, func(r *rapid.T) {
		m, x := begun(r, 60)
		n := func(to int32) int32 { return rapid.Int32Range(0, to).Draw(r, "filter") }
		hour := func() time.Time {
			return begin.Add(time.Duration(n(60))*time.Hour + time.Duration(n(1))*time.Millisecond)
		}
		m.check(r, x, filters(hour, n))
		m.checkSums(r, x, sumQueries(hour, n))
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			for range rapid.IntRange(1, 12).Draw(r, "puts") {
				m.put(r, x)
			}
			if rapid.IntRange(0, 2).Draw(r, "plan") == 0 {
				m.move(r, x)
			}
			m.hours++
			m.check(r, x, filters(hour, n))
			m.checkSums(r, x, sumQueries(hour, n))
		}
	})
}
