// Package clock moves the time of a sandbox, and does on the way what time
// alone brings: each thing at its moment, in order.
//
// It owns when that happens, and the payments that a sandbox makes up. What
// happens is the business of the services that it drives. It must not know HTTP
// or SQL.
package clock

import (
	"sync"
	"time"
)

// Clock is a time that can be set. It either stands, or runs as fast as another
// clock does. It is safe for concurrent use.
type Clock struct {
	system func() time.Time

	mu     sync.RWMutex
	at     time.Time     // where it stands
	ahead  time.Duration // of system, while it runs
	stands bool
}

// Standing returns a clock that stands at a moment.
func Standing(system func() time.Time, at time.Time) *Clock {
	return &Clock{system: system, at: at, stands: true}
}

// Running returns a clock that is ahead of another one by some time.
func Running(system func() time.Time, ahead time.Duration) *Clock {
	return &Clock{system: system, ahead: ahead}
}

// Now returns what the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.stands {
		return c.at
	}
	return c.system().Add(c.ahead)
}

func (c *Clock) standing() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.stands
}

// set lets the clock stand at a moment.
func (c *Clock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.stands = at, true
}

// run lets the clock run on, so much further ahead than it was before it stood. It
// returns how far that is.
func (c *Clock) run(further time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead, c.stands = c.ahead+further, false
	return c.ahead
}
