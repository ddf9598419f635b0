package access_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// keepBooks runs the bookkeeping once.
func keepBooks(d *desk, limiter *access.Limiter) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	books := &access.Bookkeeper{Store: d.store, Keys: d.keys, OAuth: access.NewOAuth(d.store, d.clock.Now), Limiter: limiter, Log: slog.New(slog.DiscardHandler)}
	books.Run(ctx)
}

var ours, theirs = access.Bucket{School: 1}, access.Bucket{School: 2}

// take counts n requests and returns how many were accepted.
func take(l *access.Limiter, b access.Bucket, n int) (accepted int) {
	for range n {
		if !l.Take(b).Exceeded {
			accepted++
		}
	}
	return accepted
}

func TestR21LimiterCountsDown(t *testing.T) {
	clock := storetest.NewClock(storetest.Begin)
	l := access.NewLimiter(3, clock.Now)
	for i, want := range []access.Quota{
		{Limit: 3, Remaining: 2, Reset: 60},
		{Limit: 3, Remaining: 1, Reset: 60},
		{Limit: 3, Remaining: 0, Reset: 60},
		{Limit: 3, Remaining: 0, Reset: 60, Exceeded: true},
		{Limit: 3, Remaining: 0, Reset: 60, Exceeded: true},
	} {
		if got := l.Take(ours); got != want {
			t.Errorf("request %d: %+v, want %+v", i+1, got, want)
		}
	}
	if got := l.Take(theirs); got.Remaining != 2 || got.Exceeded {
		t.Errorf("another school: %+v", got)
	}
}

// Reset is the number of seconds until the next minute: 17 at second 43.
func TestR21Reset(t *testing.T) {
	for offset, want := range map[time.Duration]int{
		0: 60, 1: 60, time.Second - 1: 60, time.Second: 59, 43 * time.Second: 17, 43*time.Second + 1: 17, 43*time.Second + 999*time.Millisecond: 17,
		44*time.Second - 1: 17, 57 * time.Second: 3, 59 * time.Second: 1, time.Minute - 1: 1,
	} {
		clock := storetest.NewClock(storetest.Begin)
		clock.Pass(offset)
		if got := access.NewLimiter(1, clock.Now).Take(ours).Reset; got != want {
			t.Errorf("%v into the minute: %d, want %d", offset, got, want)
		}
	}
}

func TestR21LimiterInParallel(t *testing.T) {
	clock := storetest.NewClock(storetest.Begin)
	l := access.NewLimiter(100, clock.Now)
	var mu sync.Mutex
	var left []int64
	var group sync.WaitGroup
	for range 200 {
		group.Go(func() {
			quota := l.Take(ours)
			mu.Lock()
			defer mu.Unlock()
			if !quota.Exceeded {
				left = append(left, quota.Remaining)
			} else if quota.Remaining != 0 {
				t.Errorf("refused with %d left", quota.Remaining)
			}
		})
	}
	group.Wait()
	slices.Sort(left)
	for i, remaining := range left {
		if remaining != int64(i) {
			t.Fatalf("left after the accepted ones: %v", left)
		}
	}
	if len(left) != 100 {
		t.Errorf("%d accepted, want 100", len(left))
	}
}

func TestR21_R31_LimiterOverTime(t *testing.T) {
	// Each step moves the clock and counts 7 requests against a limit of 5.
	for _, tc := range []struct {
		name  string
		moves []time.Duration
		want  []int
	}{
		{"within the minute", []time.Duration{0, 30 * time.Second, 29*time.Second + 999*time.Millisecond}, []int{5, 0, 0}},
		{"the next minute", []time.Duration{0, time.Minute}, []int{5, 5}},
		{"the next minute begins on the clock's, not after the first request", []time.Duration{59 * time.Second, time.Second}, []int{5, 5}},
		{"much later", []time.Duration{0, 1000 * time.Hour}, []int{5, 5}},
		{"set back within the minute", []time.Duration{30 * time.Second, -10 * time.Second}, []int{5, 0}},
		{"set back into the minute before", []time.Duration{0, -time.Second}, []int{5, 0}},
		{"set back, and on to where it was", []time.Duration{0, -30 * time.Second, 30 * time.Second}, []int{5, 0, 0}},
		{"set back, and on to the next minute", []time.Duration{0, -30 * time.Second, 90 * time.Second}, []int{5, 0, 5}},
		{"set back into the minute before, for two minutes", []time.Duration{0, -time.Minute, time.Minute, time.Minute}, []int{5, 0, 0, 5}},
		{"set back further: nobody is refused until the clock is there again", []time.Duration{0, -61 * time.Second}, []int{5, 5}},
		{"set back by years", []time.Duration{0, -20_000 * time.Hour}, []int{5, 5}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			clock := storetest.NewClock(storetest.Begin)
			l := access.NewLimiter(5, clock.Now)
			for i, move := range tc.moves {
				clock.Pass(move)
				if got := take(l, ours, 7); got != tc.want[i] {
					t.Errorf("step %d: %d accepted, want %d", i+1, got, tc.want[i])
				}
				if reset := l.Take(ours).Reset; reset < 1 || reset > 60 {
					t.Errorf("step %d: reset is %d", i+1, reset)
				}
			}
		})
	}
}

