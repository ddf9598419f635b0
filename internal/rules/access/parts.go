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
	// emptyPause is how long a process that found nothing left does not ask again:
	// others may have given back what they did not use.
	emptyPause = time.Second
	// leasesAtOnce is how many parts one statement leases.
	leasesAtOnce = 256
	// creditShare of the limit is what a process lets through in a minute without
	// having asked, so that few requests cost no statement and the first do not wait:
	// up to ten processes exceed the limit by a tenth at most.
	creditShare = 100
)

// parts leases parts of each bucket's minute from what all processes share. A part is
// a hundredth of the limit at first, grows with what is used, and is an eighth of what
// is left at most. It is safe for concurrent use.
type parts struct {
	limit, credit int64
	clock         func() time.Time
	tallies       lyceum.Tallies

	mu      sync.Mutex
	buckets map[Bucket]*part
	wanting []Bucket // parts of
	leasing bool     // somebody works on wanting
}

// part is what a process has of a bucket's minute.
type part struct {
	begin  time.Time     // of the minute
	given  int64         // by the tallies, all parts together
	used   int64         // by requests; more than given on credit
	credit int64         // used on credit
	all    int64         // what all processes have or used, as was heard last
	before int64         // used when it was settled last
	last   int64         // size of the part that was leased last
	empty  time.Time     // nothing is left before
	asked  chan struct{} // closed when the lease that is under way has ended; nil: none is
	failed error         // how the last lease ended
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
		asked := s.ask(b, p)
		if timer == nil {
			timer = time.NewTimer(leaseWait)
			defer timer.Stop()
		}
		s.mu.Unlock()
		select {
		case <-asked:
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

// use lets a request through, if there is something left, and asks for more early
// enough that others need not wait.
func (s *parts) use(b Bucket, p *part) bool {
	left := p.given - p.used
	switch {
	case left > 0:
		if left <= p.last/4 {
			s.ask(b, p)
		}
	case p.credit < s.credit && s.limit-p.all > s.limit/10:
		if p.credit++; p.credit*2 > s.credit {
			s.ask(b, p)
		}
	default:
		return false
	}
	p.used++
	return true
}

// quota is what is left for all, as far as this process knows.
func (s *parts) quota(p *part, now time.Time) Quota {
	return Quota{Limit: s.limit, Remaining: max(0, s.limit-p.all+p.given-p.used), Reset: p.reset(now)}
}

func (p *part) reset(now time.Time) int { return secondsOf(p.begin.Add(time.Minute).Sub(now)) }

// of returns what the process has of a bucket's minute now.
func (s *parts) of(b Bucket, now time.Time) *part {
	p := s.buckets[b]
	switch {
	case p == nil:
		p = &part{begin: now.Truncate(time.Minute)}
		s.buckets[b] = p
	case p.over(now):
		*p = part{begin: now.Truncate(time.Minute), asked: p.asked}
	}
	return p
}

// over reports whether the minute is over. After the clock was set back it is when the
// clock shows more than a minute before.
func (p *part) over(now time.Time) bool {
	return !now.Before(p.begin.Add(time.Minute)) || now.Before(p.begin.Add(-time.Minute))
}

// ask has another part leased, unless one is being leased.
func (s *parts) ask(b Bucket, p *part) (asked <-chan struct{}) {
	if p.asked == nil {
		p.asked = make(chan struct{})
		s.wanting = append(s.wanting, b)
		if !s.leasing {
			s.leasing = true
			go s.lease()
		}
	}
	return p.asked
}

// lease leases parts until nobody wants one. It belongs to no request: who waited may
// have gone.
func (s *parts) lease() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.wanting) > 0 {
		n := min(leasesAtOnce, len(s.wanting))
		wanting := s.wanting[:n]
		s.wanting = s.wanting[n:]
		asking, tallies := make([]*part, n), make([]lyceum.Tally, n)
		now := s.clock()
		for i, b := range wanting {
			p := s.of(b, now)
			asking[i] = p
			tallies[i] = tallyOf(b, p.begin)
			tallies[i].Add = max(0, p.used-p.given)
			tallies[i].Want = max(1, s.limit/creditShare, p.used/4)
		}
		s.mu.Unlock()
		found, err := s.tallies.Count(context.Background(), s.limit, tallies)
		s.mu.Lock()
		now = s.clock()
		for i, p := range asking {
			if err == nil {
				p.lease(&tallies[i], &found[i], now)
			}
			p.failed = err
			close(p.asked)
			p.asked = nil
		}
	}
	s.leasing = false
}

// lease takes what was given for what was asked.
func (p *part) lease(asked *lyceum.Tally, found *lyceum.Tallied, now time.Time) {
	if !found.Begin.Equal(p.begin) { // the minute of the others, whose clocks are a moment ahead
		*p = part{begin: found.Begin, asked: p.asked}
	} else {
		p.given += asked.Add
	}
	p.given += found.Given
	p.all, p.last = found.Used, found.Given
	if found.Given == 0 {
		p.empty = now.Add(emptyPause)
	}
}

// tallyOf is what all processes share of a bucket's minute.
func tallyOf(b Bucket, begin time.Time) lyceum.Tally {
	name := "app " + strconv.Itoa(int(b.App))
	if b.School == 0 {
		name = "from " + b.From.String()
	}
	return lyceum.Tally{
		School: b.School, Topic: nameOf("requests"), Name: nameOf(name), Length: time.Minute, Begin: begin,
	}
}

// settle gives back what is not used: more than was used since it was called last,
// or all. It forgets the minutes that are over.
func (s *parts) settle(ctx context.Context, all bool) error {
	var back []lyceum.Tally
	s.mu.Lock()
	now := s.clock()
	for b, p := range s.buckets {
		if p.over(now) {
			if p.asked == nil {
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
