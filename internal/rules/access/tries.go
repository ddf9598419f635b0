package access

import (
	"hash/maphash"
	"math"
	"sync"
	"time"
)

// Allowance is how many tries a name has in a window of time.
type Allowance struct {
	Most   int // below 65,536
	Window time.Duration
}

// Tries counts what may be tried only so often under one name, such as wrong
// passwords of an account. Windows are fixed; a count is forgotten when its
// window is over, so that nobody is locked out for good. It is safe for
// concurrent use.
//
// Names share a fixed number of counts by a hash that is another one in each
// process: no flood of names takes memory or makes counts be forgotten. Two
// names that share a count have one allowance together.
type Tries struct {
	clock      func() time.Time
	allowances []Allowance
	seed       maphash.Seed

	mu      sync.Mutex
	windows []tryWindow // one for each allowance
}

// tryCounts is how many counts a window has.
const tryCounts = 1 << 16

type tryWindow struct {
	begin  time.Time
	counts []uint16
}

// NewTries makes a counter; every allowance must be kept.
func NewTries(clock func() time.Time, allowances ...Allowance) *Tries {
	t := &Tries{clock: clock, allowances: allowances, seed: maphash.MakeSeed(), windows: make([]tryWindow, len(allowances))}
	for i := range t.windows {
		t.windows[i].counts = make([]uint16, tryCounts)
	}
	return t
}

// Allowed tells whether there is a try left.
func (t *Tries) Allowed(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.left(t.place(name))
}

// Take counts a try and tells whether it was left.
func (t *Tries) Take(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	place := t.place(name)
	if !t.left(place) {
		return false
	}
	t.count(place)
	return true
}

// Count counts a try.
func (t *Tries) Count(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turn()
	t.count(t.place(name))
}

func (t *Tries) place(name string) int { return int(maphash.String(t.seed, name) % tryCounts) }

func (t *Tries) left(place int) bool {
	t.turn()
	for i, a := range t.allowances {
		if int(t.windows[i].counts[place]) >= a.Most {
			return false
		}
	}
	return true
}

func (t *Tries) count(place int) {
	for i := range t.windows {
		if n := &t.windows[i].counts[place]; *n < math.MaxUint16 {
			*n++
		}
	}
}

// turn begins the windows anew that are over. A clock that was set back leaves
// them as they are until it has caught up.
func (t *Tries) turn() {
	now := t.clock()
	for i, a := range t.allowances {
		if w := &t.windows[i]; !now.Before(w.begin.Add(a.Window)) {
			w.begin = now.Truncate(a.Window)
			clear(w.counts)
		}
	}
}
