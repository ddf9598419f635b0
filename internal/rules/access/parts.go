package access

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

const (
	// leaseWait is how long a request waits for a part of the limit.
	leaseWait = time.Second
	// emptyPause is how long a process that found nothing left waits before it tries again, as
	// others may have returned what they did not use.
	emptyPause = time.Second
	// leasesAtOnce is how many parts one statement leases.
	leasesAtOnce = 256
	// creditShare is the divisor of the limit that gives how many requests a process lets
	// through in a minute without a lease, so that a few requests cost no statement and the
	// first ones do not wait. Up to ten processes exceed the limit by at most a tenth.
	creditShare = 100
)

// parts leases parts of each bucket's minute from the tallies that all processes share. A part
// is a hundredth of the limit at first, grows with usage, and is at most an eighth of what is
// left. It is safe for concurrent use.
type parts struct {
	limit, credit int64
	clock         func() time.Time
	tallies       lyceum.Tallies

	mu      sync.Mutex
	buckets map[Bucket]*part
	wanting []Bucket // buckets whose parts are to be leased
	leasing bool     // a goroutine is working on wanting
}

// part is what a process has of a bucket's minute.
type part struct {
	begin  time.Time     // of the minute
	given  int64         // leased from the tallies, all parts together
	used   int64         // by requests; if more than given, the rest is on credit
	credit int64         // used on credit
	all    int64         // leased or used by all processes, as of the last lease
	before int64         // used as of the last call of settle
	last   int64         // size of the last part leased
	empty  time.Time     // nothing is left until then
	ended  chan struct{} // closed when the lease in progress has ended; nil if there is none
	failed error         // the error of the last lease
}

func newParts(limit int64, clock func() time.Time, tallies lyceum.Tallies) *parts {
	return &parts{limit: limit, credit: limit / creditShare, clock: clock, tallies: tallies, buckets: map[Bucket]*part{}}
}

// count counts one request.
func (s *parts) count(ctx context.Context, b Bucket) (Quota, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var timer *time.Timer
	for {
		now := s.clock()
		p := s.of(b, now)
		if s.use(b, p) {
			return s.quota(p, now), nil
		}
		if now.Before(p.empty) {
			return Quota{Limit: s.limit, Reset: p.reset(now), Exceeded: true}, nil
		}
		ended := s.request(b, p)
		if timer == nil {
			timer = time.NewTimer(leaseWait)
			defer timer.Stop()
		}
		s.mu.Unlock()
		select {
		case <-ended:
		case <-timer.C:
			s.mu.Lock()
			return Quota{}, errNoCount
		case <-ctx.Done():
			s.mu.Lock()
			return Quota{}, errNoCount
		}
		s.mu.Lock()
		if p := s.buckets[b]; p != nil && p.failed != nil {
			return Quota{}, p.failed
		}
	}
}

var errNoCount = lyceum.Errorf(lyceum.Unavailable, "the database is busy, and the request could not be counted; "+
	"try again")

// use lets a request through if something is left, and requests more early enough that others
// need not wait.
func (s *parts) use(b Bucket, p *part) bool {
	left := p.given - p.used
	switch {
	case left > 0:
		if left <= p.last/4 {
			s.request(b, p)
		}
	case p.credit < s.credit && s.limit-p.all > s.limit/10:
		if p.credit++; p.credit*2 > s.credit {
			s.request(b, p)
		}
	default:
		return false
	}
	p.used++
	return true
}

// quota returns what is left for all processes, as far as this one is aware.
func (s *parts) quota(p *part, now time.Time) Quota {
	return Quota{Limit: s.limit, Remaining: max(0, s.limit-p.all+p.given-p.used), Reset: p.reset(now)}
}

func (p *part) reset(now time.Time) int { return secondsOf(p.begin.Add(time.Minute).Sub(now)) }

