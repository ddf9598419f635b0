package events

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"golang.org/x/sync/errgroup"
)

// dispatched is the cursor of the events that have been turned into deliveries.
const dispatched = "webhooks"

// One write turns at most dispatchSize events into deliveries, and makes about deliveryBatch
// deliveries: fewer events if there are many webhooks.
const (
	dispatchSize  = 200
	deliveryBatch = 500
)

// renderedAtOnce is how many events Dispatch renders at a time.
const renderedAtOnce = 8

// Undispatched returns the schools with events that have not been turned into deliveries.
func (s *Service) Undispatched(ctx context.Context) ([]lyceum.SchoolID, error) {
	return s.store.FindUndispatched(ctx, dispatched)
}

// Dispatch turns the next events of a school's journal into deliveries, and reports whether
// there are more. Several processes may call it concurrently: each event is turned by one of
// them, and none is missed.
func (s *Service) Dispatch(ctx context.Context, school lyceum.SchoolID) (more bool, err error) {
	v := s.store.In(ctx, school)
	from, err := v.GetCursor(dispatched)
	if err != nil {
		return false, err
	}
	last, err := v.LastEntry() // read before the webhooks; later entries are left for the next call
	if err != nil || last == from {
		return false, err
	}
	hooks, err := lyceum.All(v.Webhooks, v, live)
	if err != nil {
		return false, err
	}
	names := wanted(hooks)
	if len(names) == 0 {
		return false, s.keep(ctx, school, from, last, nil)
	}
	listing, err := v.FindChanges(lyceum.ChangeFilter{After: from, Limit: batchFor(hooks), Events: true, Names: names})
	if err != nil {
		return false, err
	}
	// A later entry may be for a webhook that is not in hooks. What was sent again is pending already.
	listing.Changes = slices.DeleteFunc(listing.Changes, func(c lyceum.ChangeRecord) bool {
		return c.Number > last || c.Type == lyceum.WebhookEventResent
	})
	listing.Next = min(listing.Next, last)
	payloads, err := s.payloads(ctx, school, listing.Changes)
	if err != nil {
		return false, err
	}
	return listing.More, s.keep(ctx, school, from, listing.Next, payloads)
}

// payloads returns the payloads of events. It renders several at a time, because each takes a few
// round trips to the database.
func (s *Service) payloads(
	ctx context.Context, school lyceum.SchoolID, changes []lyceum.ChangeRecord,
) ([]lyceum.EventPayload, error) {
	rendered := make([]lyceum.EventPayload, len(changes))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(renderedAtOnce)
	for i := range changes {
		group.Go(func() (err error) {
			rendered[i], err = s.payload(s.store.In(ctx, school), school, &changes[i])
			return err
		})
	}
	return rendered, group.Wait()
}

// batchFor returns how many events one write turns into deliveries.
func batchFor(hooks []lyceum.Webhook) int {
	return max(1, min(dispatchSize, deliveryBatch/max(1, len(hooks))))
}

// wanted returns the events that any of the webhooks receives.
func wanted(hooks []lyceum.Webhook) []lyceum.EventName {
	return slices.DeleteFunc(lyceum.EventNames(), func(name lyceum.EventName) bool {
		return !slices.ContainsFunc(hooks, func(w lyceum.Webhook) bool { return hears(&w, name) })
	})
}

// keep turns events into deliveries, unless another process was faster. It decides here which
// webhooks receive them, because one that was switched on since they were read must not miss
// any.
func (s *Service) keep(
	ctx context.Context, school lyceum.SchoolID, from, to int64, payloads []lyceum.EventPayload,
) error {
	now := s.clock()
	return s.store.Write(ctx, lyceum.Stamp{School: school, At: now, Actor: "webhooks"}, func(tx lyceum.Tx) error {
		mine, err := tx.MoveCursor(dispatched, from, to)
		if err != nil || !mine || len(payloads) == 0 {
			return err
		}
		hooks, err := lyceum.All(tx.Webhooks, tx, live)
		if err != nil {
			return err
		}
		var delivered []lyceum.EventPayload
		var deliveries []lyceum.WebhookEvent
		for i := range payloads {
			p := &payloads[i]
			before := len(deliveries)
			for n := range hooks {
				if w := &hooks[n]; hears(w, p.Event) && p.Number > w.Since {
					deliveries = append(deliveries, delivery(w, p, 0, now))
				}
			}
			if len(deliveries) > before {
				delivered = append(delivered, *p)
			}
		}
		if len(deliveries) == 0 {
			return nil
		}
		if err := tx.Reserve(len(deliveries), lyceum.WebhookEventSequence); err != nil {
			return err
		}
		for i := range deliveries {
			if deliveries[i].ID, err = tx.Deliveries.NextID(tx); err != nil {
				return err
			}
		}
		if err := tx.Payloads.Insert(tx, delivered...); err != nil {
			return err
		}
		return tx.CreateDeliveries(deliveries)
	})
}

// hears reports whether this school sends events with a name to a webhook.
func hears(w *lyceum.Webhook, event lyceum.EventName) bool {
	return w.Live && !w.DeletedAt.Present && w.Wants(event)
}

// delivery returns the delivery of an event to a webhook. For a webhook that has failed, it is
// not sent until it is replayed.
func delivery(w *lyceum.Webhook, p *lyceum.EventPayload, id lyceum.WebhookEventID, now time.Time) lyceum.WebhookEvent {
	kind, _, _ := strings.Cut(string(p.Event), ".")
	d := lyceum.WebhookEvent{
		ID: id, Webhook: w.ID, State: lyceum.DeliveryPending, CreatedAt: lyceum.Second(p.At), ObjectType: kind,
		ObjectID: p.ObjectID, Number: lyceum.Some(p.Number), NextAttemptAt: lyceum.Some(now),
	}
	if w.State == lyceum.WebhookFailed {
		d.State, d.NextAttemptAt, d.ResponseStatus = lyceum.DeliveryFailed, lyceum.None[time.Time](),
			lyceum.Some[int32](cancelled)
	}
	return d
}

// cancelled is the status of a delivery that was given up.
const cancelled = 410
