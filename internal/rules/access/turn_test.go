package access_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// lateTallies count at once, and return the results when answer is closed.
type lateTallies struct {
	lyceum.Tallies

	counted atomic.Int64
	answer  chan struct{}
}

func (l *lateTallies) Count(ctx context.Context, most int64, rows []lyceum.Tally) ([]lyceum.Tallied, error) {
	found, err := l.Tallies.Count(ctx, most, rows)
	l.counted.Add(1)
	<-l.answer
	return found, err
}

// TestR21SharedLimitAtTheTurnOfTheMinute checks that ten processes allow at most a tenth more
// than the limit in a minute that begins while each of them is waiting for a part of the
// minute before.
func TestR21SharedLimitAtTheTurnOfTheMinute(t *testing.T) {
	t.Parallel()
	const limit, processes = 1000, 10
	clock := storetest.NewClock(storetest.Begin.Truncate(time.Minute))
	tallies := &lateTallies{Tallies: openPostgres(t).Tallies(), answer: make(chan struct{})}
	limiters := make([]*access.Limiter, processes)
	for i := range limiters {
		limiters[i] = access.NewLimiter(limit, clock.Now).Share(tallies)
	}
	allowed := func(l *access.Limiter) bool {
		t.Helper()
		quota, err := l.Count(t.Context(), ours)
		if err != nil {
			t.Fatal(err)
		}
		return !quota.Exceeded
	}
	const alone = limit / 100 // requests that each process lets through without the database
	for _, l := range limiters {
		for range alone {
			allowed(l)
		}
	}
	if !storetest.Await(func() bool { return tallies.counted.Load() == processes }) {
		t.Fatalf("%d processes want a part", tallies.counted.Load())
	}
	clock.Pass(time.Minute)
	n := 0
	for _, l := range limiters {
		for range alone {
			if allowed(l) {
				n++
			}
		}
	}
	close(tallies.answer)
	for _, l := range limiters {
		for allowed(l) {
			n++
		}
	}
	if n < limit || n > limit+limit/10 {
		t.Errorf("%d requests in the minute, want %d and up to a tenth more", n, limit)
	}
}