func TestNoLimit(t *testing.T) {
	clock := storetest.NewClock(storetest.Begin)
	if access.NewLimiter(0, clock.Now).Enabled() || !access.NewLimiter(1, clock.Now).Enabled() {
		t.Error("a limit of 0 is one, or a limit of 1 is none")
	}
}

func TestBucketOf(t *testing.T) {
	for _, tc := range []struct {
		one, other string
		same       bool
	}{
		{"192.0.2.1", "192.0.2.1", true},
		{"192.0.2.1", "192.0.2.2", false},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"2001:db8::1", "2001:db8::ffff:1", true},        // one /64
		{"2001:db8:0:1::1", "2001:db8:0:2::1", false},    // two
		{"fe80::1%eth0", "fe80::1%eth1", true},           // a zone only matters on the server itself
		{"2001:db8::1", "192.0.2.1", false},              //
		{"::ffff:192.0.2.1", "::ffff:192.0.2.2", false},  //
		{"2001:db8::1", "2001:db8::ffff:ffff:0:1", true}, //
	} {
		one, other := access.BucketOf(netip.MustParseAddr(tc.one)), access.BucketOf(netip.MustParseAddr(tc.other))
		if (one == other) != tc.same {
			t.Errorf("%s and %s are counted as %v and %v", tc.one, tc.other, one, other)
		}
		if one.School != 0 || one == access.BucketOf(netip.Addr{}) {
			t.Errorf("%s is counted as %v", tc.one, one)
		}
	}
}

func TestR21WindowsAreOfSchoolsThatChanged(t *testing.T) {
	clock := storetest.NewClock(storetest.Begin)
	l := access.NewLimiter(5, clock.Now)
	take(l, ours, 2)
	take(l, access.BucketOf(netip.MustParseAddr("192.0.2.1")), 3)
	want := lyceum.RateWindow{School: 1, Start: storetest.Begin, Used: 2}
	if got := l.Windows(); !slices.Equal(got, []lyceum.RateWindow{want}) {
		t.Errorf("windows %v, want %v", got, want)
	}
	if got := l.Windows(); len(got) > 0 {
		t.Errorf("again %v", got)
	}
	take(l, ours, 9)
	want.Used = 5
	if got := l.Windows(); !slices.Equal(got, []lyceum.RateWindow{want}) {
		t.Errorf("then %v, want %v", got, want)
	}
	clock.Pass(time.Minute)
	if got := l.Windows(); len(got) > 0 {
		t.Errorf("a minute later %v", got)
	}
}

