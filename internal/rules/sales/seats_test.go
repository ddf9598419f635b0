package sales_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// buyersVariable sets the number of concurrent buyers. There is something left for every tenth
// of them.
const buyersVariable = "LYCEUM_BUYERS"

func buyers(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv(buyersVariable))
	if err != nil || n < 10 {
		return 100
	}
	return n
}

// openTwice opens a database as two servers do; SQLite has only one.
var openTwice = map[string]func(t *testing.T) []lyceum.Store{
	"SQLite": func(t *testing.T) []lyceum.Store { return []lyceum.Store{openStore(t)} },
	"PostgreSQL": func(t *testing.T) []lyceum.Store {
		address := storetest.Postgres(t)
		var stores []lyceum.Store
		for range 2 {
			store, err := sqlstore.OpenPostgres(t.Context(), address, sqlstore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			stores = append(stores, store)
		}
		return stores
	},
}

// rush runs many concurrent buyers and returns how often each result occurred.
func (b *books) rush(t *testing.T, stores []lyceum.Store, n int, buy func(*sales.Service, int) (string, error)) map[string]int {
	t.Helper()
	clock := func() time.Time { return b.now }
	services := make([]*sales.Service, len(stores))
	for i, store := range stores {
		services[i] = sales.New(store, clock, learning.New(store, clock), people.New(store, clock))
	}
	var group sync.WaitGroup
	var lock sync.Mutex
	results := map[string]int{}
	for i := range n {
		group.Go(func() {
			said, err := buy(services[i%len(services)], i)
			if refused, ok := errors.AsType[*lyceum.Error](err); ok {
				said = refused.Code
			} else if err != nil {
				said = err.Error()
			}
			lock.Lock()
			defer lock.Unlock()
			results[said]++
		})
	}
	group.Wait()
	return results
}

// TestRush checks that with many concurrent buyers exactly as many orders are accepted as there
// are seats or uses, and that every paid sale is recorded, the surplus ones with a warning.
func TestRush(t *testing.T) {
	for engine, open := range openTwice {
		t.Run(engine, func(t *testing.T) {
			n := buyers(t)
			left := n / 10
			stores := open(t)
			b := openBooks(t, stores[0])
			limit := lyceum.Some(int32(left))
			storetest.Write(t, stores[0], b.school, func(tx lyceum.Tx) error {
				plan := lyceum.PricingPlan{
					ID: 8, CourseID: lyceum.Some(lyceum.CourseID(1)), Name: "Few seats", Price: 1000, Currency: "USD", Frequency: lyceum.OneTimePayment, EnrollmentCap: limit,
				}
				coupon := lyceum.Coupon{ID: 8, Percent: lyceum.Some(0.5), Available: limit}
				other, another := plan, coupon
				other.ID, another.ID = 9, 9
				_, planErr := tx.PricingPlans.Save(tx, plan, other)
				_, couponErr := tx.Coupons.Save(tx, coupon, another)
				users := make([]lyceum.User, n)
				for i := range users {
					users[i] = lyceum.User{ID: lyceum.UserID(100 + i), Email: fmt.Sprintf("u%d@example.com", i), Role: lyceum.Student}
				}
				_, userErr := tx.Users.Save(tx, users...)
				return errors.Join(planErr, couponErr, userErr)
			})
			some := lyceum.Some[lyceum.CouponID]
			order := func(plan lyceum.PricingPlanID, coupon lyceum.Opt[lyceum.CouponID]) func(*sales.Service, int) (string, error) {
				return func(s *sales.Service, i int) (string, error) {
					_, err := s.OpenOrder(t.Context(), b.by(), sales.NewOrder{Email: fmt.Sprintf("u%d@example.com", i), Plan: plan, Coupon: coupon})
					return "taken", err
				}
			}
			sale := func(plan lyceum.PricingPlanID, coupon lyceum.Opt[lyceum.CouponID]) func(*sales.Service, int) (string, error) {
				return func(s *sales.Service, i int) (string, error) {
					d, err := s.Record(t.Context(), b.by(), sales.NewSale{
						User: lyceum.UserID(100 + i), Plan: plan, Coupon: coupon, Reference: lyceum.Some(fmt.Sprintf("ch_%d_%d_%d", plan, coupon.Value, i)),
					})
					if len(d.Warnings) > 0 {
						return "recorded: " + d.Warnings[0].Code, err
					}
					return "recorded", err
				}
			}
			for _, tc := range []struct {
				name           string
				buy            func(*sales.Service, int) (string, error)
				taken, tooLate string
				plan           lyceum.PricingPlanID
				coupon         lyceum.CouponID
				seats, uses    int
			}{
				{"orders of a plan", order(8, lyceum.None[lyceum.CouponID]()), "taken", "sold_out", 8, 8, left, 0},
				{"orders with a coupon", order(1, some(8)), "taken", "coupon_used_up", 8, 8, left, left},
				{"sales of a plan", sale(9, lyceum.None[lyceum.CouponID]()), "recorded", "recorded: sold_out", 9, 9, n, 0},
				{"sales with a coupon", sale(1, some(9)), "recorded", "recorded: coupon_used_up", 9, 9, n, n},
			} {
				got := b.rush(t, stores, n, tc.buy)
				if got[tc.taken] != left || got[tc.tooLate] != n-left {
					t.Errorf("%s: %v, want %d and %d", tc.name, got, left, n-left)
				}
				taken, err := stores[0].In(t.Context(), b.school).CountTaken([]lyceum.PricingPlanID{tc.plan}, []lyceum.CouponID{tc.coupon})
				if err != nil || taken.Seats[tc.plan] != int64(tc.seats) || taken.Uses[tc.coupon] != int64(tc.uses) {
					t.Errorf("%s: %+v %v, want %d and %d", tc.name, taken, err, tc.seats, tc.uses)
				}
				t.Logf("%s: %v", tc.name, got)
			}
			b.healthy(t, stores[0])
		})
	}
}

// TestRenewalsAfterADiscount checks that a coupon lowers the payments for its duration.
func TestRenewalsAfterADiscount(t *testing.T) {
	for _, tc := range []struct {
		name   string
		coupon lyceum.Coupon
		prices []lyceum.Minor // of the first payment and of two renewals
		early  time.Duration  // before they are due
	}{
		{"once", lyceum.Coupon{Percent: some(0.5), Duration: some(lyceum.ForOnce)}, []lyceum.Minor{350, 700, 700}, 0},
		{"two months", lyceum.Coupon{Percent: some(0.5), Duration: some(lyceum.ForMonths), Months: some(int32(2))}, []lyceum.Minor{350, 350, 700}, 0},
		{"for good", lyceum.Coupon{Amount: some(lyceum.Minor(100)), Currency: some(lyceum.Currency("USD")), Duration: some(lyceum.ForForever)}, []lyceum.Minor{600, 600, 600}, 0},
		{"all of it for good", lyceum.Coupon{Percent: some(1.0), Duration: some(lyceum.ForForever)}, []lyceum.Minor{0, 0, 0}, 0},
		{"all of it once, after the trial that begins with 0", lyceum.Coupon{Percent: some(1.0), Duration: some(lyceum.ForOnce)}, []lyceum.Minor{0, 0, 700}, 0},
		{"two months, paid a little early", lyceum.Coupon{Percent: some(0.5), Duration: some(lyceum.ForMonths), Months: some(int32(2))}, []lyceum.Minor{350, 350, 700}, time.Hour},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBooks(t)
			tc.coupon.ID = 2
			storetest.Write(t, b.store, b.school, func(tx lyceum.Tx) error { _, err := tx.Coupons.Save(tx, tc.coupon); return err })
			d := b.sell(t, sales.NewSale{User: 1, Plan: 6, Coupon: some(lyceum.CouponID(2))})
			got := []lyceum.Minor{d.Transactions[0].FinalPrice}
			for n := range 2 {
				b.now = later(d.CreatedAt, n+1).Add(-tc.early)
				r, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: d.ID})
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, r.FinalPrice)
			}
			if !slices.Equal(got, tc.prices) {
				t.Errorf("%v, want %v", got, tc.prices)
			}
		})
	}
}

