package access

import (
	"context"
	"crypto/sha256"
	"maps"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Bounds is how many attempts are allowed in a minute and in an hour; 0 means no limit.
type Bounds struct{ Minute, Hour int }

// tries counts attempts in two windows, each of which begins with the first attempt in it.
type tries struct{ minute, hour window }

type window struct {
	begin time.Time
	used  int
}

// turn restarts the window when it is over. If the clock was set back, the count lasts for the
// length of the window, but no longer.
func (w *window) turn(now time.Time, length time.Duration) {
	switch {
	case now.Before(w.begin):
		w.begin = now
	case !now.Before(w.begin.Add(length)):
		*w = window{begin: now}
	}
}

func (t *tries) turn(now time.Time) {
	t.minute.turn(now, time.Minute)
	t.hour.turn(now, time.Hour)
}

// left reports whether an attempt is left.
func (t *tries) left(b Bounds, now time.Time) bool {
	t.turn(now)
	return (b.Minute == 0 || t.minute.used < b.Minute) && (b.Hour == 0 || t.hour.used < b.Hour)
}

func (t *tries) count(now time.Time) {
	t.turn(now)
	t.minute.used++
	t.hour.used++
}

// giveBack takes back one attempt.
func (t *tries) giveBack() {
	t.minute.used = max(0, t.minute.used-1)
	t.hour.used = max(0, t.hour.used-1)
}

// nameOf returns the digest of a name; the empty name is the topic itself.
func nameOf(name string) lyceum.TallyName {
	if name == "" {
		return lyceum.TallyName{}
	}
	sum := sha256.Sum256([]byte(name))
	return lyceum.TallyName(sum[:16])
}

// counted is something that attempts are counted for: a topic, or a name within it.
type counted struct {
	school      lyceum.SchoolID // 0: no school
	topic, name lyceum.TallyName
	bounds      Bounds
	spent       error // the error if no attempt is left
}

// counter counts attempts.
type counter interface {
	// check returns why no attempt is left, without counting anything.
	check(ctx context.Context, of []counted) error
	// take counts an attempt for each, unless one of them has none left.
	take(ctx context.Context, of []counted) (receipt, error)
	// giveBack takes back the attempts of a receipt.
	giveBack(ctx context.Context, r receipt) error
	// forget deletes the counts of a topic.
	forget(ctx context.Context, school lyceum.SchoolID, topic lyceum.TallyName) error
}

// receipt is what was counted.
type receipt struct {
	of      []counted
	tallies [][]lyceum.Tally // by index of of, if they are shared
}

// newCounter returns the counter that a store's processes share, or else one for this process.
func newCounter(store lyceum.Store, clock func() time.Time, kept keptTopics) counter {
	if shared := store.Tallies(); shared != nil {
		return &sharedCounter{shared, clock}
	}
	return newMemory(clock, kept)
}

// keptTopics is how many topics have a count at a time, for a school and for no school. Those
// of one school take about a megabyte of memory, however long the names are.
type keptTopics struct{ school, none int }

const triesKept = 10_000

// memory counts in this process. Each school has separate counts, of which the least recently
// used are evicted when there are too many: a flood of names in one school does not affect the
// counts of the others. It is safe for concurrent use.
type memory struct {
	clock func() time.Time
	kept  keptTopics

	mu      sync.Mutex
	schools map[lyceum.SchoolID]*shelf[lyceum.TallyName, topicTries]
}

// topicTries holds the counts of a topic. The topic's limit also limits the number of names,
// except for names that are counted without their topic.
type topicTries struct {
	whole tries
	names map[lyceum.TallyName]*tries
}

func newMemory(clock func() time.Time, kept keptTopics) *memory {
	return &memory{clock: clock, kept: kept, schools: map[lyceum.SchoolID]*shelf[lyceum.TallyName, topicTries]{}}
}

func (m *memory) check(_ context.Context, of []counted) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent(of, m.clock())
}

func (m *memory) spent(of []counted, now time.Time) error {
	for i := range of {
		if kept := m.look(&of[i]); kept != nil && !kept.left(of[i].bounds, now) {
			return of[i].spent
		}
	}
	return nil
}

func (m *memory) take(_ context.Context, of []counted) (receipt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock()
	if err := m.spent(of, now); err != nil {
		return receipt{}, err
	}
	for i := range of {
		topic := m.school(of[i].school).take(of[i].topic)
		if of[i].name == (lyceum.TallyName{}) {
			topic.whole.count(now)
			continue
		}
		maps.DeleteFunc(topic.names, func(_ lyceum.TallyName, kept *tries) bool {
			kept.turn(now)
			return kept.hour.used == 0
		})
		if topic.names == nil {
			topic.names = map[lyceum.TallyName]*tries{}
		}
		if topic.names[of[i].name] == nil {
			topic.names[of[i].name] = &tries{}
		}
		topic.names[of[i].name].count(now)
	}
	return receipt{of: of}, nil
}

func (m *memory) giveBack(_ context.Context, r receipt) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range r.of {
		if kept := m.look(&r.of[i]); kept != nil {
			kept.giveBack()
		}
	}
	return nil
}

func (m *memory) forget(_ context.Context, school lyceum.SchoolID, topic lyceum.TallyName) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.school(school).drop(topic)
	return nil
}

// look returns the count of something, or nil.
func (m *memory) look(c *counted) *tries {
	topic := m.school(c.school).look(c.topic)
	switch {
	case topic == nil:
		return nil
	case c.name == (lyceum.TallyName{}):
		return &topic.whole
	}
	return topic.names[c.name]
}

func (m *memory) school(id lyceum.SchoolID) *shelf[lyceum.TallyName, topicTries] {
	shelf := m.schools[id]
	if shelf == nil {
		most := m.kept.school
		if id == 0 {
			most = m.kept.none
		}
		shelf = newShelf[lyceum.TallyName, topicTries](most)
		m.schools[id] = shelf
	}
	return shelf
}

// Tries limits how often something may be done under one name. It is safe for concurrent use.
type Tries struct {
	counter counter
	kind    string
	bounds  Bounds
}

// NewTries returns a counter for this process.
func NewTries(clock func() time.Time, bounds Bounds) *Tries {
	return &Tries{newMemory(clock, keptTopics{triesKept, triesKept}), "", bounds}
}

// sharedTries returns a counter that all processes of a store share; kind distinguishes it from
// others.
func sharedTries(store lyceum.Store, clock func() time.Time, kind string, bounds Bounds) *Tries {
	return &Tries{newCounter(store, clock, keptTopics{triesKept, triesKept}), kind, bounds}
}

// Take counts an attempt and reports whether it was allowed. Only for counters of this process.
func (t *Tries) Take(school lyceum.SchoolID, name string) bool {
	_, err := t.try(context.Background(), school, name, errNoTries)
	return err == nil
}

var errNoTries = lyceum.Errorf(lyceum.RateLimited, "no tries are left")

// giveBack takes back an attempt that succeeded. If that fails, the attempt stays counted until
// its window is over, which harms nobody.
func (t *Tries) giveBack(ctx context.Context, taken receipt) { _ = t.counter.giveBack(ctx, taken) }

// try counts an attempt, or fails with spent if none is left.
func (t *Tries) try(ctx context.Context, school lyceum.SchoolID, name string, spent error) (receipt, error) {
	return t.counter.take(ctx, []counted{
		{school: school, topic: nameOf(t.kind + " " + name), bounds: t.bounds, spent: spent},
	})
}
