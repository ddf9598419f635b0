package server

import (
	"context"
	"sync"
	"time"
)

// deadline is the context of a response that must be ready by a given time. Its timer starts
// only when something waits on it: most responses never do, and a timer costs as much as their
// authentication.
type deadline struct {
	context.Context //nolint:containedctx // the context of the request

	at     time.Time
	mu     sync.Mutex
	timed  context.Context //nolint:containedctx // nil until something waits
	cancel context.CancelFunc
}

// ended is the context of a response that was stopped before anything waited on it.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// newDeadline returns a context that ends with ctx, or after the given duration. It must be
// stopped.
func newDeadline(ctx context.Context, after time.Duration) *deadline {
	at := time.Now().Add(after)
	if earlier, ok := ctx.Deadline(); ok && earlier.Before(at) {
		at = earlier
	}
	return &deadline{Context: ctx, at: at, cancel: func() {}}
}

// Deadline implements context.Context.
func (d *deadline) Deadline() (time.Time, bool) { return d.at, true }

// Done implements context.Context.
func (d *deadline) Done() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.start().Done()
}

// Err implements context.Context.
func (d *deadline) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timed == nil && time.Now().Before(d.at) {
		return d.Context.Err()
	}
	return d.start().Err()
}

func (d *deadline) start() context.Context {
	if d.timed == nil {
		d.timed, d.cancel = context.WithDeadline(d.Context, d.at)
	}
	return d.timed
}

func (d *deadline) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timed == nil {
		d.timed = ended
	}
	d.cancel()
}
