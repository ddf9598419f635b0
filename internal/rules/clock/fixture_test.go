package clock_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/clock"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// begin is the initial time of the clocks in these tests.
var begin = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// sandbox is a school with a clock to move. Its plans are 1: monthly, 10.00 USD, course 1; 2:
// course 2, once, for 6 months; 3: monthly, with three payments.
type sandbox struct {
	store    lyceum.Store
	clock    *clock.Clock
	moves    *clock.Service
	sales    *sales.Service
	school   lyceum.SchoolID
	log      []string      // references of payments and failed payments
	interval func()        // called before each payment
	refused  lyceum.SaleID // whose payments cannot be recorded; 0 for none
}

// openSandbox creates a sandbox, or continues with the one in the store.
func openSandbox(tb testing.TB, store lyceum.Store) *sandbox {
	tb.Helper()
	b := &sandbox{store: store, interval: func() {}}
	schools, err := store.FindSchools(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	if len(schools) == 0 {
		b.school = makeSchool(tb, store)
	} else {
		b.school = schools[0].ID
	}
	b.clock, err = clock.Kept(store.In(tb.Context(), b.school), time.Now, lyceum.Some(begin))
	if err != nil {
		tb.Fatal(err)
	}
	lessons := learning.New(store, b.clock.Now)
	b.sales = sales.New(store, b.clock.Now, lessons, people.New(store, b.clock.Now))
	b.moves = clock.New(b.clock, clock.Options{
		Store: store, Log: slog.New(slog.DiscardHandler), Rest: func() func() { return func() {} },
		Works: map[lyceum.Waiting]clock.Work{
			lyceum.AccessEnd: lessons.Expire, lyceum.PeriodEnd: b.sales.EndPeriods, lyceum.Lapse: b.sales.Lapse,
			lyceum.OrderAbandonment: b.sales.Abandon,
		},
		Settle: lessons.Settle,
		Deliver: func(context.Context, lyceum.SchoolID) (clock.Delivered, error) {
			return clock.Delivered{}, nil
		},
		Provider: &clock.Provider{
			Store: store, Seed: 1,
			Renew: func(ctx context.Context, by lyceum.By, sale *lyceum.Sale, reference string) (bool, error) {
				b.interval()
				b.log = append(b.log, reference)
				if sale.ID == b.refused {
					return false, errors.New("refused")
				}
				_, err := b.sales.Renew(ctx, by, sales.Renewal{Sale: sale.ID, Reference: lyceum.Some(reference)})
				return true, err
			},
			Fail: func(_ context.Context, _ lyceum.By, f clock.Failure) error {
				b.log = append(b.log, "failed "+f.Reference)
				return nil
			},
		},
	})
	tb.Cleanup(b.moves.Close)
	return b
}

func makeSchool(tb testing.TB, store lyceum.Store) lyceum.SchoolID {
	tb.Helper()
	school, err := store.CreateSchool(tb.Context(), lyceum.School{Name: "Sandbox", CreatedAt: begin}, "test")
	if err != nil {
		tb.Fatal(err)
	}
	course := func(id lyceum.CourseID) lyceum.Opt[lyceum.CourseID] { return lyceum.Some(id) }
	month, one := lyceum.Some("month"), lyceum.Some[int32](1)
	err = store.Write(tb.Context(), lyceum.Stamp{School: school.ID, At: begin, Actor: "test"}, func(tx lyceum.Tx) error {
		_, e1 := tx.Courses.Save(tx, []lyceum.Course{
			{ID: 1, Name: "Pottery", CreatedAt: begin, UpdatedAt: begin}, {ID: 2, Name: "Glass", CreatedAt: begin, UpdatedAt: begin},
		}...)
		_, e2 := tx.PricingPlans.Save(tx, []lyceum.PricingPlan{
			{ID: 1, CourseID: course(1), Name: "Monthly", Price: 1000, Currency: "USD", Frequency: lyceum.Subscription, BillingInterval: month, BillingIntervalCount: one, CreatedAt: begin, UpdatedAt: begin},
			{ID: 2, CourseID: course(2), Name: "Half a year", Price: 3000, Currency: "USD", Frequency: lyceum.OneTimePayment, AccessLimitInterval: month, AccessLimitDuration: lyceum.Some[int32](6), CreatedAt: begin, UpdatedAt: begin},
			{ID: 3, CourseID: course(1), Name: "Three", Price: 700, Currency: "USD", Frequency: lyceum.PaymentPlan, BillingInterval: month, BillingIntervalCount: one, Payments: lyceum.Some[int32](3), CreatedAt: begin, UpdatedAt: begin},
		}...)
		return errors.Join(e1, e2)
	})
	if err != nil {
		tb.Fatal(err)
	}
	return school.ID
}

func (b *sandbox) by() lyceum.By { return lyceum.By{School: b.school, Actor: "test"} }

// sell sells a plan to n new users.
func (b *sandbox) sell(tb testing.TB, plan lyceum.PricingPlanID, n int) []lyceum.SaleID {
	tb.Helper()
	ids := make([]lyceum.SaleID, n)
	for i := range ids {
		var user lyceum.User
		stamp := lyceum.Stamp{School: b.school, At: b.clock.Now(), Actor: "test"}
		err := b.store.Write(tb.Context(), stamp, func(tx lyceum.Tx) (err error) {
			if user.ID, err = tx.Users.NextID(tx); err != nil {
				return err
			}
			user.Email, user.Role, user.CreatedAt = fmt.Sprintf("u%d@example.com", user.ID), lyceum.Student, b.clock.Now()
			_, err = tx.Users.Save(tx, user)
			return err
		})
		if err != nil {
			tb.Fatal(err)
		}
		d, err := b.sales.Record(tb.Context(), b.by(), sales.NewSale{User: user.ID, Plan: plan})
		if err != nil {
			tb.Fatal(err)
		}
		ids[i] = d.Sale.ID
	}
	return ids
}

// move moves the clock.
func (b *sandbox) move(tb testing.TB, d clock.Distance) clock.Moved {
	tb.Helper()
	m, err := b.moves.Move(tb.Context(), b.by(), d)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func days(n int) clock.Distance {
	return clock.Distance{By: lyceum.Some(clock.Span{Count: n, Unit: "day"})}
}

// openStore opens an empty SQLite store that does not wait for the disk.
func openStore(tb testing.TB) lyceum.Store {
	tb.Helper()
	store, err := sqlstore.Open(tb.Context(), tb.TempDir(), sqlstore.Options{Synchronous: sqlstore.Off})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = store.Close() })
	return store
}

// onBothEngines runs a test with an empty store of each engine.
func onBothEngines(t *testing.T, run func(*testing.T, lyceum.Store)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); run(t, openStore(t)) })
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		store, err := sqlstore.OpenPostgres(t.Context(), storetest.Postgres(t), sqlstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		run(t, store)
	})
}
