package salesindex_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestSameAsStore runs the same queries on the index and on the store for one ledger, part of
// which was added after the build and late.
func TestSameAsStore(t *testing.T) {
	salesindex.Shrink(t)
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	school := storetest.MakeSchool(t, store)
	sales, courses := storetest.Ledger(t, store, school, 5, 3000)
	b := salesindex.NewBuilder()
	for id, course := range courses {
		b.Plan(id, course)
	}
	for i := range sales[:2000] {
		if err := b.Add(&sales[i]); err != nil {
			t.Fatal(err)
		}
	}
	x := b.Build(lyceum.Version{})
	for i := range sales[2000:] {
		if err := put(x, sales[2000+i]); err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	hour := func() time.Time { return storetest.Begin.Add(time.Duration(r.IntN(400)) * time.Hour) }
	for _, f := range filters(hour, r.Int32N) {
		page := lyceum.Page{Number: 1 + r.Int32N(9), Size: []int32{1, 20, 100}[r.IntN(3)]}
		order := lyceum.Order(r.IntN(2))
		want, err := store.FindTransactions(t.Context(), school, f, order, page)
		if err != nil {
			t.Fatal(err)
		}
		got := x.Find(f, order, page)
		if diff := gocmp.Diff(want.All(), got.All()); diff != "" || got.Total != want.Total {
			t.Fatalf("filter %+v order %d page %+v: a total of %d, want %d (-store +index):\n%s", f, order, page, got.Total, want.Total, diff)
		}
	}
}

// extreme returns a sale with the extreme values that an index can represent.
func extreme(id lyceum.TransactionID) lyceum.Transaction {
	return lyceum.Transaction{
		ID: id, UserID: lyceum.MaxID, PricingPlanID: lyceum.MaxID, SaleID: lyceum.MaxID,
		CreatedAt: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), PurchasedAt: time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC),
		Charge: math.MinInt32, FinalPrice: math.MaxInt32, Currency: "XXX", TaxCharge: math.MaxInt32, Revenue: math.MinInt32,
		Paid: true, HasChargeback: lyceum.Some(false), ChargebackFee: lyceum.Some(lyceum.Minor(math.MaxInt32)),
		AffiliateID: lyceum.Some(lyceum.AffiliateID(0)), AffiliateFees: math.MaxInt32,
		AuthorID: lyceum.Some(lyceum.AuthorID(lyceum.MaxID)), AuthorFees: math.MinInt32, CouponID: lyceum.Some(lyceum.CouponID(0)),
		RefundedAt: lyceum.Some(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)), AmountRefunded: math.MinInt32,
	}
}

func TestNothingIsLost(t *testing.T) {
	var want []lyceum.Transaction
	for i := range 700 { // more currencies than fit in a byte
		s := extreme(lyceum.TransactionID(lyceum.MaxID - i))
		s.Currency = lyceum.Currency("C" + strconv.Itoa(i%600))
		if i%3 == 0 {
			s.AmountRefunded, s.RefundedAt, s.ChargebackFee = 0, lyceum.None[time.Time](), lyceum.Some(lyceum.Minor(0))
			s.HasChargeback, s.CouponID = lyceum.None[bool](), lyceum.None[lyceum.CouponID]()
		}
		want = append(want, s)
	}
	b := salesindex.NewBuilder()
	for i := range want[:300] {
		if err := b.Add(&want[i]); err != nil {
			t.Fatal(err)
		}
	}
	x := b.Build(lyceum.Version{})
	for i := range want[300:] {
		if err := put(x, want[300+i]); err != nil {
			t.Fatal(err)
		}
	}
	got := x.Find(lyceum.TransactionFilter{UserID: lyceum.Some(lyceum.UserID(lyceum.MaxID))}, lyceum.NewestFirst, lyceum.Page{Number: 1, Size: 1000})
	if diff := gocmp.Diff(want, got.All()); diff != "" {
		t.Fatal(diff)
	}
}

