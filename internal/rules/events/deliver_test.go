package events_test

import (
	"context"
	"slices"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

// meanwhile is a store in which something happens between what the next write
// has read and the write.
type meanwhile struct {
	lyceum.Store

	happens func()
}

func (s *meanwhile) Write(ctx context.Context, stamp lyceum.Stamp, change func(lyceum.Tx) error) error {
	if happens := s.happens; happens != nil {
		s.happens = nil
		happens()
	}
	return s.Store.Write(ctx, stamp, change)
}

// TestR17_ResumedWhileDispatched: an event that is on its way to a failed
// webhook when that is switched on again comes too.
func TestR17_ResumedWhileDispatched(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		to := p.hook(t, events.WebhookForm{})
		to.answer = status(410)
		p.sell(t)
		p.rounds(t)
		if state := p.webhook(t, to.ID).State; state != lyceum.WebhookFailed {
			t.Fatal(state)
		}
		to.answer = status(200)
		p.sell(t)
		slow := &meanwhile{store, func() {
			if _, err := p.events.Resume(t.Context(), p.by(), to.ID, events.WithReplay); err != nil {
				t.Error(err)
			}
		}}
		if _, err := events.New(slow, p.clock, options()).Dispatch(t.Context(), p.school); err != nil {
			t.Fatal(err)
		}
		p.rounds(t)
		if told, _ := p.states(t, to.ID); !slices.Equal(told, []string{"delivered 200", "delivered 200"}) {
			t.Error(told)
		}
	})
}
