package events

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// oldSecretLife is how long the previous secret signs alongside a new one.
const oldSecretLife = 24 * time.Hour

// WebhookForm has the settings of a webhook that is created or changed.
type WebhookForm struct {
	URL      string
	Events   []string // names; empty for all
	AsArray  bool
	Schedule lyceum.Schedule // empty: that of the contract
	// RateLimit is the maximum number of messages per minute; 0 is no limit.
	RateLimit int32
}

// MaxRateLimit is the largest limit of a webhook, in messages per minute.
const MaxRateLimit = 60_000

// WithSecret is a webhook with its secret, which is shown once.
type WithSecret struct {
	lyceum.Webhook

	Secret []byte
}

// check rejects invalid settings, and returns the trigger.
func (s *Service) check(f *WebhookForm) (trigger string, err error) {
	var wrong []lyceum.FieldError
	if err := s.CheckURL(f.URL); err != nil {
		wrong = append(wrong, lyceum.Public(err).Fields...)
	}
	if f.Schedule == "" {
		f.Schedule = lyceum.ContractSchedule
	}
	if f.Schedule != lyceum.ContractSchedule && f.Schedule != lyceum.StandardSchedule {
		wrong = append(wrong, lyceum.FieldError{Field: "schedule", Message: "must be contract or standard"})
	}
	if f.RateLimit < 0 || f.RateLimit > MaxRateLimit {
		wrong = append(wrong, lyceum.FieldError{
			Field:   "rate_limit",
			Message: fmt.Sprintf("must be from 0 (no limit) to %d", MaxRateLimit),
		})
	}
	known := lyceum.EventNames()
	names := slices.Compact(slices.Sorted(slices.Values(f.Events)))
	for _, name := range names {
		if !slices.Contains(known, lyceum.EventName(name)) {
			wrong = append(wrong, lyceum.FieldError{
				Field:   "events",
				Message: "must be names of events, such as Sale.created, or empty for all; there are " + listed(known),
			})
			break
		}
	}
	if len(wrong) > 0 {
		return "", lyceum.InvalidFields(wrong...)
	}
	if len(names) == 0 {
		return lyceum.AllEvents, nil
	}
	return strings.Join(names, ","), nil
}

func listed(names []lyceum.EventName) string {
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = string(name)
	}
	return strings.Join(words, ", ")
}

// overlap rejects a webhook if another one has the same URL and one of its events
// (docs/own-interface.md).
func overlap(tx lyceum.Tx, w *lyceum.Webhook) error {
	others, err := lyceum.All(tx.Webhooks, tx, live)
	if err != nil {
		return err
	}
	for i := range others {
		other := &others[i]
		if other.ID == w.ID || other.URL != w.URL {
			continue
		}
		for _, event := range lyceum.EventNames() {
			if w.Wants(event) && other.Wants(event) {
				return &lyceum.Error{Kind: lyceum.Conflict, Code: "webhook_exists", Detail: fmt.Sprintf("webhook %d already "+
					"sends %s to this URL; two webhooks with the same URL must not share an event", other.ID, event)}
			}
		}
	}
	return nil
}

// maxWebhooks is the maximum number of webhooks that a school sends to.
const maxWebhooks = 100

// room rejects a webhook beyond maxWebhooks.
func room(tx lyceum.Tx) error {
	sending, err := lyceum.All(tx.Webhooks, tx, live)
	if err != nil {
		return err
	}
	if len(sending) >= maxWebhooks {
		return &lyceum.Error{
			Kind: lyceum.Conflict, Code: "too_many_webhooks",
			Detail: fmt.Sprintf("a school can have at most %d webhooks; delete one, or send more events to one of "+
				"them", maxWebhooks),
		}
	}
	return nil
}

var errNoRing = &lyceum.Error{Kind: lyceum.Conflict, Code: "no_secret_key", Detail: "this server has no secret " +
	"key to sign with; its operator sets one with --secret-key-file"}

