package main

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestKillsDuringLapses uses a school that was not served while its subscriptions lapsed. The
// server that processes the lapses is killed repeatedly, after which the school must equal one
// whose server was not killed. LYCEUM_KILLS sets a higher number of kills, with at least 2,000
// subscriptions.
func TestKillsDuringLapses(t *testing.T) {
	t.Parallel()
	kills, subscriptions := 2, 200
	if n, err := strconv.Atoi(os.Getenv("LYCEUM_KILLS")); err == nil && n > kills {
		kills, subscriptions = n, max(2000, 40*n)
	}
	now := lyceum.Second(time.Now())
	for engine, place := range map[string]func(t *testing.T) string{
		"SQLite":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "data") },
		"PostgreSQL": func(t *testing.T) string { return storetest.Postgres(t) },
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			quiet := openClosedDown(t, place(t), now, subscriptions)
			quiet.lapse(t, 0)
			want := quiet.outcome(t)
			want.dated(t, quiet.sold)
			var done []int
			for schools := 0; len(done) < kills; schools++ {
				if schools == mostSchools {
					t.Fatalf("of %d schools all subscriptions had lapsed before the last kill", schools)
				}
				killed := openClosedDown(t, place(t), now, subscriptions)
				done = killed.lapse(t, kills)
				if diff := cmp.Diff(want, killed.outcome(t)); diff != "" {
					t.Errorf("(-not killed +killed):\n%s", diff)
				}
			}
			t.Logf("%d subscriptions, %d kills after so many lapses: %v; %d journal entries, 0 differences", subscriptions, len(done), done, len(want.Events))
		})
	}
}

// mostSchools is how many schools are tried: on a busy machine a kill may come after everything
// is done.
const mostSchools = 10

// closedDown is a school with subscriptions that lapsed while it was not served.
type closedDown struct {
	*shop

	db   *sql.DB
	sold []dueSale
	last int64 // the last entry before the lapses
}

// dueSale is a subscription that lapses at a given time, long ago or today.
type dueSale struct {
	id     lyceum.SaleID
	lapses time.Time
	recent bool
	keeps  bool // the buyer also bought the course permanently
}

