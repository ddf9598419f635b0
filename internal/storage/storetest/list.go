package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
)

// book is a random school that is small enough to be filtered naively. Its values come from small
// ranges, so that filters match something and some times are equal.
type book struct {
	users        []lyceum.User
	courses      []lyceum.Course
	plans        []lyceum.PricingPlan
	sales        []lyceum.Sale
	transactions []lyceum.Transaction
	courseOf     map[lyceum.PricingPlanID]lyceum.Opt[lyceum.CourseID]
}

const (
	bookUsers, bookPlans, bookCourses, bookPartners = 25, 12, 5, 6
	bookHours                                       = 400
)

func newBook(seed uint64, n int) *book {
	r := rand.New(rand.NewPCG(seed, 1))
	b := &book{courseOf: map[lyceum.PricingPlanID]lyceum.Opt[lyceum.CourseID]{}}
	for id := range lyceum.UserID(bookUsers) {
		u := user(id + 1)
		if id%3 == 0 {
			u.Name, u.Src = lyceum.Some(fmt.Sprintf("Ngũgĩ %d", id)), lyceum.Some("")
		}
		b.users = append(b.users, u)
	}
	for id := range lyceum.CourseID(bookCourses) {
		b.courses = append(b.courses, lyceum.Course{
			ID: id + 1, Name: "Course", Heading: lyceum.Some("Heading"),
			IsPublished: id%2 == 0, CreatedAt: Begin,
		})
	}
	for id := range lyceum.PricingPlanID(bookPlans) {
		p := lyceum.PricingPlan{
			ID: id + 1, Name: "Plan", Price: 1999, Currency: "EUR", Frequency: lyceum.Subscription,
			CreatedAt: Begin, UpdatedAt: Begin,
		}
		if id%4 != 0 {
			p.CourseID = lyceum.Some(lyceum.CourseID(int(id)%bookCourses + 1))
			p.BillingInterval, p.BillingIntervalCount = lyceum.Some("month"), lyceum.Some(int32(1))
		} else if id%8 == 0 {
			p.Other = lyceum.Some(lyceum.Product{Kind: lyceum.CollectionKind, ID: int32(id) + 1})
		}
		b.plans = append(b.plans, p)
		b.courseOf[p.ID] = p.CourseID
	}
	earliest, refunded, retained := map[lyceum.SaleID]time.Time{}, map[lyceum.SaleID]bool{}, map[lyceum.SaleID]bool{}
	for i := range n {
		t := randomTransaction(r, lyceum.TransactionID(i+1))
		b.transactions = append(b.transactions, t)
		if at, seen := earliest[t.SaleID]; !seen || t.CreatedAt.Before(at) {
			earliest[t.SaleID] = t.CreatedAt
		}
		refunded[t.SaleID] = refunded[t.SaleID] || t.Paid && t.FullyRefunded()
		retained[t.SaleID] = retained[t.SaleID] || t.Retained()
	}
	for id, at := range earliest {
		b.sales = append(b.sales, lyceum.Sale{ID: id, CreatedAt: at, Released: refunded[id] && !retained[id]})
	}
	slices.SortFunc(b.sales, func(a, b lyceum.Sale) int { return cmp.Compare(a.ID, b.ID) })
	return b
}

func randomTransaction(r *rand.Rand, id lyceum.TransactionID) lyceum.Transaction {
	at := Begin.Add(time.Duration(r.IntN(bookHours)) * time.Hour)
	t := lyceum.Transaction{
		ID: id, UserID: lyceum.UserID(1 + r.IntN(bookUsers)), PricingPlanID: lyceum.PricingPlanID(1 + r.IntN(bookPlans)),
		SaleID: lyceum.SaleID(1 + r.IntN(200)), CreatedAt: at, PurchasedAt: at.Add(time.Duration(r.IntN(3)) * time.Hour),
		Charge: lyceum.USDCents(r.IntN(5000)), FinalPrice: lyceum.Minor(r.IntN(4) * 1000), Currency: "EUR",
		TaxCharge: lyceum.Minor(r.IntN(500)), Revenue: lyceum.USDCents(r.IntN(4000)), Paid: r.IntN(10) > 0,
	}
	if r.IntN(2) == 0 {
		t.HasChargeback = lyceum.Some(r.IntN(3) == 0)
		t.ChargebackFee = lyceum.Some(lyceum.Minor(r.IntN(2) * 1500))
	}
	if r.IntN(3) == 0 {
		t.AffiliateID, t.AffiliateFees = lyceum.Some(lyceum.AffiliateID(1+r.IntN(bookPartners))), 100
	}
	if r.IntN(3) == 0 {
		t.AuthorID, t.AuthorFees = lyceum.Some(lyceum.AuthorID(1+r.IntN(bookPartners))), 200
	}
	if r.IntN(3) == 0 {
		t.CouponID = lyceum.Some(lyceum.CouponID(1 + r.IntN(bookPartners)))
	}
	if r.IntN(3) == 0 {
		t.RefundedAt, t.AmountRefunded = lyceum.Some(at.Add(time.Hour)), lyceum.Minor(r.IntN(4)*1000)
	}
	return t
}