// Create creates a webhook.
func (s *Service) Create(ctx context.Context, by lyceum.By, f WebhookForm) (WithSecret, error) {
	key, there := s.Ring.First()
	if !there {
		return WithSecret{}, errNoRing
	}
	now := s.clock()
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (WithSecret, error) {
		trigger, err := s.check(&f)
		if err != nil {
			return WithSecret{}, err
		}
		if err := room(tx); err != nil {
			return WithSecret{}, err
		}
		id, err := tx.Webhooks.NextID(tx)
		if err != nil {
			return WithSecret{}, err
		}
		since, err := tx.LastEntry()
		if err != nil {
			return WithSecret{}, err
		}
		w := lyceum.Webhook{
			ID: id, Since: since, State: lyceum.WebhookPending, URL: f.URL, EventTrigger: trigger,
			CreatedAt: now.UTC().Truncate(time.Microsecond), Live: true, AsArray: f.AsArray, Schedule: f.Schedule,
			RateLimit: f.RateLimit, SecretKey: key.ID(),
		}
		if err := overlap(tx, &w); err != nil {
			return WithSecret{}, err
		}
		_, err = tx.Webhooks.Save(tx, w)
		return WithSecret{w, secretOf(key, by.School, w.ID, 0)}, err
	})
}

// change runs a change of a webhook that this school sends to. result turns the changed webhook
// into the return value.
func change[T any](ctx context.Context, s *Service, by lyceum.By, id lyceum.WebhookID, result func(lyceum.Webhook) T,
	do func(tx lyceum.Tx, w *lyceum.Webhook, now time.Time) error,
) (T, error) {
	now := s.clock()
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (T, error) {
		w, err := tx.Webhooks.Get(tx, id)
		if err := own(&w, err); err != nil {
			return result(w), err
		}
		before := w
		if err := do(tx, &w, now); err != nil || w == before {
			return result(w), err
		}
		_, err = tx.Webhooks.Save(tx, w)
		return result(w), err
	})
}

// itself is a result that is just the webhook.
func itself(w lyceum.Webhook) lyceum.Webhook { return w }

// own rejects a webhook that was deleted, or that another server sends to.
func own(w *lyceum.Webhook, err error) error {
	if err := standing(w, err); err != nil {
		return err
	}
	if !w.Live {
		return &lyceum.Error{Kind: lyceum.Conflict, Code: "record_only", Detail: fmt.Sprintf("webhook %d was copied "+
			"from another server: nothing is sent to it", w.ID)}
	}
	return nil
}

// Update changes the settings of a webhook.
func (s *Service) Update(
	ctx context.Context, by lyceum.By, id lyceum.WebhookID, apply func(*WebhookForm),
) (lyceum.Webhook, error) {
	return change(ctx, s, by, id, itself, func(tx lyceum.Tx, w *lyceum.Webhook, _ time.Time) error {
		before := w.Shown()
		f := WebhookForm{URL: w.URL, AsArray: w.AsArray, Schedule: w.Schedule, RateLimit: w.RateLimit}
		if w.EventTrigger != lyceum.AllEvents {
			f.Events = strings.Split(w.EventTrigger, ",")
		}
		apply(&f)
		trigger, err := s.check(&f)
		if err != nil {
			return err
		}
		w.URL, w.EventTrigger, w.AsArray, w.Schedule, w.RateLimit = f.URL, trigger, f.AsArray, f.Schedule, f.RateLimit
		if err := by.CheckShown(before, w.Shown()); err != nil {
			return err
		}
		return overlap(tx, w)
	})
}

// Delete deletes a webhook. Its pending deliveries are given up.
func (s *Service) Delete(ctx context.Context, by lyceum.By, id lyceum.WebhookID) error {
	_, err := change(ctx, s, by, id, itself, func(tx lyceum.Tx, w *lyceum.Webhook, now time.Time) error {
		w.DeletedAt = lyceum.Some(lyceum.Second(now))
		_, err := tx.CancelDeliveries(id)
		return err
	})
	return err
}

// Rotate gives a webhook a new secret. For a day, the old one signs as well.
func (s *Service) Rotate(ctx context.Context, by lyceum.By, id lyceum.WebhookID) (WithSecret, error) {
	key, there := s.Ring.First()
	if !there {
		return WithSecret{}, errNoRing
	}
	withSecret := func(w lyceum.Webhook) WithSecret {
		return WithSecret{w, secretOf(key, by.School, w.ID, w.SecretGeneration)}
	}
	return change(ctx, s, by, id, withSecret, func(tx lyceum.Tx, w *lyceum.Webhook, now time.Time) error {
		w.SecretGeneration++
		w.OldSecretKey, w.SecretKey = w.SecretKey, key.ID()
		w.OldSecretUntil = lyceum.Some(lyceum.Second(now).Add(oldSecretLife))
		tx.Note(lyceum.WebhookSecretRotated, int32(id))
		return nil
	})
}