// TestRenewalInTheSameSecond pays for the next period in the second of the purchase, as happens
// while a clock stands still: a coupon for the first payment does not lower it.
func TestRenewalInTheSameSecond(t *testing.T) {
	b := newBooks(t)
	storetest.Write(t, b.store, b.school, func(tx lyceum.Tx) error {
		_, err := tx.Coupons.Save(tx, lyceum.Coupon{ID: 2, Percent: some(0.5), Duration: some(lyceum.ForOnce)})
		return err
	})
	d := b.sell(t, sales.NewSale{User: 1, Plan: 6, Coupon: some(lyceum.CouponID(2))})
	b.now = d.CreatedAt
	r, err := b.service.Renew(t.Context(), b.by(), sales.Renewal{Sale: d.ID})
	if err != nil || r.FinalPrice != 700 {
		t.Errorf("the second payment is %d, %v; want 700", r.FinalPrice, err)
	}
}

// TestRefundReturnsSeatAndUse checks that a full refund does, and nothing less, even if the
// school keeps the learner enrolled.
func TestRefundReturnsSeatAndUse(t *testing.T) {
	for _, then := range []lyceum.Consequence{lyceum.Unenroll, lyceum.Keep} {
		t.Run(string(then), func(t *testing.T) {
			b := newBooks(t)
			policy := lyceum.DefaultSalePolicy()
			policy.OnRefund = then
			if err := b.configure(t.Context(), policy, lyceum.UTC); err != nil {
				t.Fatal(err)
			}
			storetest.Write(t, b.store, b.school, func(tx lyceum.Tx) error {
				_, err := tx.Coupons.Save(tx, lyceum.Coupon{ID: 2, Percent: some(0.5), Available: some(int32(1))})
				return err
			})
			n := sales.NewSale{User: 1, Plan: 7, Coupon: some(lyceum.CouponID(2))}
			d := b.sell(t, n)
			payment := d.Transactions[0].ID
			n.User = 2
			for _, amount := range []lyceum.Minor{20, 30} {
				if _, err := b.service.Record(t.Context(), b.by(), n); lyceum.Public(err).Code != "sold_out" {
					t.Fatalf("before %d went back: %v", amount, err)
				}
				if _, err := b.service.Refund(t.Context(), b.by(), sales.Refund{Transaction: payment, Amount: some(amount)}); err != nil {
					t.Fatal(err)
				}
			}
			b.sell(t, n)
			b.healthy(t, b.store)
		})
	}
}

