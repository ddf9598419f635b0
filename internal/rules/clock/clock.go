// Package clock moves the time of a sandbox, and on the way does what is triggered by time:
// each thing at its moment, in order.
//
// It decides when these things happen, and makes up the payments of a sandbox. The services
// that it calls do the rest. It must not know HTTP or SQL.
package clock

import (
	"sync"
	"time"
)

// Clock is a clock that can be set. It either stands still, or runs at the same rate as another
// clock. It is safe for concurrent use.
type Clock struct {
	system func() time.Time

	mu     sync.RWMutex
	at     time.Time     // the time at which it stands
	ahead  time.Duration // how far it is ahead of system while it runs
	stands bool
}

// Standing returns a clock that stands at the given time.
func Standing(system func() time.Time, at time.Time) *Clock {
	return &Clock{system: system, at: at, stands: true}
}

// Running returns a clock that runs ahead of system by the given duration.
func Running(system func() time.Time, ahead time.Duration) *Clock {
	return &Clock{system: system, ahead: ahead}
}

// Now returns the time of the clock.
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

// set stops the clock at the given time.
func (c *Clock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.stands = at, true
}

// run makes the clock run, further ahead than before it stood by the given duration. It returns
// how far ahead it now is.
func (c *Clock) run(further time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead, c.stands = c.ahead+further, false
	return c.ahead
}