// announceAgain announces deliveries that are sent again, and returns their payloads.
func announceAgain(tx lyceum.Tx, again []lyceum.WebhookEvent) (map[int64]lyceum.EventPayload, error) {
	slices.SortFunc(again, func(a, b lyceum.WebhookEvent) int { return cmp.Compare(a.ID, b.ID) })
	numbers := make([]int64, len(again))
	for i := range again {
		numbers[i] = again[i].Number.Value
	}
	payloads, err := tx.Payloads.Find(tx, numbers...)
	for i := range again {
		tx.Announce(lyceum.WebhookEventResent, int32(again[i].ID), payloads[numbers[i]].Event, "")
	}
	return payloads, err
}

// sending rejects a webhook that nothing is sent to.
func sending(w *lyceum.Webhook, err error) error {
	if err := own(w, err); err != nil {
		return err
	}
	if w.State == lyceum.WebhookFailed {
		return &lyceum.Error{
			Kind: lyceum.Conflict, Code: "webhook_failed",
			Detail: fmt.Sprintf("webhook %d has failed; resume it first", w.ID),
		}
	}
	return nil
}

// ResendOne sends one delivery again, with its original id.
func (s *Service) ResendOne(ctx context.Context, by lyceum.By, id lyceum.WebhookEventID) (Named, error) {
	now := s.clock()
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (Named, error) {
		kept, err := tx.Deliveries.Get(tx, id)
		d := Named{WebhookEvent: kept}
		if err != nil {
			return d, err
		}
		w, err := tx.Webhooks.Get(tx, d.Webhook)
		if err := sending(&w, err); err != nil {
			return d, err
		}
		if !d.Number.Present {
			return d, &lyceum.Error{Kind: lyceum.Conflict, Code: "record_only", Detail: fmt.Sprintf("delivery %d was "+
				"copied from another server", id)}
		}
		d.State, d.Tries, d.NextAttemptAt = lyceum.DeliveryPending, 0, lyceum.Some(now)
		if err := tx.UpdateDelivery(d.WebhookEvent); err != nil {
			return d, err
		}
		payloads, err := announceAgain(tx, []lyceum.WebhookEvent{d.WebhookEvent})
		if _, stored := payloads[d.Number.Value]; err == nil && !stored {
			return d, &lyceum.Error{Kind: lyceum.Conflict, Code: "event_not_stored", Detail: fmt.Sprintf("the event of "+
				"delivery %d is no longer stored", id)}
		}
		d.Name = payloads[d.Number.Value].Event
		return d, err
	})
}

// Test sends a webhook an event that did not happen, to try out its receiver. The event is about
// a made-up person with the id 0, and is not livemode. Without a name, it is the first event
// that the webhook receives.
func (s *Service) Test(ctx context.Context, by lyceum.By, id lyceum.WebhookID, name lyceum.Opt[string]) (Named, error) {
	v := s.store.In(ctx, by.School)
	w, err := v.Webhooks.Get(v, id)
	if err := sending(&w, err); err != nil {
		return Named{}, err
	}
	known := lyceum.EventNames()
	event := lyceum.EventName(name.Value)
	if at := slices.IndexFunc(known, w.Wants); !name.Present && at >= 0 {
		event = known[at]
	}
	if !slices.Contains(known, event) {
		return Named{}, lyceum.InvalidFields(lyceum.FieldError{
			Field:   "event",
			Message: "must be the name of an event; there are " + listed(known),
		})
	}
	now := s.clock()
	object, err := s.sample(by.School, event, now)
	if err != nil {
		return Named{}, err
	}
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (Named, error) {
		w, err := tx.Webhooks.Get(tx, id)
		if err := sending(&w, err); err != nil {
			return Named{}, err
		}
		number, err := tx.Deliveries.NextID(tx)
		if err != nil {
			return Named{}, err
		}
		p := lyceum.EventPayload{Number: -int64(number), Event: event, At: now, Object: string(object)}
		d := Named{delivery(&w, &p, number, now), event}
		tx.Note(lyceum.WebhookEventCreated, int32(number))
		if err := tx.Payloads.Insert(tx, p); err != nil {
			return d, err
		}
		return d, tx.CreateDeliveries([]lyceum.WebhookEvent{d.WebhookEvent})
	})
}
