package access

import (
	"sync"
	"time"
)

// Allowance is how many tries a name has in a window of time.
type Allowance struct {
	Most   int
	Window time.Duration
}

// Tries counts what may be tried only so often under one name, such as wrong
// passwords of an account. Windows are fixed; a count is forgotten when its
// window is over, so that nobody is locked out for good. It is safe for
// concurrent use.
type Tries struct {
	clock      func() time.Time
	allowances []Allowance

	mu      sync.Mutex
	windows []tryWindow // one for each allowance
}

type tryWindow struct {
	begin  time.Time
	counts map[string]int
}

// NewTries makes a counter; every allowance must be kept.
func NewTries(clock func() time.Time, allowances ...Allowance) *Tries {
	t := &Tries{clock: clock, allowances: allowances, windows: make([]tryWindow, len(allowances))}
	return t
}

// Allowed tells whether there is a try left.
func (t *Tries) Allowed(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turn()
	for i, a := range t.allowances {
		if t.windows[i].counts[name] >= a.Most {
			return false
		}
	}
	return true
}

// Take counts a try and tells whether it was left.
func (t *Tries) Take(name string) bool {
	if !t.Allowed(name) {
		return false
	}
	t.Count(name)
	return true
}

// Count counts a try.
func (t *Tries) Count(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turn()
	for i := range t.windows {
		t.windows[i].counts[name]++
	}
}

func (t *Tries) turn() {
	now := t.clock()
	for i, a := range t.allowances {
		w := &t.windows[i]
		if w.counts == nil || !now.Before(w.begin.Add(a.Window)) {
			w.begin, w.counts = now.Truncate(a.Window), map[string]int{}
		}
	}
}