// openClosedDown sells weekly subscriptions whose grace of 15 days was over before now.
func openClosedDown(t *testing.T, place string, now time.Time, n int) *closedDown {
	t.Helper()
	c := &closedDown{shop: openShop(t, place)}
	c.db = c.look(t)
	store, err := openStore(t.Context(), place, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	course := lyceum.Some(lyceum.CourseID(1))
	storetest.Write(t, store, c.school, func(tx lyceum.Tx) error {
		var users []lyceum.User
		for id := range lyceum.UserID(n) {
			users = append(users, lyceum.User{ID: id + 101, Email: fmt.Sprintf("learner%d@example.com", id), Role: lyceum.Student, CreatedAt: storetest.Begin})
		}
		_, e1 := tx.Users.Save(tx, users...)
		_, e2 := tx.PricingPlans.Save(tx, lyceum.PricingPlan{
			ID: 2, CourseID: course, Name: "Weekly", Price: 500, Currency: "USD", Frequency: lyceum.Subscription,
			BillingInterval: lyceum.Some("week"), BillingIntervalCount: lyceum.Some(int32(1)), CreatedAt: storetest.Begin, UpdatedAt: storetest.Begin,
		})
		return errors.Join(e1, e2)
	})
	at := now
	clock := func() time.Time { return at }
	school := learning.New(store, clock)
	books := sales.New(store, clock, school, people.New(store, clock))
	if err := school.Expire(t.Context(), c.school); err != nil {
		t.Fatal(err)
	}
	const day = 24 * time.Hour
	for i := range n {
		s := dueSale{lapses: now.Add(-time.Hour - time.Duration(i)*time.Second), recent: i%2 == 0, keeps: i%5 == 0}
		if !s.recent {
			s.lapses = s.lapses.Add(-40 * day)
		}
		at = s.lapses.Add(-(7 + 15) * day)
		user := lyceum.UserID(i + 101)
		by := lyceum.By{School: c.school, Actor: "test"}
		sold, err := books.Record(t.Context(), by, sales.NewSale{User: user, Plan: 2})
		if err == nil && s.keeps {
			_, err = books.Record(t.Context(), by, sales.NewSale{User: user, Plan: 1})
		}
		if err != nil {
			t.Fatal(err)
		}
		s.id = sold.ID
		c.sold = append(c.sold, s)
	}
	c.last = c.count(t, "SELECT max(number) FROM journal")
	return c
}

// look opens the database for reading, bypassing the server.
func (s *shop) look(t *testing.T) *sql.DB {
	t.Helper()
	engine, address := "sqlite", "file:"+filepath.Join(s.place, sqlstore.FileName)+"?mode=ro"
	if sqlstore.IsPostgres(s.place) {
		engine, address = "pgx", s.place
	}
	db, err := sql.Open(engine, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (c *closedDown) count(t *testing.T, query string) (n int64) {
	t.Helper()
	if err := c.db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (c *closedDown) lapsed(t *testing.T) int {
	t.Helper()
	return int(c.count(t, "SELECT count(*) FROM sales WHERE end_reason = 'lapsed'"))
}

// lapse serves the school until each subscription has lapsed, and kills the server the given
// number of times in between. It returns how many had lapsed at each kill that did not come too
// late.
func (c *closedDown) lapse(t *testing.T, kills int) (done []int) {
	t.Helper()
	all := len(c.sold)
	for n := range kills {
		slice := (all - c.lapsed(t)) / (kills - n + 1)
		point := c.lapsed(t) + 1 + rand.IntN(max(1, slice))
		c.serve(t)
		if !await(func() bool { return c.lapsed(t) >= point }) {
			t.Fatal("nothing lapses")
		}
		c.server.kill(t)
		lapsed := c.lapsed(t)
		if lapsed == all {
			return done
		}
		done = append(done, lapsed)
	}
	c.serve(t)
	if !await(func() bool { return c.lapsed(t) == all }) {
		t.Fatal("they do not lapse")
	}
	c.server.kill(t)
	return done
}

// outcome is what the lapses left behind.
type outcome struct {
	Sales        map[lyceum.SaleID]lyceum.Sale
	Entitlements map[lyceum.EntitlementID]lyceum.Entitlement
	Enrollments  map[lyceum.EnrollmentID]lyceum.Enrollment
	Events       map[string]int
}

func (c *closedDown) outcome(t *testing.T) outcome {
	t.Helper()
	flag := "--data"
	if sqlstore.IsPostgres(c.place) {
		flag = "--database-url"
	}
	command(t, "check", "--deep", flag, c.place)
	store, err := openStore(t.Context(), c.place, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	v := store.In(t.Context(), c.school)
	o := outcome{
		Sales: map[lyceum.SaleID]lyceum.Sale{}, Entitlements: map[lyceum.EntitlementID]lyceum.Entitlement{},
		Enrollments: map[lyceum.EnrollmentID]lyceum.Enrollment{}, Events: map[string]int{},
	}
	e1 := v.Sales.Each(v, lyceum.SaleFilter{}, func(s *lyceum.Sale) error {
		sale := *s
		sale.UpdatedAt = time.Time{} // when the lapse was processed, not when it was due
		o.Sales[s.ID] = sale
		return nil
	})
	e2 := v.Entitlements.Each(v, lyceum.EntitlementFilter{}, func(e *lyceum.Entitlement) error { o.Entitlements[e.ID] = *e; return nil })
	e3 := v.Enrollments.Each(v, lyceum.EnrollmentFilter{}, func(e *lyceum.Enrollment) error { o.Enrollments[e.ID] = *e; return nil })
	entries, e4 := storetest.FindEntries(t.Context(), store, c.school, c.last, 1<<20)
	if err := errors.Join(e1, e2, e3, e4); err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		e := &entries[i]
		o.Events[fmt.Sprint(e.Type, " ", e.ObjectID, " ", e.Event.Value)]++
	}
	return o
}

// dated fails the test unless each subscription, and the access it gave, ended when its grace
// did, and webhooks are notified of it once if that was today.
func (o *outcome) dated(t *testing.T, sold []dueSale) {
	t.Helper()
	ended, enrolled := map[lyceum.SaleID]lyceum.Opt[time.Time]{}, map[lyceum.SaleID]lyceum.EnrollmentID{}
	for _, e := range o.Entitlements {
		ended[e.Sale.Value] = e.EndedAt
	}
	for _, e := range o.Enrollments {
		enrolled[e.Sale.Value] = e.ID
	}
	for _, s := range sold {
		sale, due := o.Sales[s.id], lyceum.Some(s.lapses)
		stops := o.Events[fmt.Sprint(lyceum.SaleUpdated, " ", s.id, " ", lyceum.SubscriptionCanceledEvent)]
		closes := o.Events[fmt.Sprint(lyceum.EnrollmentUpdated, " ", enrolled[s.id], " ", lyceum.EnrollmentDisabledEvent)]
		want := [2]int{}
		if s.recent {
			want[0] = 1
		}
		if s.recent && !s.keeps {
			want[1] = 1
		}
		if sale.EndReason.Value != lyceum.SaleLapsed || sale.EndedAt != due || ended[s.id] != due || want != [2]int{stops, closes} {
			t.Fatalf("%+v: %+v, its access ended %v, told %d and %d times", s, sale, ended[s.id], stops, closes)
		}
	}
}
