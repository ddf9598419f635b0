// Package claims tracks what a process has claimed to do. Claims are short, so that another
// process soon takes over from one that was killed; a process renews its claims as long as it
// runs.
package claims

import (
	"context"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// pause is the age at which a claim is renewed. Most work is done before.
const pause = lyceum.ClaimLifetime / 3

// Claims are the claims of one process.
type Claims[K comparable, V any] struct {
	// Renew renews claims and updates the values of those that it renewed. It does not change
	// claims that were lost.
	Renew func(ctx context.Context, claimed []*V) error
	// Note is called with errors.
	Note func(ctx context.Context, err error)

	mu   sync.Mutex
	held map[K]*Claim[V]
}

// Claim is a claimed piece of work. Code that reads or changes the value after it was claimed
// must hold the lock.
type Claim[V any] struct {
	sync.Mutex

	Value V

	since time.Time // when it was claimed or last renewed
}

// Hold adds a claim. If the process is already working on it, because an earlier claim expired
// before it was renewed, that work continues under the new claim, and Hold returns nil.
func (c *Claims[K, V]) Hold(key K, value V) *Claim[V] {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if before := c.held[key]; before != nil {
		before.Lock()
		defer before.Unlock()
		before.Value, before.since = value, now
		return nil
	}
	if c.held == nil {
		c.held = map[K]*Claim[V]{}
	}
	claim := &Claim[V]{Value: value, since: now}
	c.held[key] = claim
	return claim
}

// Done removes a claim whose work is done or given up.
func (c *Claims[K, V]) Done(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.held, key)
}

// Keep renews the claims until ctx ends.
func (c *Claims[K, V]) Keep(ctx context.Context) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.renew(ctx, time.Now())
		case <-ctx.Done():
			return
		}
	}
}

func (c *Claims[K, V]) renew(ctx context.Context, now time.Time) {
	old := c.old(now)
	if len(old) == 0 {
		return
	}
	values := make([]*V, len(old))
	for i, claim := range old {
		values[i] = &claim.Value
	}
	err := c.Renew(ctx, values)
	for _, claim := range old {
		if err == nil {
			claim.since = now
		}
		claim.Unlock()
	}
	if err != nil && ctx.Err() == nil {
		c.Note(ctx, err)
	}
}

// old locks and returns the claims that need to be renewed. Claims locked by others are as good
// as done.
func (c *Claims[K, V]) old(now time.Time) []*Claim[V] {
	c.mu.Lock()
	defer c.mu.Unlock()
	var old []*Claim[V]
	for _, claim := range c.held {
		if claim.TryLock() {
			if now.Sub(claim.since) >= pause {
				old = append(old, claim)
				continue
			}
			claim.Unlock()
		}
	}
	return old
}
