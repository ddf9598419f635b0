package events

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Feed lets others follow what changes in a school.
type Feed struct {
	store    lyceum.Store
	stopping <-chan struct{}
}

// NewFeed makes the feed over a store. Nobody waits any longer once stopping is
// closed.
func NewFeed(store lyceum.Store, stopping <-chan struct{}) *Feed {
	return &Feed{store: store, stopping: stopping}
}

// othersPause is how long a change of another process may stay unseen.
const othersPause = 500 * time.Millisecond

// Changes gives the changes of a school after a number, and waits for the first
// one for a while if there is none.
func (f *Feed) Changes(ctx context.Context, school lyceum.SchoolID, filter lyceum.ChangeFilter, wait time.Duration) (lyceum.ChangeListing, error) {
	over := time.NewTimer(wait)
	defer over.Stop()
	for {
		changed := f.store.Changed(school) // before looking: what comes after is not missed
		listing, err := f.store.FindChanges(ctx, school, filter)
		if err != nil || len(listing.Changes) > 0 || wait == 0 {
			return listing, err
		}
		filter.After = listing.Next
		select {
		case <-changed:
		case <-time.After(othersPause):
		case <-over.C:
			wait = 0
		case <-f.stopping:
			wait = 0
		case <-ctx.Done():
			return listing, nil // who asked has gone: nobody is told
		}
	}
}