// of returns the process's part of a bucket's current minute.
func (s *parts) of(b Bucket, now time.Time) *part {
	p := s.buckets[b]
	switch {
	case p == nil:
		p = &part{begin: now.Truncate(time.Minute)}
		s.buckets[b] = p
	case p.over(now):
		*p = part{begin: now.Truncate(time.Minute), ended: p.ended}
	}
	return p
}

// over reports whether the part's minute is over. If the clock was set back, it is over once
// the clock is more than a minute before it.
func (p *part) over(now time.Time) bool {
	return !now.Before(p.begin.Add(time.Minute)) || now.Before(p.begin.Add(-time.Minute))
}

// request requests another part, unless one is being leased already.
func (s *parts) request(b Bucket, p *part) (ended <-chan struct{}) {
	if p.ended == nil {
		p.ended = make(chan struct{})
		s.wanting = append(s.wanting, b)
		if !s.leasing {
			s.leasing = true
			go s.lease()
		}
	}
	return p.ended
}

// lease leases parts until no bucket needs one. It does not run on behalf of a request, because
// the one that waited may have gone.
func (s *parts) lease() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.wanting) > 0 {
		n := min(leasesAtOnce, len(s.wanting))
		wanting := s.wanting[:n]
		s.wanting = s.wanting[n:]
		requesting, tallies := make([]*part, n), make([]lyceum.Tally, n)
		now := s.clock()
		for i, b := range wanting {
			p := s.of(b, now)
			requesting[i] = p
			tallies[i] = tallyOf(b, p.begin)
			tallies[i].Add = max(0, p.used-p.given)
			tallies[i].Want = max(1, s.limit/creditShare, p.used/4)
		}
		s.mu.Unlock()
		found, err := s.tallies.Count(context.Background(), s.limit, tallies)
		s.mu.Lock()
		now = s.clock()
		for i, p := range requesting {
			if err == nil {
				p.lease(&tallies[i], &found[i], now)
			}
			p.failed = err
			close(p.ended)
			p.ended = nil
		}
	}
	s.leasing = false
}

// lease adds the result of a lease to the part.
func (p *part) lease(requested *lyceum.Tally, found *lyceum.Tallied, now time.Time) {
	switch {
	case found.Begin.Before(p.begin): // the next minute has begun meanwhile, in which some was used
		return
	case found.Begin.After(p.begin): // the minute of other processes, whose clocks are a moment ahead
		*p = part{begin: found.Begin, ended: p.ended}
	default:
		p.given += requested.Add
	}
	p.given += found.Given
	p.all, p.last = found.Used, found.Given
	if found.Given == 0 {
		p.empty = now.Add(emptyPause)
	}
}

// tallyOf returns the shared tally of a bucket's minute.
func tallyOf(b Bucket, begin time.Time) lyceum.Tally {
	name := "app " + strconv.Itoa(int(b.App))
	if b.School == 0 {
		name = "from " + b.From.String()
	}
	return lyceum.Tally{
		School: b.School, Topic: nameOf("requests"), Name: nameOf(name), Length: time.Minute, Begin: begin,
	}
}

// settle returns what is not needed: whatever exceeds the usage since the last call, or all of
// it. It discards minutes that are over.
func (s *parts) settle(ctx context.Context, all bool) error {
	var back []lyceum.Tally
	s.mu.Lock()
	now := s.clock()
	for b, p := range s.buckets {
		if p.over(now) {
			if p.ended == nil {
				delete(s.buckets, b)
			}
			continue
		}
		keep := p.used - p.before
		p.before = p.used
		if all {
			keep = 0
		}
		if spare := p.given - p.used - keep; spare > 0 {
			p.given -= spare
			p.all -= spare
			t := tallyOf(b, p.begin)
			t.Add = spare
			back = append(back, t)
		}
	}
	s.mu.Unlock()
	var err error
	for len(back) > 0 && err == nil {
		n := min(leasesAtOnce, len(back))
		err = s.tallies.GiveBack(ctx, back[:n])
		back = back[n:]
	}
	return err
}
