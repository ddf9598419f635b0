package events

import (
	"context"
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// replaySize is the maximum number of deliveries that one write restarts. More of them take
// several writes.
const replaySize = 250

// replay is the progress of a change that restarts many deliveries.
type replay struct {
	Last lyceum.Opt[lyceum.WebhookEvent]
	Sent int

	webhook lyceum.Webhook // as the previous part left it
}

// part restarts the next deliveries, announces them, and returns the progress and whether there
// are more.
func (r replay) part(tx lyceum.Tx, f lyceum.ResendFilter, at time.Time) (_ replay, more bool, err error) {
	again, err := tx.ReplayDeliveries(f, r.Last, replaySize, at)
	if err != nil {
		return r, false, err
	}
	if n := len(again); n > 0 {
		r.Sent += n
		r.Last = lyceum.Some(again[n-1])
	}
	more = len(again) == replaySize
	_, err = announceAgain(tx, again)
	return r, more, err
}

// What to do about the rest of a replay that was interrupted. A webhook that was resumed is on
// again, and cannot be resumed a second time.
const (
	repeat     = "repeat the request for the rest"
	resendRest = "the webhook is enabled again; resend the other failed deliveries with POST /lyceum/v1/webhooks/%d/resend"
)

// brokenOff adds to an error how many deliveries were restarted before it, and what to do about
// the rest.
func (r replay) brokenOff(err error, todo string) error {
	if e := lyceum.Public(err); e.Kind == lyceum.Unavailable && r.Sent > 0 {
		return &lyceum.Error{Kind: e.Kind, Err: err, Detail: fmt.Sprintf(
			"%d deliveries will be sent again; then the database could not be reached or was busy; %s", r.Sent, todo)}
	}
	return err
}

// Resume switches a failed webhook on again. With replay, it sends everything that the webhook
// missed, with the original ids. Without it, deliveries that are still pending are given up.
func (s *Service) Resume(ctx context.Context, by lyceum.By, id lyceum.WebhookID, with Replay) (lyceum.Webhook, error) {
	for more := with == WithoutReplay; more; {
		err := s.store.Write(ctx, by.Stamp(s.clock()), func(tx lyceum.Tx) error {
			w, err := tx.Webhooks.Get(tx, id)
			if err := own(&w, err); err != nil {
				return err
			}
			if more = w.State == lyceum.WebhookFailed; more {
				more, err = tx.CancelDeliveries(id)
			}
			return err
		})
		if err != nil {
			return lyceum.Webhook{}, err
		}
	}
	now := s.clock()
	missed := lyceum.ResendFilter{Webhook: id, State: lyceum.Some(lyceum.DeliveryFailed)}
	r, err := lyceum.ChangeInParts(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx, r replay) (replay, bool, error) {
		var err error
		r.webhook, err = tx.Webhooks.Get(tx, id)
		if err := own(&r.webhook, err); err != nil {
			return r, false, err
		}
		if r.Sent == 0 {
			if err := switchOn(tx, &r.webhook); err != nil || with == WithoutReplay {
				return r, false, err
			}
		}
		return r.part(tx, missed, now)
	}, func(r replay) lyceum.Webhook { return r.webhook })
	return r.webhook, r.brokenOff(err, fmt.Sprintf(resendRest, id))
}

// switchOn switches a failed webhook on again.
func switchOn(tx lyceum.Tx, w *lyceum.Webhook) error {
	if w.State != lyceum.WebhookFailed {
		return &lyceum.Error{
			Kind: lyceum.Conflict, Code: "not_failed",
			Detail: fmt.Sprintf("webhook %d is %s, not failed", w.ID, w.State),
		}
	}
	w.State, w.FailedAt = lyceum.WebhookPending, lyceum.None[time.Time]()
	_, err := tx.Webhooks.Save(tx, *w)
	return err
}

// Replay says what happens to the deliveries that a failed webhook missed.
type Replay uint8

// Values of Replay.
const (
	WithReplay Replay = iota
	WithoutReplay
)

// Resend sends the deliveries of a webhook that pass the filter again, with their original ids.
func (s *Service) Resend(ctx context.Context, by lyceum.By, f lyceum.ResendFilter) (int, error) {
	now := s.clock()
	r, err := lyceum.ChangeInParts(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx, r replay) (replay, bool, error) {
		w, err := tx.Webhooks.Get(tx, f.Webhook)
		if err := sending(&w, err); err != nil {
			return r, false, err
		}
		return r.part(tx, f, now)
	}, func(r replay) int { return r.Sent })
	return r.Sent, r.brokenOff(err, repeat)
}
