package access

import (
	"context"
	"crypto/sha256"
	"maps"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Bounds is how many tries there are in a minute and in an hour; 0 is no bound.
type Bounds struct{ Minute, Hour int }

// tries counts in two windows, each of which begins with the first try in it.
type tries struct{ minute, hour window }

type window struct {
	begin time.Time
	used  int
}

// turn starts the window again when it is over. After the clock was set back
// the count stays for the length of the window, no longer.
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

// left tells whether there is a try left.
func (t *tries) left(b Bounds, now time.Time) bool {
	t.turn(now)
	return (b.Minute == 0 || t.minute.used < b.Minute) && (b.Hour == 0 || t.hour.used < b.Hour)
}

func (t *tries) count(now time.Time) {
	t.turn(now)
	t.minute.used++
	t.hour.used++
}

// giveBack takes back one try.
func (t *tries) giveBack() {
	t.minute.used = max(0, t.minute.used-1)
	t.hour.used = max(0, t.hour.used-1)
}

// nameOf is the digest of a name; the empty name is the topic itself.
func nameOf(name string) lyceum.TallyName {
	if name == "" {
		return lyceum.TallyName{}
	}
	sum := sha256.Sum256([]byte(name))
	return lyceum.TallyName(sum[:16])
}

// counted is something that tries are counted of: a topic, or a name within it.
type counted struct {
	school      lyceum.SchoolID // 0: of no school
	topic, name lyceum.TallyName
	bounds      Bounds
	spent       error // refuses a try when none is left
}

// counter counts tries.
type counter interface {
	// check says why there is no try left, and counts nothing.
	check(ctx context.Context, of []counted) error
	// take counts a try of each, unless one has none left.
	take(ctx context.Context, of []counted) (receipt, error)
	// giveBack takes back the tries of a receipt.
	giveBack(ctx context.Context, r receipt) error
	// forget drops what is counted of a topic.
	forget(ctx context.Context, school lyceum.SchoolID, topic lyceum.TallyName) error
}

// receipt is what was counted.
type receipt struct {
	of      []counted
	tallies [][]lyceum.Tally // by of, where they are shared
}

// newCounter returns the counter that a store's processes share, or one of this process.
func newCounter(store lyceum.Store, clock func() time.Time, kept keptTopics) counter {
	if shared := store.Tallies(); shared != nil {
		return &sharedCounter{shared, clock}
	}
	return newMemory(clock, kept)
}

// keptTopics is how many topics have a count at a time. Those of one school take about
// a megabyte of memory, however long the names are.
type keptTopics struct{ school, none int }

const triesKept = 10_000

// memory counts in this process. Each school has counts of its own, the coldest of
// which go when there are too many: a flood of names in one school leaves the counts
// of the others alone. It is safe for concurrent use.
type memory struct {
	clock func() time.Time
	kept  keptTopics

	mu      sync.Mutex
	schools map[lyceum.SchoolID]*shelf[lyceum.TallyName, topicTries]
}

// topicTries are the counts of a topic. Names has no more than the bound of the topic
// lets count, and those that the topic does not bound.
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

// look returns what is counted of something, or nil.
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

// Tries counts what may be done only so often under one name. It is safe for
// concurrent use.
type Tries struct {
	counter counter
	kind    string
	bounds  Bounds
}

// NewTries makes a counter of this process.
func NewTries(clock func() time.Time, bounds Bounds) *Tries {
	return &Tries{newMemory(clock, keptTopics{triesKept, triesKept}), "", bounds}
}

// sharedTries makes a counter of all processes of a store; kind tells it from others.
func sharedTries(store lyceum.Store, clock func() time.Time, kind string, bounds Bounds) *Tries {
	return &Tries{newCounter(store, clock, keptTopics{triesKept, triesKept}), kind, bounds}
}

// Take counts a try and tells whether it was left. Only of this process.
func (t *Tries) Take(school lyceum.SchoolID, name string) bool {
	_, err := t.try(context.Background(), school, name, errNoTries)
	return err == nil
}

var errNoTries = lyceum.Errorf(lyceum.RateLimited, "no tries are left")

// giveBack takes back a try that was right. One that cannot be taken back stays
// counted until its window is over, which harms nobody.
func (t *Tries) giveBack(ctx context.Context, taken receipt) { _ = t.counter.giveBack(ctx, taken) }

// try counts a try, or fails with spent if none is left.
func (t *Tries) try(ctx context.Context, school lyceum.SchoolID, name string, spent error) (receipt, error) {
	return t.counter.take(ctx, []counted{
		{school: school, topic: nameOf(t.kind + " " + name), bounds: t.bounds, spent: spent},
	})
}
