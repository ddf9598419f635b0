package storetest

import (
	"sync"
	"time"
)

// Clock is a clock that a test sets.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// NewClock returns a clock that is stopped at the given time.
func NewClock(at time.Time) *Clock { return &Clock{at: at} }

// Now returns the current time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Set sets the clock.
func (c *Clock) Set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

// Pass advances the clock.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}
