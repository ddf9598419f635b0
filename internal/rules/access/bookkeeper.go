package access

import (
	"context"
	"log/slog"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Bookkeeper brings the use of keys, apps and grants and the counts of the
// limiter into the store every few seconds, so that no request waits for that,
// and sweeps out now and then what nobody can use any more.
type Bookkeeper struct {
	Store   lyceum.Store
	Keys    *Keys
	OAuth   *OAuth
	Limiter *Limiter
	Log     *slog.Logger
}

// bookkeepingPause is what a process that is killed may forget of both.
const bookkeepingPause = 5 * time.Second

// Run keeps books until the context ends, and once more then.
func (b *Bookkeeper) Run(ctx context.Context) {
	tick, sweep := time.NewTicker(bookkeepingPause), time.NewTicker(sweepPause)
	defer tick.Stop()
	defer sweep.Stop()
	for {
		select {
		case <-tick.C:
			b.keep(ctx)
		case <-sweep.C:
			b.sweep(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), bookkeepingPause)
			defer cancel()
			b.keep(last)
			return
		}
	}
}

func (b *Bookkeeper) keep(ctx context.Context) {
	if err := b.OAuth.Traces.Keep(ctx); err != nil {
		b.Log.WarnContext(ctx, "suspicious events could not be recorded in the journal", "err", err)
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

func (b *Bookkeeper) sweep(ctx context.Context) {
	if err := Sweep(ctx, b.Store, b.OAuth.clock()); err != nil && ctx.Err() == nil {
		b.Log.WarnContext(ctx, "expired codes and tokens could not be deleted", "err", err)
	}
}

// Sweep deletes what nobody can use any more from every school: codes, tokens,
// sessions and links that have been over for a day.
func Sweep(ctx context.Context, store lyceum.Store, now time.Time) error {
	schools, err := store.FindSchools(ctx)
	if err != nil {
		return err
	}
	over := now.Add(-sweepAfter)
	for _, school := range schools {
		err := store.Sweep(ctx, school.ID, lyceum.Expired{
			Until: over, SeenUntil: over.Add(-SessionIdle), BegunUntil: over.Add(-SessionAbsolute),
			AnswerUntil: over.Add(-AnswerLife), UsedUntil: over.Add(-RefreshIdle), FamilyUntil: over.Add(-RefreshAbsolute),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

const (
	// AnswerLife is how long an answer is kept besides the day that everything
	// stays; a key is good for both together.
	AnswerLife = 24 * time.Hour
	sweepPause = 10 * time.Minute
	sweepAfter = 24 * time.Hour
)

// Resume takes up the counts of the running minute from the store.
func (b *Bookkeeper) Resume(ctx context.Context) error {
	windows, err := b.Store.FindRateWindows(ctx, b.Limiter.Minute())
	if err != nil {
		return err
	}
	b.Limiter.Resume(windows)
	return nil
}
