package access

import (
	"context"
	"log/slog"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Bookkeeper writes the use of keys, apps and grants and the counts of the limiter to the store
// every few seconds, so that no request waits for that.
type Bookkeeper struct {
	Store   lyceum.Store
	Keys    *Keys
	OAuth   *OAuth
	Limiter *Limiter
	// Failures holds the requests that failed; nil stores none.
	Failures *Failures
	Log      *slog.Logger
}

// settlePause is how long a process keeps a part of a shared limit that it does not use.
const settlePause = time.Second

// bookkeepingPause is the time between two writes, and so the most usage data that a killed
// process loses.
const bookkeepingPause = 5 * time.Second

// Run writes to the store until the context ends, and then once more.
func (b *Bookkeeper) Run(ctx context.Context) {
	tick, second := time.NewTicker(bookkeepingPause), time.NewTicker(settlePause)
	defer tick.Stop()
	defer second.Stop()
	for {
		select {
		case <-tick.C:
			b.keep(ctx)
		case <-second.C:
			b.settle(ctx, false)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), bookkeepingPause)
			defer cancel()
			b.settle(last, true)
			b.keep(last)
			return
		}
	}
}

func (b *Bookkeeper) settle(ctx context.Context, stops bool) {
	if err := b.Limiter.Settle(ctx, stops); err != nil {
		b.Log.WarnContext(ctx, "unused requests of a minute could not be returned to the other servers", "err", err)
	}
}

func (b *Bookkeeper) keep(ctx context.Context) {
	if err := b.OAuth.Traces.Keep(ctx); err != nil {
		b.Log.WarnContext(ctx, "suspicious events could not be recorded in the journal", "err", err)
	}
	if b.Failures != nil {
		if err := b.Failures.Keep(ctx); err != nil {
			b.Log.WarnContext(ctx, "failed requests could not be stored", "err", err)
		}
	}
	books := lyceum.Bookkeeping{KeyUses: b.Keys.Uses(), RateWindows: b.Limiter.Windows()}
	books.GrantUses, books.AppUses = b.OAuth.Uses()
	if len(books.KeyUses)+len(books.RateWindows)+len(books.GrantUses)+len(books.AppUses) == 0 {
		return
	}
	if err := b.Store.Bookkeep(ctx, books); err != nil {
		b.Log.WarnContext(ctx, "the last use of API keys and apps could not be recorded", "err", err)
	}
}

// Resume loads the counts of the current minute from the store, unless they are shared anyway.
func (b *Bookkeeper) Resume(ctx context.Context) error {
	if b.Store.Tallies() != nil {
		return nil
	}
	windows, err := b.Store.FindRateWindows(ctx, b.Limiter.Minute())
	if err != nil {
		return err
	}
	b.Limiter.Resume(windows)
	return nil
}