func TestRefuses(t *testing.T) {
	x := salesindex.NewBuilder().Build(lyceum.Version{})
	for name, spoil := range map[string]func(*lyceum.Transaction){
		"charge":         func(s *lyceum.Transaction) { s.Charge = math.MinInt32 - 1 },
		"price":          func(s *lyceum.Transaction) { s.FinalPrice = math.MaxInt32 + 1 },
		"tax":            func(s *lyceum.Transaction) { s.TaxCharge = math.MaxInt32 + 1 },
		"revenue":        func(s *lyceum.Transaction) { s.Revenue = math.MinInt64 },
		"fee":            func(s *lyceum.Transaction) { s.ChargebackFee = lyceum.Some(lyceum.Minor(1 << 32)) },
		"affiliate fees": func(s *lyceum.Transaction) { s.AffiliateFees = 1 << 40 },
		"author fees":    func(s *lyceum.Transaction) { s.AuthorFees = 1 << 31 },
		"refund":         func(s *lyceum.Transaction) { s.AmountRefunded = 1 << 31 },
		"created":        func(s *lyceum.Transaction) { s.CreatedAt = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"purchased":      func(s *lyceum.Transaction) { s.PurchasedAt = time.Date(0, 12, 31, 0, 0, 0, 0, time.UTC) },
	} {
		s := extreme(1)
		spoil(&s)
		if salesindex.NewBuilder().Add(&s) == nil || put(x, extreme(2), s) == nil {
			t.Errorf("%s beyond its range is taken", name)
		}
	}
	if x.Len() != 0 || x.Version().Number != 0 {
		t.Errorf("what was refused left %d sales at version %d", x.Len(), x.Version().Number)
	}
	b, s := salesindex.NewBuilder(), extreme(1)
	if b.Add(&s) != nil || b.Add(&s) == nil {
		t.Error("a sale is taken twice")
	}
}

// TestGrown moves sales through blocks and bitmaps of their real sizes.
func TestGrown(t *testing.T) {
	m := newModel()
	r := rand.New(rand.NewPCG(2, 2))
	b := salesindex.NewBuilder()
	for id := range lyceum.TransactionID(40_000) {
		s := randomSale(r, id+1, 2000)
		m.sales[s.ID] = s
		if err := b.Add(&s); err != nil {
			t.Fatal(err)
		}
	}
	x := b.Build(lyceum.Version{})
	for i := range 1500 {
		s := randomSale(r, lyceum.TransactionID(35_000+i*13), 2100)
		m.sales[s.ID] = s
		if err := put(x, s); err != nil {
			t.Fatal(err)
		}
	}
	for _, plan := range []lyceum.PricingPlanID{1, 2, 1} {
		m.courses[plan] = lyceum.Some(lyceum.CourseID(1 + r.IntN(2)))
		if err := move(x, plan, m.courses[plan]); err != nil {
			t.Fatal(err)
		}
	}
	all := filters(func() time.Time { return begin.Add(time.Duration(r.IntN(2100)) * time.Hour) }, r.Int32N)
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	m.check(t, x, slices.Clip(all[:6]))
}

func TestBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	before := heap()
	x := school(t, r, 300_000)
	check := func(when string) {
		held, said := heap()-before, x.Bytes()
		t.Logf("%s: %d bytes held, %d said", when, held, said)
		if said < held*9/10 || said > held*11/10 {
			t.Errorf("%s: %d bytes are held, Bytes says %d", when, held, said)
		}
	}
	check("built")
	for i := range 20_000 {
		s := shopSale(r, lyceum.TransactionID(300_001+i), 300_000+i)
		if err := put(x, s); err != nil {
			t.Fatal(err)
		}
	}
	check("after writes")
	file := written(t, x)
	runtime.KeepAlive(x)
	x = nil
	before = heap()
	var err error
	if x, _, err = read(file); err != nil {
		t.Fatal(err)
	}
	check("read from a snapshot")
	runtime.KeepAlive(x)
	runtime.KeepAlive(file)
}