// TestSalesReadOnlyTheLimitsTheyHave checks that a coupon costs one query, and its limit
// another.
func TestSalesReadOnlyTheLimitsTheyHave(t *testing.T) {
	var queries atomic.Int64
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{Trace: func(text string) {
		if strings.HasPrefix(text, "SELECT") {
			queries.Add(1)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	b := openBooks(t, store)
	storetest.Write(t, store, b.school, func(tx lyceum.Tx) error {
		_, err := tx.Coupons.Save(tx, lyceum.Coupon{ID: 2, Percent: some(0.5)}, lyceum.Coupon{ID: 3, Percent: some(0.5), Available: some(int32(100))})
		return err
	})
	cost := func(coupon lyceum.Opt[lyceum.CouponID]) int64 {
		before := queries.Load()
		b.sell(t, sales.NewSale{User: 1, Plan: 3, Coupon: coupon, Reference: some(fmt.Sprint("ch_", before))})
		return queries.Load() - before
	}
	none := lyceum.None[lyceum.CouponID]()
	cost(none) // enrolls the buyer, which the later ones do not
	plain := cost(none)
	for _, tc := range []struct {
		name string
		cost int64
		more int64
	}{
		{"another sale without a limit", cost(none), 0},
		{"with a coupon", cost(some(lyceum.CouponID(2))), 1},
		{"with a coupon that has a limit", cost(some(lyceum.CouponID(3))), 2},
	} {
		if tc.cost != plain+tc.more {
			t.Errorf("%s: %d queries, want %d", tc.name, tc.cost, plain+tc.more)
		}
	}
	t.Logf("%d queries", plain)
}
