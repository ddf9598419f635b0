// Package claims keeps what a process has claimed to do. A claim is short, so that
// another process soon takes over from one that was killed; as long as a process lives,
// it renews its claims.
package claims

import (
	"context"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// pause is after how long a claim is renewed. Most are done before.
const pause = lyceum.ClaimLifetime / 3

// Claims are those of one process.
type Claims[K comparable, V any] struct {
	// Renew renews claims, and changes those that it has renewed. One that was lost it
	// leaves as it is.
	Renew func(ctx context.Context, claimed []*V) error
	// Note is told what went wrong.
	Note func(ctx context.Context, err error)

	mu   sync.Mutex
	held map[K]*Claim[V]
}

// Claim is something to do. Who reads or changes the value after it was claimed holds the
// lock.
type Claim[V any] struct {
	sync.Mutex

	Value V

	since time.Time // it was claimed or renewed
}

// Hold takes what was claimed. If the process is doing it already, because a claim ended
// before it was renewed, that goes on under the new claim, and Hold returns nil.
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

// Done forgets what was done or given up.
func (c *Claims[K, V]) Done(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.held, key)
}

// Keep renews the claims until the context ends.
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

// old locks and returns the claims to be renewed. One that is locked is as good as done.
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
