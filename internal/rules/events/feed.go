package events

import (
	"context"
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Feed allows others to follow the changes of a school.
type Feed struct {
	store    lyceum.Store
	events   *Service
	stopping <-chan struct{}
}

// NewFeed returns a feed of a store. Requests stop waiting once stopping is closed.
func NewFeed(store lyceum.Store, events *Service, stopping <-chan struct{}) *Feed {
	return &Feed{store: store, events: events, stopping: stopping}
}

// othersPause is how long a change by another process may go unnoticed.
const othersPause = 500 * time.Millisecond

// ChangesQuery selects changes, and says how long to wait for the first one if there is none.
type ChangesQuery struct {
	Filter lyceum.ChangeFilter
	Wait   time.Duration
}

// Changes returns the changes of a school after a number.
func (f *Feed) Changes(ctx context.Context, by lyceum.By, q ChangesQuery) (lyceum.ChangeListing, error) {
	filter, wait := q.Filter, q.Wait
	over := time.NewTimer(wait)
	defer over.Stop()
	allowance := lyceum.AllowanceOf(ctx)
	v := f.store.In(ctx, by.School)
	var before lyceum.ChangeListing // without changes
	for waited := false; ; waited = true {
		changed := f.store.Changed(by.School) // before the query, so that no later change is missed
		listing, err := v.FindChanges(filter)
		if waited && err != nil && ctx.Err() != nil {
			return before, nil // it was ended while it waited
		}
		if err == nil && listing.Last < filter.After {
			err = notYet(filter.After, listing.Last)
		}
		if err != nil || len(listing.Changes) > 0 || wait <= 0 {
			return listing, err
		}
		before, filter.After = listing, listing.Next
		if allowance != nil {
			allowance.Pause()
		}
		select {
		case <-changed:
		case <-time.After(othersPause):
		case <-over.C:
			wait = 0
		case <-f.stopping:
			wait = 0
		case <-ctx.Done():
			return listing, nil // the caller has gone, so nobody sees the result
		}
		if allowance != nil {
			if err := allowance.Resume(); err != nil && ctx.Err() == nil {
				return listing, err
			}
		}
	}
}

// UnknownNumber is the code of the error for a number that no change has yet.
const UnknownNumber = "unknown_number"

// notYet returns the error for a number that no change has yet. A caller that waited for changes
// after it would miss all changes up to it.
func notYet(after, last int64) error {
	return &lyceum.Error{Kind: lyceum.Conflict, Code: UnknownNumber, Detail: fmt.Sprintf("no change has the number %d "+
		"yet: the last one is %d. The number is of another school, or this one was restored to an earlier state; "+
		"go on after %d, or after 0 for all changes", after, last, last)}
}

// ListedEvent is an event as webhooks receive it.
type ListedEvent struct {
	Number int64
	At     time.Time
	Event  lyceum.EventName
	Resent bool
	Body   []byte
}

// EventListing is a part of a school's events in order.
type EventListing struct {
	Events []ListedEvent
	Next   int64 // the number to continue after
	More   bool  // there are more already
	Last   int64 // number of the school's last entry
}

// Events returns the changes that are events, as webhooks receive them.
func (f *Feed) Events(ctx context.Context, by lyceum.By, q ChangesQuery) (EventListing, error) {
	q.Filter.Events = true
	listing, err := f.Changes(ctx, by, q)
	if err != nil {
		return EventListing{}, err
	}
	result := EventListing{Next: listing.Next, More: listing.More, Last: listing.Last}
	for left := lyceum.ResponseBytes; len(listing.Changes) > 0; {
		part := listing.Changes[:min(len(listing.Changes), bodiesAtOnce)]
		bodies, err := f.bodies(ctx, by.School, part)
		if err != nil {
			return EventListing{}, err
		}
		for i := range bodies {
			if left -= len(bodies[i].Body) + bareEvent; left < 0 && len(result.Events) > 0 {
				result.Next, result.More = result.Events[len(result.Events)-1].Number, true
				return result, nil
			}
			result.Events = append(result.Events, bodies[i])
		}
		listing.Changes = listing.Changes[len(part):]
	}
	return result, nil
}

const (
	// bodiesAtOnce is how many bodies of events are read at a time.
	bodiesAtOnce = 50
	// bareEvent is how many bytes an event without its body takes in JSON.
	bareEvent = 200
)

// bodies returns events with their bodies.
func (f *Feed) bodies(
	ctx context.Context, school lyceum.SchoolID, changes []lyceum.ChangeRecord,
) ([]ListedEvent, error) {
	numbers := make([]int64, len(changes))
	for i := range changes {
		numbers[i], _ = payloadNumber(&changes[i])
	}
	v := f.store.In(ctx, school)
	kept, err := v.Payloads.Find(v, numbers...)
	if err != nil {
		return nil, err
	}
	events := make([]ListedEvent, len(changes))
	for i := range changes {
		if events[i], err = f.event(ctx, school, &changes[i], kept); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// payloadNumber returns the number under which the payload of an event is stored, and the delivery
// if the entry is about resending one.
func payloadNumber(c *lyceum.ChangeRecord) (number int64, again lyceum.Opt[lyceum.WebhookEventID]) {
	if d, ok := c.Object.(lyceum.WebhookEvent); ok {
		return d.Number.Value, lyceum.Some(d.ID)
	}
	return c.Number, again
}

// event returns an event with its body. If webhooks received the event, the body is the stored
// one; otherwise it is rendered from the present state.
func (f *Feed) event(
	ctx context.Context, school lyceum.SchoolID, c *lyceum.ChangeRecord, kept map[int64]lyceum.EventPayload,
) (ListedEvent, error) {
	number, again := payloadNumber(c)
	delivery := lyceum.WebhookEventID(c.Number)
	if again.Present {
		delivery = again.Value
	}
	payload, before := kept[number]
	if !before {
		var err error
		if payload, err = f.events.payload(f.store.In(ctx, school), school, c); err != nil {
			return ListedEvent{}, err
		}
		payload.Number = number
	}
	return ListedEvent{
		Number: c.Number, At: c.At, Event: c.Event.Value, Resent: again.Present,
		Body: envelope(&payload, delivery, false),
	}, nil
}
