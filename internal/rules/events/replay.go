package events

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// replaySize is how many deliveries one write begins anew at most. What is more
// is done in several.
const replaySize = 250

// replay is how far a change of many deliveries has come.
type replay struct {
	filter lyceum.ResendFilter
	at     time.Time
	last   lyceum.Opt[lyceum.WebhookEvent]
	sent   int
}

// part begins the next deliveries anew, tells those who listen, and returns how
// far it came and whether that was all.
func (r replay) part(tx lyceum.Tx) (_ replay, done bool, err error) {
	again, err := tx.ReplayDeliveries(r.filter, r.last, replaySize, r.at)
	if err != nil {
		return r, false, err
	}
	if n := len(again); n > 0 {
		r.sent += n
		r.last = lyceum.Some(again[n-1])
	}
	done = len(again) < replaySize
	_, err = tellAgain(tx, again)
	return r, done, err
}

// rest does what is left of a replay, write by write. An error says what to do
// about what is left then.
func (s *Service) rest(ctx context.Context, by lyceum.By, r replay, todo string) (replay, error) {
	for done := false; !done; {
		var next replay
		err := s.store.Write(ctx, lyceum.Stamp{School: by.School, At: r.at, Actor: by.Actor}, func(tx lyceum.Tx) (err error) {
			next, done, err = r.part(tx)
			return err
		})
		if err != nil {
			return r, r.brokenOff(err, todo)
		}
		r = next
	}
	return r, nil
}

// What to do about the rest of a replay that was broken off. A webhook that was
// resumed is on again, and cannot be resumed a second time.
const (
	repeat     = "repeat the request for the rest"
	resendRest = "the webhook is enabled again; resend the other failed deliveries with POST /lyceum/v1/webhooks/%d/resend"
)

// brokenOff says of an error after some parts what became of them, and what to
// do about the rest.
func (r replay) brokenOff(err error, todo string) error {
	if e := lyceum.Public(err); e.Kind == lyceum.Unavailable && r.sent > 0 {
		return &lyceum.Error{Kind: e.Kind, Err: err, Detail: fmt.Sprintf(
			"%d deliveries will be sent again; then the database could not be reached or was busy; %s", r.sent, todo)}
	}
	return err
}

// Resume switches a failed webhook on again. With replay everything that it
// missed is sent, under the ids it had. Without it what still waits is given up.
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
	var r replay
	done := true
	w, err := change(ctx, s, by, id, itself, func(tx lyceum.Tx, w *lyceum.Webhook, now time.Time) error {
		done = true
		if w.State != lyceum.WebhookFailed {
			return &lyceum.Error{
				Kind: lyceum.Conflict, Code: "not_failed",
				Detail: fmt.Sprintf("webhook %d is %s, not failed", id, w.State),
			}
		}
		w.State, w.FailedAt = lyceum.WebhookPending, lyceum.None[time.Time]()
		if with == WithoutReplay {
			return nil
		}
		r = replay{filter: lyceum.ResendFilter{Webhook: id, State: lyceum.Some(lyceum.DeliveryFailed)}, at: now}
		var err error
		r, done, err = r.part(tx)
		return err
	})
	if err != nil || done {
		return w, err
	}
	_, err = s.rest(ctx, by, r, fmt.Sprintf(resendRest, id))
	return w, err
}

// Replay says what becomes of what a failed webhook missed.
type Replay uint8

// The answers.
const (
	WithReplay Replay = iota
	WithoutReplay
)

// errMany tells that there is more to do than one write may.
var errMany = errors.New("more than one write")

// Resend sends the deliveries of a webhook that pass the filter again, under
// the ids they had. Of many the last write keeps the answer to the request's
// key.
func (s *Service) Resend(ctx context.Context, by lyceum.By, f lyceum.ResendFilter) (int, error) {
	begin := replay{filter: f, at: s.clock()}
	sent, err := lyceum.Change(ctx, s.store, by.Stamp(begin.at), func(tx lyceum.Tx) (int, error) {
		w, err := tx.Webhooks.Get(tx, f.Webhook)
		if err := sending(&w, err); err != nil {
			return 0, err
		}
		r, done, err := begin.part(tx)
		if err == nil && !done {
			err = errMany
		}
		return r.sent, err
	})
	if !errors.Is(err, errMany) {
		return sent, err
	}
	r, err := s.rest(ctx, by, begin, repeat)
	if err != nil {
		return r.sent, err
	}
	sent, err = lyceum.Change(ctx, s.store, by.Stamp(begin.at), func(lyceum.Tx) (int, error) { return r.sent, nil })
	return sent, r.brokenOff(err, repeat)
}
