package access

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Bucket is what requests are counted by: a school, one of its OAuth apps that requests tokens,
// or, for a request that belongs to neither, the address it came from.
type Bucket struct {
	School lyceum.SchoolID
	App    lyceum.OAuthAppID // 0: the school itself
	From   netip.Prefix
}

// BucketOf returns the bucket of an address that belongs to no school. An IPv6 client commonly
// has a whole /64.
func BucketOf(from netip.Addr) Bucket {
	bits := 32
	if from = from.Unmap(); from.Is6() {
		bits = 64
	}
	prefix, _ := from.WithZone("").Prefix(bits) // fails only without an address: those share one bucket
	return Bucket{From: prefix}
}

// Quota is the state of a bucket in the current minute.
type Quota struct {
	Limit     int64
	Remaining int64
	Reset     int // seconds until the next minute, from 1 to 60
	Exceeded  bool
}

// Limiter counts requests per minute of the clock. With a limit of zero it counts nothing. It
// is safe for concurrent use.
type Limiter struct {
	limit int64
	clock func() time.Time
	parts *parts // of the count shared by all processes; nil: this process counts on its own

	mu     sync.Mutex
	minute time.Time
	used   map[Bucket]int64
	saved  map[lyceum.SchoolID]int64 // what Windows last returned
}

// NewLimiter returns a limiter that allows each bucket perMinute requests.
func NewLimiter(perMinute int64, clock func() time.Time) *Limiter {
	return &Limiter{limit: perMinute, clock: clock, used: map[Bucket]int64{}, saved: map[lyceum.SchoolID]int64{}}
}

// Share makes the limit apply to all processes that count in the same tallies; with nil, it
// stays per process. It must be called before the limiter is used.
func (l *Limiter) Share(tallies lyceum.Tallies) *Limiter {
	if tallies != nil {
		l.parts = newParts(l.limit, l.clock, tallies)
	}
	return l
}

// Count counts one request. It fails with Unavailable if the count is shared and the database
// does not respond.
func (l *Limiter) Count(ctx context.Context, b Bucket) (Quota, error) {
	if l.parts != nil {
		return l.parts.count(ctx, b)
	}
	return l.Take(b), nil
}

// Settle returns the unused part that this process has of the shared limit, or all of it if the
// process stops.
func (l *Limiter) Settle(ctx context.Context, stops bool) error {
	if l.parts == nil {
		return nil
	}
	return l.parts.settle(ctx, stops)
}

// Enabled reports whether there is a limit.
func (l *Limiter) Enabled() bool { return l.limit > 0 }

// Take counts one request, in this process only.
func (l *Limiter) Take(b Bucket) Quota {
	now := l.clock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(now)
	left := l.minute.Add(time.Minute).Sub(now)
	quota := Quota{Limit: l.limit, Reset: secondsOf(left)}
	if l.used[b] >= l.limit {
		quota.Exceeded = true
		return quota
	}
	l.used[b]++
	quota.Remaining = l.limit - l.used[b]
	return quota
}

// secondsOf returns the rest of a minute in whole seconds, from 1 to 60.
func secondsOf(left time.Duration) int { return int(max(1, min((left+time.Second-1)/time.Second, 60))) }

// turn starts a new minute when the clock has left the old one. If the clock is set back into
// the previous minute, the current one continues, so that a small correction gives nobody a
// second minute; if it is set back further, counting restarts, so that nobody is rejected for
// longer than two minutes.
func (l *Limiter) turn(now time.Time) {
	if minute := now.Truncate(time.Minute); minute.After(l.minute) || now.Before(l.minute.Add(-time.Minute)) {
		l.minute = minute
		clear(l.used)
		clear(l.saved)
	}
}

// Windows returns the schools' counts of the current minute that changed since the last call,
// so that a restart does not start the minute over.
func (l *Limiter) Windows() []lyceum.RateWindow {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(l.clock())
	var list []lyceum.RateWindow
	for b, used := range l.used {
		if b.School != 0 && b.App == 0 && l.saved[b.School] != used {
			l.saved[b.School] = used
			list = append(list, lyceum.RateWindow{School: b.School, Start: l.minute, Used: used})
		}
	}
	return list
}

// Minute returns the start of the current minute.
func (l *Limiter) Minute() time.Time { return l.clock().Truncate(time.Minute) }

// Resume loads the counts of the current minute that were saved before.
func (l *Limiter) Resume(windows []lyceum.RateWindow) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(l.clock())
	for _, w := range windows {
		if w.Start.Equal(l.minute) {
			l.used[Bucket{School: w.School}] += w.Used
			l.saved[w.School] = l.used[Bucket{School: w.School}]
		}
	}
}
