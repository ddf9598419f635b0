package access_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

func openPostgres(t *testing.T) lyceum.Store {
	t.Helper()
	store, err := sqlstore.OpenPostgres(t.Context(), storetest.Postgres(t), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// watchedTallies counts the statements, and can be broken.
type watchedTallies struct {
	lyceum.Tallies

	statements atomic.Int64
	broken     atomic.Bool
	stuck      chan struct{} // closed: it responds again; nil: it is not stuck
}

func (w *watchedTallies) Count(ctx context.Context, most int64, rows []lyceum.Tally) ([]lyceum.Tallied, error) {
	w.statements.Add(1)
	if w.stuck != nil {
		<-w.stuck
	}
	if w.broken.Load() {
		return nil, lyceum.Errorf(lyceum.Unavailable, "the database is down")
	}
	return w.Tallies.Count(ctx, most, rows)
}

func (w *watchedTallies) GiveBack(ctx context.Context, rows []lyceum.Tally) error {
	w.statements.Add(1)
	return w.Tallies.GiveBack(ctx, rows)
}

// TestR21SharedLimit checks that the maximum number of processes allow what a single one does,
// within a tenth, however the callers are distributed, and seldom query the database.
// LYCEUM_LIMITS=1 prints the table for larger limits too.
func TestR21SharedLimit(t *testing.T) {
	t.Parallel()
	store := openPostgres(t)
	limits := []int64{3, 600}
	if os.Getenv("LYCEUM_LIMITS") != "" {
		limits = []int64{1, 3, 60, 600, 6000, 60000}
	}
	spreads := map[string]func(i, n, processes int) int{
		"evenly":          func(i, _, processes int) int { return i % processes },
		"most to one":     func(i, _, processes int) int { return min(i%20, processes-1) },
		"one by one":      func(i, n, processes int) int { return i * processes / n },
		"little at first": func(i, n, processes int) int { return map[bool]int{true: i % processes, false: 0}[i < n/20] },
	}
	school := lyceum.SchoolID(0)
	for _, limit := range limits {
		for _, processes := range []int{1, 2, 4} {
			for name, spread := range spreads {
				school++
				own := school
				t.Run(fmt.Sprint(limit, " ", processes, " ", name), func(t *testing.T) {
					allowed, statements := sharedMinute(t, store, own, limit, processes, spread)
					t.Logf("%d of %d, %d statements", allowed, limit, statements)
					if allowed < limit-limit/10 || allowed > limit+limit/10 {
						t.Errorf("%d requests in a minute, want %d within a tenth", allowed, limit)
					}
					if processes == 1 && allowed != limit {
						t.Errorf("one process allows %d, want %d", allowed, limit)
					}
				})
			}
		}
	}
}

// sharedMinute sends twice the limit in one minute, from 100 callers.
func sharedMinute(
	t *testing.T, store lyceum.Store, school lyceum.SchoolID, limit int64, processes int, spread func(i, n, processes int) int,
) (allowed, statements int64) {
	clock := storetest.NewClock(storetest.Begin.Truncate(time.Minute))
	tallies := &watchedTallies{Tallies: store.Tallies()}
	limiters := make([]*access.Limiter, processes)
	for i := range limiters {
		limiters[i] = access.NewLimiter(limit, clock.Now).Share(tallies)
	}
	const seconds, callers = 50, 100
	n := int(2*limit) + seconds*processes
	var next, passed atomic.Int64
	for second := range seconds {
		until := int64(n * (second + 1) / seconds)
		var group sync.WaitGroup
		for range callers {
			group.Go(func() {
				for i := next.Add(1) - 1; i < until; i = next.Add(1) - 1 {
					l := limiters[spread(int(i), n, processes)]
					quota, err := l.Count(t.Context(), access.Bucket{School: school})
					for lyceum.KindOf(err) == lyceum.Unavailable && err != nil { // the machine is busy
						quota, err = l.Count(t.Context(), access.Bucket{School: school})
					}
					if err != nil {
						t.Error(err)
					}
					if err == nil && !quota.Exceeded {
						passed.Add(1)
					}
				}
			})
		}
		group.Wait()
		next.Store(until)
		for _, l := range limiters {
			if err := l.Settle(t.Context(), false); err != nil {
				t.Error(err)
			}
		}
		clock.Pass(time.Second)
	}
	return passed.Load(), tallies.statements.Load()
}

// TestSharedLimitOfWhoStops checks that the others get what a process has when it stops, and
// that a few requests cost no statement.
func TestSharedLimitOfWhoStops(t *testing.T) {
	t.Parallel()
	store := openPostgres(t)
	clock := storetest.NewClock(storetest.Begin.Truncate(time.Minute))
	tallies := &watchedTallies{Tallies: store.Tallies()}
	first, second := access.NewLimiter(1000, clock.Now).Share(tallies), access.NewLimiter(1000, clock.Now).Share(tallies)
	count := func(l *access.Limiter) access.Quota {
		t.Helper()
		quota, err := l.Count(t.Context(), ours)
		if err != nil {
			t.Fatal(err)
		}
		return quota
	}
	for range 5 {
		count(first)
	}
	if n := tallies.statements.Load(); n > 0 {
		t.Errorf("five requests took %d statements", n)
	}
	for range 25 {
		count(first)
	}
	if err := first.Settle(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	allowed := 0
	for !count(second).Exceeded {
		allowed++
	}
	if allowed < 950 || allowed > 980 {
		t.Errorf("after the other one stopped with 30 used, %d are allowed, want about 970", allowed)
	}
	clock.Pass(time.Minute)
	if quota := count(second); quota.Exceeded || quota.Remaining != 999 {
		t.Errorf("in the next minute: %+v", quota)
	}
}

// TestSharedLimitWithoutDatabase checks that a process continues for a hundredth of the limit,
// then fails with Unavailable, and does not wait.
func TestSharedLimitWithoutDatabase(t *testing.T) {
	t.Parallel()
	store := openPostgres(t)
	for name, stuck := range map[string]chan struct{}{"it is down": nil, "it does not answer": make(chan struct{})} {
		clock := storetest.NewClock(storetest.Begin)
		tallies := &watchedTallies{Tallies: store.Tallies(), stuck: stuck}
		tallies.broken.Store(stuck == nil)
		l := access.NewLimiter(1000, clock.Now).Share(tallies)
		count := func() (err error) { _, err = l.Count(t.Context(), ours); return err }
		for i := range 10 {
			if err := count(); err != nil {
				t.Errorf("%s: request %d: %v", name, i, err)
			}
		}
		wantKind(t, count(), lyceum.Unavailable)
		tallies.broken.Store(false)
		if stuck != nil {
			close(stuck)
		}
		if !storetest.Await(func() bool { return count() == nil }) {
			t.Errorf("%s: and never again", name)
		}
	}
}