func (b *book) save(tx lyceum.Tx) error {
	var coupons []lyceum.Coupon
	var affiliates []lyceum.AffiliatePartner
	var authors []lyceum.AuthorProfile
	for id := range int32(bookPartners) {
		coupons = append(coupons, lyceum.Coupon{ID: lyceum.CouponID(id + 1)})
		affiliates = append(affiliates, lyceum.AffiliatePartner{ID: lyceum.AffiliateID(id + 1), Name: lyceum.Some("Partner")})
		authors = append(authors, lyceum.AuthorProfile{ID: lyceum.AuthorID(id + 1)})
	}
	for _, save := range []func() (lyceum.Saved, error){
		func() (lyceum.Saved, error) { return tx.Users.Save(tx, b.users...) },
		func() (lyceum.Saved, error) { return tx.Courses.Save(tx, b.courses...) },
		func() (lyceum.Saved, error) { return tx.PricingPlans.Save(tx, b.plans...) },
		func() (lyceum.Saved, error) { return tx.Coupons.Save(tx, coupons...) },
		func() (lyceum.Saved, error) { return tx.Affiliates.Save(tx, affiliates...) },
		func() (lyceum.Saved, error) { return tx.Authors.Save(tx, authors...) },
		func() (lyceum.Saved, error) { return tx.Sales.Save(tx, b.sales...) },
		func() (lyceum.Saved, error) { return tx.Transactions.Save(tx, b.transactions...) },
	} {
		if _, err := save(); err != nil {
			return err
		}
	}
	return nil
}

// inOrder compares transactions in the list's ascending order.
func inOrder(a, b lyceum.Transaction) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
}

// filters returns n random filters over the values of a book.
func filters(b *book, seed uint64, n int) []lyceum.TransactionFilter {
	r := rand.New(rand.NewPCG(seed, 2))
	list := make([]lyceum.TransactionFilter, n)
	for i := range list {
		f := &list[i]
		some := func(oneIn int) bool { return r.IntN(oneIn) == 0 }
		if some(4) {
			f.UserID = lyceum.Some(lyceum.UserID(r.IntN(bookUsers + 2)))
		}
		if some(4) {
			f.AffiliateID = lyceum.Some(lyceum.AffiliateID(r.IntN(bookPartners + 2)))
		}
		if some(4) {
			f.AuthorID = lyceum.Some(lyceum.AuthorID(r.IntN(bookPartners + 2)))
		}
		if some(4) {
			f.CourseID = lyceum.Some(lyceum.CourseID(r.IntN(bookCourses + 2)))
		}
		if some(4) {
			f.PricingPlanID = lyceum.Some(lyceum.PricingPlanID(r.IntN(bookPlans + 2)))
		}
		if some(4) {
			f.FullyRefunded = lyceum.Some(r.IntN(2) == 0)
		}
		if some(4) {
			f.Chargeback = lyceum.Some(r.IntN(2) == 0)
		}
		// Bounds are whole hours, where the rows are, so that a bound that is wrongly included or
		// excluded is noticed.
		if some(4) {
			f.Created.After = Begin.Add(time.Duration(r.IntN(bookHours)) * time.Hour)
		}
		if some(4) {
			f.Created.Until = Begin.Add(time.Duration(r.IntN(bookHours)) * time.Hour)
		}
	}
	return list
}

