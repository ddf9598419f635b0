package access

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Bucket is what requests are counted by: a school, an OAuth app of it that asks
// for tokens, or for a request that belongs to none the address it came from.
type Bucket struct {
	School lyceum.SchoolID
	App    lyceum.OAuthAppID // 0: the school itself
	From   netip.Prefix
}

// BucketOf gives the bucket of an address that belongs to no school. An IPv6
// caller commonly holds a whole /64.
func BucketOf(from netip.Addr) Bucket {
	bits := 32
	if from = from.Unmap(); from.Is6() {
		bits = 64
	}
	prefix, _ := from.WithZone("").Prefix(bits) // fails for no address at all: one bucket for those
	return Bucket{From: prefix}
}

// Quota is what is left of a bucket's minute.
type Quota struct {
	Limit     int64
	Remaining int64
	Reset     int // seconds until the next minute, from 1 to 60
	Exceeded  bool
}

// Limiter counts requests by the calendar minute. A zero limit counts
// nothing. It is safe for concurrent use.
type Limiter struct {
	limit int64
	clock func() time.Time
	parts *parts // of what all processes share; nil: this one counts alone

	mu     sync.Mutex
	minute time.Time
	used   map[Bucket]int64
	saved  map[lyceum.SchoolID]int64 // what Windows gave last
}

// NewLimiter makes a limiter of perMinute requests a bucket.
func NewLimiter(perMinute int64, clock func() time.Time) *Limiter {
	return &Limiter{limit: perMinute, clock: clock, used: map[Bucket]int64{}, saved: map[lyceum.SchoolID]int64{}}
}

// Share makes the limit one of all processes that count in the same tallies; with nil
// it stays one of this process. It is called before the limiter is used.
func (l *Limiter) Share(tallies lyceum.Tallies) *Limiter {
	if tallies != nil {
		l.parts = newParts(l.limit, l.clock, tallies)
	}
	return l
}

// Count counts one request. It fails with Unavailable if the count is shared and the
// database does not answer.
func (l *Limiter) Count(ctx context.Context, b Bucket) (Quota, error) {
	if l.parts != nil {
		return l.parts.count(ctx, b)
	}
	return l.Take(b), nil
}

// Settle gives back what this process holds of the shared limit and does not use; all
// of it when it stops.
func (l *Limiter) Settle(ctx context.Context, stops bool) error {
	if l.parts == nil {
		return nil
	}
	return l.parts.settle(ctx, stops)
}

// Enabled tells whether there is a limit.
func (l *Limiter) Enabled() bool { return l.limit > 0 }

// Take counts one request, in this process alone.
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

// secondsOf is the rest of a minute in whole seconds, from 1 to 60.
func secondsOf(left time.Duration) int { return int(max(1, min((left+time.Second-1)/time.Second, 60))) }

// turn begins a new minute when the clock has left the old one. A clock that is
// set back into the minute before stays in the one that was reached, so that a
// small correction gives nobody a second minute; set back further it begins the
// count again, so that nobody is refused for longer than two minutes.
func (l *Limiter) turn(now time.Time) {
	if minute := now.Truncate(time.Minute); minute.After(l.minute) || now.Before(l.minute.Add(-time.Minute)) {
		l.minute = minute
		clear(l.used)
		clear(l.saved)
	}
}

// Windows gives the schools' counts of the running minute that changed since
// it was asked last, so that a restart does not begin the minute anew.
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

// Minute gives the beginning of the running minute.
func (l *Limiter) Minute() time.Time { return l.clock().Truncate(time.Minute) }

// Resume takes up the counts of the running minute that were kept before.
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
