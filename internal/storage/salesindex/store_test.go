package salesindex_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

const enough = 1 << 30

func openSQLite(t *testing.T) lyceum.Store {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func openPostgres(t *testing.T) lyceum.Store { return samePostgres(t, storetest.Postgres(t)) }

func samePostgres(t *testing.T, address string) lyceum.Store {
	t.Helper()
	store, err := sqlstore.OpenPostgres(t.Context(), address, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// over returns an indexed store that is closed after the test.
func over(t *testing.T, store lyceum.Store, o salesindex.Options) *salesindex.Store {
	t.Helper()
	s := salesindex.Over(store, o)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// settled is a store whose every list is served from an index.
type settled struct {
	*salesindex.Store

	t testing.TB
}

func (s settled) FindTransactions(ctx context.Context, id lyceum.SchoolID, f lyceum.TransactionFilter, o lyceum.Order, p lyceum.Page) (lyceum.TransactionListing, error) {
	s.Settle(s.t, id)
	return s.Store.FindTransactions(ctx, id, f, o, p)
}

func (s settled) In(ctx context.Context, id lyceum.SchoolID) lyceum.View {
	s.Settle(s.t, id)
	return s.Store.In(ctx, id)
}

// TestSuite runs the suite for stores that serve lists.
func TestSuite(t *testing.T) {
	storetest.Lists(t, func(t *testing.T) lyceum.Store {
		return settled{over(t, openSQLite(t), salesindex.Options{Memory: enough}), t}
	})
}

// await waits until a condition is true.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	if !storetest.Await(is) {
		t.Fatalf("never: %s", what)
	}
}

func save(sales ...lyceum.Transaction) func(lyceum.Tx) error {
	return func(tx lyceum.Tx) error {
		_, err := tx.Transactions.Save(tx, sales...)
		return err
	}
}

// same compares an indexed store with another one, using some of all combinations of filters.
func same(t *testing.T, indexed, other lyceum.Store, school lyceum.SchoolID, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	hour := func() time.Time { return storetest.Begin.Add(time.Duration(r.IntN(400)) * time.Hour) }
	all := filters(hour, r.Int32N)
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, f := range all[:60] {
		page := lyceum.Page{Number: 1 + r.Int32N(9), Size: []int32{1, 20, 100}[r.IntN(3)]}
		order := lyceum.Order(r.IntN(2))
		want, err := other.FindTransactions(t.Context(), school, f, order, page)
		if err != nil {
			t.Fatal(err)
		}
		got, err := indexed.FindTransactions(t.Context(), school, f, order, page)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want.All(), got.All()); diff != "" || got.Total != want.Total {
			t.Fatalf("filter %+v order %d page %+v: a total of %d, want %d (-store +index):\n%s", f, order, page, got.Total, want.Total, diff)
		}
	}
}

// TestOwnChangesAreSeenAtOnce reads immediately after each write, during concurrent writes.
func TestOwnChangesAreSeenAtOnce(t *testing.T) {
	for engine, open := range map[string]storetest.Opener{"sqlite": openSQLite, "postgres": openPostgres} {
		t.Run(engine, func(t *testing.T) {
			s := over(t, open(t), salesindex.Options{Memory: enough})
			school := storetest.MakeSchool(t, s)
			sales, _ := storetest.Ledger(t, s, school, 5, 300)
			s.Settle(t, school)
			var next atomic.Int32
			next.Store(1000)
			var writers sync.WaitGroup
			for range 8 {
				writers.Go(func() {
					for range 25 {
						sale := sales[0]
						sale.ID = lyceum.TransactionID(next.Add(1))
						sale.UserID = sales[int(sale.ID)%len(sales)].UserID
						storetest.Write(t, s, school, save(sale))
						found := false
						f := lyceum.TransactionFilter{UserID: lyceum.Some(sale.UserID)}
						v := s.In(t.Context(), school)
						err := v.Transactions.Each(v, lyceum.TransactionQuery{TransactionFilter: f}, func(x *lyceum.Transaction) error { found = found || *x == sale; return nil })
						if err != nil || !found {
							t.Errorf("sale %d is not in the list: %v", sale.ID, err)
						}
					}
				})
			}
			writers.Wait()
			same(t, s, s.Store, school, 3)
			if stats := s.Stats(); stats.Hits < 200 || stats.Schools != 1 || stats.Sales != 500 || stats.Bytes == 0 {
				t.Errorf("%+v", stats)
			}
		})
	}
}

// TestTwoProcesses checks that the changes of one process soon appear in the other's list.
func TestTwoProcesses(t *testing.T) {
	address := storetest.Postgres(t)
	var both [2]*salesindex.Store
	for i := range both {
		both[i] = over(t, samePostgres(t, address), salesindex.Options{Memory: enough})
	}
	school := storetest.MakeSchool(t, both[0])
	sales, _ := storetest.Ledger(t, both[0], school, 9, 600)
	for _, s := range both {
		s.Settle(t, school)
	}
	var writers sync.WaitGroup
	for i, s := range both {
		for n := range 4 {
			writers.Go(func() {
				r := rand.New(rand.NewPCG(uint64(i), uint64(n)))
				for range 40 {
					sale := sales[r.IntN(len(sales))]
					if sale.AmountRefunded = lyceum.Minor(r.IntN(3)) * sale.FinalPrice; r.IntN(2) == 0 {
						sale.ID = lyceum.TransactionID(10_000 + r.IntN(1000))
						sale.CreatedAt = sale.CreatedAt.Add(time.Duration(r.IntN(100)) * time.Hour)
					}
					storetest.Write(t, s, school, save(sale))
				}
			})
		}
	}
	writers.Wait()
	// The process that saved the last change has it; the other cannot be ahead of it.
	await(t, "both are at one version", func() bool { return version(t, both[0], school) == version(t, both[1], school) })
	for i, s := range both {
		before := s.Stats()
		same(t, s, s.Store, school, uint64(i))
		if after := s.Stats(); after.Misses != before.Misses {
			t.Errorf("process %d answered %d lists from the database", i, after.Misses-before.Misses)
		}
	}
	if version(t, both[0], school) == (lyceum.Version{}) {
		t.Error("what the database answers was compared")
	}
}

func version(t *testing.T, s lyceum.Store, school lyceum.SchoolID) lyceum.Version {
	t.Helper()
	listing, err := s.FindTransactions(t.Context(), school, lyceum.TransactionFilter{}, lyceum.NewestFirst, lyceum.Page{Number: 1, Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	return listing.Version
}

// TestCoursesOfPlans checks that the sales of a plan move with it to another course.
func TestCoursesOfPlans(t *testing.T) {
	s := over(t, openSQLite(t), salesindex.Options{Memory: enough})
	school := storetest.MakeSchool(t, s)
	sales, courses := storetest.Ledger(t, s, school, 5, 300)
	s.Settle(t, school)
	plan := sales[0].PricingPlanID
	var other lyceum.Opt[lyceum.CourseID]
	for _, c := range courses {
		if c != courses[plan] {
			other = c
		}
	}
	storetest.Write(t, s, school, func(tx lyceum.Tx) error {
		plans, err := tx.PricingPlans.Find(tx, plan)
		if err != nil {
			return err
		}
		p := plans[plan]
		p.CourseID = other
		_, err = tx.PricingPlans.Save(tx, p)
		return err
	})
	same(t, s, s.Store, school, 8)
}

// TestBounds checks that the database serves the list if an index has no room or cannot exist.
func TestBounds(t *testing.T) {
	for name, tc := range map[string]struct {
		memory int64
		spoil  func(*lyceum.Transaction)
	}{
		"no memory":             {memory: 0},
		"too little memory":     {memory: 1000},
		"an amount too large":   {memory: enough, spoil: func(x *lyceum.Transaction) { x.Charge = math.MaxInt32 + 1 }},
		"a time between":        {memory: enough, spoil: func(x *lyceum.Transaction) { x.CreatedAt = x.CreatedAt.Add(time.Millisecond) }},
		"a purchase in between": {memory: enough, spoil: func(x *lyceum.Transaction) { x.PurchasedAt = x.PurchasedAt.Add(time.Microsecond) }},
	} {
		t.Run(name, func(t *testing.T) {
			s := over(t, openSQLite(t), salesindex.Options{Memory: tc.memory})
			school := storetest.MakeSchool(t, s)
			sales, _ := storetest.Ledger(t, s, school, 5, 100)
			if tc.spoil != nil {
				tc.spoil(&sales[7])
				storetest.Write(t, s, school, save(sales[7]))
			}
			if tc.memory > 0 {
				s.Settle(t, school)
			}
			same(t, s, s.Store, school, 1)
			if stats := s.Stats(); stats.Hits > 0 || stats.Schools > 0 || (stats.Failures == 0) != (tc.memory == 0) {
				t.Errorf("%+v", stats)
			}
		})
	}
	t.Run("one that comes later", func(t *testing.T) {
		s := over(t, openSQLite(t), salesindex.Options{Memory: enough})
		school := storetest.MakeSchool(t, s)
		sales, _ := storetest.Ledger(t, s, school, 5, 100)
		s.Settle(t, school)
		sales[7].Charge = math.MinInt32 - 1
		storetest.Write(t, s, school, save(sales[7]))
		same(t, s, s.Store, school, 1)
		if stats := s.Stats(); stats.Schools > 0 {
			t.Errorf("%+v", stats)
		}
	})
}

// TestLeastAskedGoesFirst fills the memory with the indexes of several schools.
func TestLeastAskedGoesFirst(t *testing.T) {
	s := over(t, openSQLite(t), salesindex.Options{Memory: enough})
	var schools []lyceum.SchoolID
	for range 3 {
		id := storetest.MakeSchool(t, s)
		storetest.Ledger(t, s, id, 5, 400)
		schools = append(schools, id)
		s.Settle(t, id)
	}
	s.Settle(t, schools[0])
	taken := s.Stats().Bytes
	s.Shrink(taken - 1)
	if serving := s.Serving(); !slices.Equal(serving, []lyceum.SchoolID{schools[0], schools[2]}) {
		t.Errorf("schools %v answer, of %v the second should have gone", serving, schools)
	}
	s.Shrink(1)
	if serving := s.Serving(); len(serving) > 0 {
		t.Errorf("schools %v answer without memory", serving)
	}
	same(t, s, s.Store, schools[1], 1)
}

// broken is a store whose journal can be made unreadable.
type broken struct {
	lyceum.Store

	now   atomic.Bool
	short atomic.Bool // the journal ends with its first entry
}

var errBroken = errors.New("the line is cut")

func (b *broken) In(ctx context.Context, id lyceum.SchoolID) lyceum.View {
	return withJournal(b.Store.In(ctx, id), func(v lyceum.Reads, f lyceum.ChangeFilter) (lyceum.ChangeListing, error) {
		if b.now.Load() {
			return lyceum.ChangeListing{}, errBroken
		}
		if b.short.Load() {
			return lyceum.ChangeListing{Next: f.After, Last: 1}, nil
		}
		return v.FindChanges(f)
	})
}

// withJournal returns a view whose journal is read by find.
func withJournal(
	v lyceum.View, find func(lyceum.Reads, lyceum.ChangeFilter) (lyceum.ChangeListing, error),
) lyceum.View {
	v.Reads = journal{v.Reads, find}
	return v
}

type journal struct {
	lyceum.Reads

	find func(lyceum.Reads, lyceum.ChangeFilter) (lyceum.ChangeListing, error)
}

func (j journal) FindChanges(f lyceum.ChangeFilter) (lyceum.ChangeListing, error) {
	return j.find(j.Reads, f)
}

func (b *broken) LastEntries(ctx context.Context, ids []lyceum.SchoolID) (lyceum.JournalEnds, error) {
	if b.now.Load() {
		return lyceum.JournalEnds{}, errBroken
	}
	ends, err := b.Store.LastEntries(ctx, ids)
	if b.short.Load() {
		for id := range ends.Last {
			ends.Last[id] = lyceum.Entry{Number: 1}
		}
	}
	return ends, err
}

// TestBehind checks that an index does not serve while it cannot know what has changed.
func TestBehind(t *testing.T) {
	b := &broken{Store: openSQLite(t)}
	s := over(t, b, salesindex.Options{Memory: enough})
	school := storetest.MakeSchool(t, s)
	sales, _ := storetest.Ledger(t, s, school, 5, 100)
	s.Settle(t, school)
	b.now.Store(true)
	sales[3].AmountRefunded = sales[3].FinalPrice + 1
	storetest.Write(t, s, school, save(sales[3]))
	same(t, s, s.Store, school, 1)
	if serving := s.Serving(); len(serving) > 0 {
		t.Error("an index answers that is behind")
	}
	b.now.Store(false)
	await(t, "it comes back by itself", func() bool { return len(s.Serving()) > 0 })
	same(t, s, s.Store, school, 2)

	b.now.Store(true)
	await(t, "it notices without a write", func() bool { return len(s.Serving()) == 0 })

	b.now.Store(false)
	s.Settle(t, school)
	b.short.Store(true)
	await(t, "it notices another database in its place", func() bool { return len(s.Serving()) == 0 })
}

// TestManyChangesAtOnce checks that a backlog that is read in several parts becomes one version.
func TestManyChangesAtOnce(t *testing.T) {
	below := openSQLite(t)
	s := over(t, below, salesindex.Options{Memory: enough})
	school := storetest.MakeSchool(t, s)
	sales, _ := storetest.Ledger(t, s, school, 5, 100)
	s.Settle(t, school)
	var many []lyceum.Transaction
	for i := range 5000 {
		sale := sales[i%len(sales)]
		sale.ID = lyceum.TransactionID(1000 + i)
		sale.CreatedAt = sale.CreatedAt.Add(time.Duration(i%700) * time.Hour)
		many = append(many, sale)
	}
	totals := map[int64]bool{}
	var done atomic.Bool
	var reader sync.WaitGroup
	reader.Go(func() {
		for !done.Load() {
			listing, err := s.FindTransactions(t.Context(), school, lyceum.TransactionFilter{}, lyceum.NewestFirst, lyceum.Page{Number: 1, Size: 1})
			if err != nil {
				t.Error(err)
			}
			totals[listing.Total] = true
		}
	})
	storetest.Write(t, s, school, save(many...))
	done.Store(true)
	reader.Wait()
	for total := range totals {
		if total != 100 && total != 5100 {
			t.Errorf("a total of %d was seen, of a change from 100 to 5100", total)
		}
	}
	same(t, s, below, school, 4)
	if fmt.Sprint(s.Serving()) != fmt.Sprint([]lyceum.SchoolID{school}) {
		t.Error("the index does not answer")
	}
}

// onLog calls a function for each log message.
type onLog struct {
	slog.Handler

	call func(message string)
}

func (l onLog) Handle(_ context.Context, r slog.Record) error {
	l.call(r.Message)
	return nil
}

// TestStatsTellOneState checks that a serving index is not counted as being built, even while the
// goroutine that built it is still working.
func TestStatsTellOneState(t *testing.T) {
	var s *salesindex.Store
	reported := make(chan salesindex.Stats, 1)
	log := onLog{slog.NewTextHandler(io.Discard, nil), func(message string) {
		if message == "sales index ready" {
			reported <- s.Stats()
		}
	}}
	s = over(t, openSQLite(t), salesindex.Options{Memory: enough, Log: slog.New(log)})
	school := storetest.MakeSchool(t, s)
	storetest.Ledger(t, s, school, 5, 100)
	s.Settle(t, school)
	if stats := <-reported; stats.Schools != 1 || stats.Building != 0 || stats.Sales != 100 || stats.Behind != 0 {
		t.Errorf("%+v, want one school that answers and none that is built", stats)
	}
}