func TestR21RestartGoesOnCounting(t *testing.T) {
	d := newDesk(t)
	other := storetest.MakeSchool(t, d.store)
	us, them := access.Bucket{School: d.school}, access.Bucket{School: other}
	before := access.NewLimiter(100, d.clock.Now)
	d.clock.Pass(10 * time.Second)
	take(before, us, 60)
	take(before, them, 10)
	keepBooks(d, before)
	take(before, us, 10)
	keepBooks(d, before)

	restart := func() *access.Limiter {
		t.Helper()
		l := access.NewLimiter(100, d.clock.Now)
		if err := (&access.Bookkeeper{Store: d.store, Keys: d.keys, OAuth: access.NewOAuth(d.store, d.clock.Now), Limiter: l, Log: slog.New(slog.DiscardHandler)}).Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		return l
	}
	d.clock.Pass(20 * time.Second)
	after := restart()
	if accepted := take(after, us, 200); accepted != 30 {
		t.Errorf("%d accepted after the restart, want 30", accepted)
	}
	if accepted := take(after, them, 200); accepted != 90 {
		t.Errorf("%d of another school accepted after the restart, want 90", accepted)
	}
	keepBooks(d, after)
	if accepted := take(restart(), us, 200); accepted != 0 {
		t.Errorf("%d accepted after a second restart, want none", accepted)
	}
	d.clock.Pass(time.Minute)
	if accepted := take(restart(), us, 200); accepted != 100 {
		t.Errorf("%d accepted after a restart in the next minute, want 100", accepted)
	}
}

func TestResumeCountsWhatCameBeforeIt(t *testing.T) {
	clock := storetest.NewClock(storetest.Begin)
	l := access.NewLimiter(5, clock.Now)
	take(l, ours, 1)
	l.Resume([]lyceum.RateWindow{
		{School: 1, Start: storetest.Begin, Used: 2},
		{School: 2, Start: storetest.Begin.Add(-time.Minute), Used: 5}, // of another minute
	})
	if accepted := take(l, ours, 7); accepted != 2 {
		t.Errorf("%d accepted, want 2", accepted)
	}
	if accepted := take(l, theirs, 7); accepted != 5 {
		t.Errorf("%d of another school accepted, want 5", accepted)
	}
}

// TestBooksAreKeptEveryFewSeconds runs with fake time.
func TestBooksAreKeptEveryFewSeconds(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t, dir)
		keys, limiter := access.NewKeys(store, time.Now), access.NewLimiter(10, time.Now)
		school := storetest.MakeSchool(t, store)
		_, text, err := keys.Create(t.Context(), lyceum.By{School: school, Actor: "test"}, "reports", lyceum.Read, access.NewEntropy())
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		stopped := make(chan struct{})
		go func() {
			(&access.Bookkeeper{Store: store, Keys: keys, OAuth: access.NewOAuth(store, time.Now), Limiter: limiter, Log: slog.New(slog.DiscardHandler)}).Run(ctx)
			close(stopped)
		}()
		kept := func() (used int64, last lyceum.Opt[time.Time]) {
			t.Helper()
			windows, err := store.FindRateWindows(t.Context(), limiter.Minute())
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range windows {
				used += w.Used
			}
			list, err := keys.List(t.Context(), lyceum.By{School: school, Actor: "test"})
			if err != nil {
				t.Fatal(err)
			}
			return used, list[0].LastUsedAt
		}
		use := func() {
			t.Helper()
			caller, err := keys.Check(t.Context(), text)
			if err != nil {
				t.Fatal(err)
			}
			limiter.Take(access.Bucket{School: caller.School})
		}
		synctest.Wait()
		at := lyceum.Some(lyceum.Second(time.Now()))
		use()
		if used, last := kept(); used != 0 || last.Present {
			t.Errorf("at once %d and %v are kept", used, last)
		}
		<-time.After(5 * time.Second)
		synctest.Wait()
		if used, last := kept(); used != 1 || last != at {
			t.Errorf("after five seconds %d and %v are kept, want 1 and %v", used, last, at)
		}
		at = lyceum.Some(lyceum.Second(time.Now()))
		use()
		stop()
		<-stopped
		if used, last := kept(); used != 2 || last != at {
			t.Errorf("at the end %d and %v are kept, want 2 and %v", used, last, at)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestBooksThatCannotBeKeptAreAWarning(t *testing.T) {
	d := newDesk(t)
	_, text := d.issue(t, lyceum.Read)
	if _, err := d.keys.Check(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	if err := d.store.Close(); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	books := &access.Bookkeeper{
		Store: d.store, Keys: d.keys, OAuth: access.NewOAuth(d.store, d.clock.Now), Limiter: access.NewLimiter(5, d.clock.Now),
		Log: slog.New(slog.NewJSONHandler(&log, nil)),
	}
	books.Run(ctx)
	if !strings.Contains(log.String(), `"level":"WARN"`) || strings.Contains(log.String(), text[13:]) {
		t.Errorf("log: %s", log.String())
	}
}
