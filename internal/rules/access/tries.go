package access

import (
	"crypto/sha256"
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

// triesName is the digest of a name: what strangers type may be long.
type triesName [16]byte

func triesNameOf(name string) triesName {
	sum := sha256.Sum256([]byte(name))
	return triesName(sum[:16])
}

// triesKept is how many names of one school have a count at a time. It takes
// about a megabyte of memory, however long the names are.
const triesKept = 10_000

// Tries counts what may be tried only so often under one name. Each school has
// counts of its own, the coldest of which go when there are too many: a flood
// of names in one school leaves the counts of the others alone. It is safe for
// concurrent use.
type Tries struct {
	clock  func() time.Time
	bounds Bounds

	mu      sync.Mutex
	schools map[lyceum.SchoolID]*shelf[triesName, tries]
}

// NewTries makes a counter.
func NewTries(clock func() time.Time, bounds Bounds) *Tries {
	return &Tries{clock: clock, bounds: bounds, schools: map[lyceum.SchoolID]*shelf[triesName, tries]{}}
}

// Allowed tells whether there is a try left.
func (t *Tries) Allowed(school lyceum.SchoolID, name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.school(school).look(triesNameOf(name))
	return kept == nil || kept.left(t.bounds, t.clock())
}

// Take counts a try and tells whether it was left.
func (t *Tries) Take(school lyceum.SchoolID, name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, kept := t.clock(), t.school(school).take(triesNameOf(name))
	if !kept.left(t.bounds, now) {
		return false
	}
	kept.count(now)
	return true
}

// GiveBack takes back a try that was counted.
func (t *Tries) GiveBack(school lyceum.SchoolID, name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if kept := t.school(school).look(triesNameOf(name)); kept != nil {
		kept.giveBack()
	}
}

func (t *Tries) school(id lyceum.SchoolID) *shelf[triesName, tries] {
	kept := t.schools[id]
	if kept == nil {
		kept = newShelf[triesName, tries](triesKept)
		t.schools[id] = kept
	}
	return kept
}