// differential compares 2,000 random queries with a naive filter in memory: rows, order and
// totals must be equal.
func differential(t *testing.T, store lyceum.Store) {
	school := MakeSchool(t, store)
	b := newBook(7, 1500)
	Write(t, store, school, b.save)
	r := rand.New(rand.NewPCG(7, 3))
	slices.SortFunc(b.transactions, inOrder)
	for _, f := range filters(b, 7, 2000) {
		var want []lyceum.Transaction
		for i := range b.transactions {
			if x := &b.transactions[i]; f.Match(x, b.courseOf[x.PricingPlanID]) {
				want = append(want, *x)
			}
		}
		order := lyceum.Order(r.IntN(2))
		if order == lyceum.NewestFirst {
			slices.Reverse(want)
		}
		size := []int32{1, 5, 20, 100}[r.IntN(4)]
		page := lyceum.Page{Number: 1 + r.Int32N(int32(len(want))/size+2), Size: size}
		if r.IntN(50) == 0 {
			page.Number = 400_000_000
		}
		got, err := store.FindTransactions(t.Context(), school, f, order, page)
		if err != nil {
			t.Fatalf("filter %+v: %v", f, err)
		}
		if got.Total != int64(len(want)) || got.Page != page {
			t.Fatalf("filter %+v: total %d on %+v, want %d on %+v", f, got.Total, got.Page, len(want), page)
		}
		from := min(page.Offset(), int64(len(want)))
		to := min(from+int64(size), int64(len(want)))
		if diff := gocmp.Diff(append([]lyceum.Transaction{}, want[from:to]...), got.All()); diff != "" {
			t.Fatalf("filter %+v order %d page %+v differs (-naive +store):\n%s", f, order, page, diff)
		}
		var all []lyceum.Transaction
		if r.IntN(20) == 0 {
			v := store.In(t.Context(), school)
			err := v.Transactions.Each(v, lyceum.TransactionQuery{TransactionFilter: f, Order: order},
				func(x *lyceum.Transaction) error { all = append(all, *x); return nil })
			if err != nil || !slices.Equal(all, want) {
				t.Fatalf("filter %+v: streaming gives %d rows, %v; want %d", f, len(all), err, len(want))
			}
		}
	}
}

// consistency reads during concurrent writes: the rows that the total implies must exist and be
// in order.
func consistency(t *testing.T, store lyceum.Store) {
	school := MakeSchool(t, store)
	b := newBook(11, 600)
	more := b.transactions[300:]
	b.transactions = b.transactions[:300]
	Write(t, store, school, b.save)
	var done atomic.Bool
	go func() {
		defer done.Store(true)
		for i := range more {
			err := store.Write(t.Context(), stamp(school), func(tx lyceum.Tx) error {
				_, err := tx.Transactions.Save(tx, more[i:i+1]...)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
	}()
	f := lyceum.TransactionFilter{Chargeback: lyceum.Some(false)}
	for !done.Load() {
		last := lyceum.Page{Number: 1, Size: 1}
		for _, filter := range []lyceum.TransactionFilter{{}, f} {
			listing, err := store.FindTransactions(t.Context(), school, filter, lyceum.NewestFirst,
				lyceum.Page{Number: last.Number, Size: 100})
			if err != nil {
				t.Fatal(err)
			}
			if int64(listing.Transactions.Len()) != min(100, listing.Total) {
				t.Fatalf("a page of %d rows with a total of %d", listing.Transactions.Len(), listing.Total)
			}
			if !slices.IsSortedFunc(listing.All(), func(a, b lyceum.Transaction) int { return inOrder(b, a) }) {
				t.Fatal("a page out of order")
			}
			end := lyceum.Page{Number: int32(listing.Total), Size: 1}
			if listing, err = store.FindTransactions(t.Context(), school, filter, lyceum.NewestFirst, end); err != nil ||
				listing.Transactions.Len() != 1 {
				t.Fatalf("row %d is missing: %v", end.Number, err)
			}
		}
	}
}

// scan reads all transactions in parts while some of them change: each must be visited once, in
// its old or new version.
func scan(t *testing.T, store lyceum.Store) {
	school, other := MakeSchool(t, store), MakeSchool(t, store)
	b := newBook(13, 5000)
	Write(t, store, school, b.save)
	Ledger(t, store, other, 14, 10)
	want := map[lyceum.TransactionID][2]lyceum.Transaction{} // old and new version
	var changed []lyceum.Transaction
	for i := range b.transactions {
		x := b.transactions[i]
		want[x.ID] = [2]lyceum.Transaction{x, x}
		if i%100 == 0 {
			x.TaxCharge++
			want[x.ID] = [2]lyceum.Transaction{b.transactions[i], x}
			changed = append(changed, x)
		}
	}
	first := true
	err := store.ScanTransactions(t.Context(), school, func(part []lyceum.Transaction) error {
		if first {
			first = false
			Write(t, store, school, func(tx lyceum.Tx) error { _, err := tx.Transactions.Save(tx, changed...); return err })
		}
		for _, x := range part {
			if was, open := want[x.ID]; !open || x != was[0] && x != was[1] {
				t.Errorf("transaction %d is told twice, or as it never was", x.ID)
			}
			delete(want, x.ID)
		}
		return nil
	})
	if err != nil || len(want) > 0 {
		t.Errorf("%d of %d transactions are missing: %v", len(want), len(b.transactions), err)
	}
	failed := errors.New("no more")
	if err := store.ScanTransactions(t.Context(), school,
		func([]lyceum.Transaction) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("a visit that fails: %v", err)
	}
	if err := store.ScanTransactions(t.Context(), 999, func([]lyceum.Transaction) error { return failed }); err != nil {
		t.Errorf("a school without sales: %v", err)
	}
}
