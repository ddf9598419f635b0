package events_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// meanwhile is a store in which something happens between the reads before the next write and
// the write itself.
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

// resume switches a webhook on again, and sends what it missed.
func (p *post) resume(t *testing.T, id lyceum.WebhookID) {
	t.Helper()
	if _, err := p.events.Resume(t.Context(), p.by(), id, events.WithReplay); err != nil {
		t.Error(err)
	}
}

// idsOf returns the sorted ids of parcels.
func idsOf(came []events.Parcel) (ids []lyceum.WebhookEventID) {
	for i := range came {
		ids = append(ids, came[i].ID)
	}
	slices.Sort(ids)
	return ids
}

// TestR17_AttemptsFollowTheSchedule checks that a receiver that is down for long is tried again
// on the schedule, within a fifth, under one id, and that it gets the event once it is up, or
// the webhook fails after the last attempt.
func TestR17_AttemptsFollowTheSchedule(t *testing.T) {
	t.Parallel()
	standard := []time.Duration{
		5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
	contract := []time.Duration{5 * time.Minute, 30 * time.Minute, 2 * time.Hour}
	for name, tc := range map[string]struct {
		schedule lyceum.Schedule
		pauses   []time.Duration
		last     int // status of the last response
		want     string
		state    lyceum.WebhookState
	}{
		"standard, and up at last":  {lyceum.StandardSchedule, standard, 200, "delivered 200", lyceum.WebhookVerified},
		"standard, and never up":    {lyceum.StandardSchedule, standard, 500, "failed 500", lyceum.WebhookFailed},
		"contract, and up at last":  {lyceum.ContractSchedule, contract, 204, "delivered 204", lyceum.WebhookVerified},
		"contract, and never up":    {"", contract, 302, "failed 302", lyceum.WebhookFailed},
		"contract, and gone midway": {"", contract[:1], 410, "failed 410", lyceum.WebhookFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPost(t, openStore(t))
			to := p.hook(t, events.WebhookForm{Schedule: tc.schedule})
			to.answer = status(500)
			p.sell(t)
			p.rounds(t)
			id := to.letters()[0].ID
			for n, pause := range tc.pauses {
				d, err := p.events.Show(t.Context(), p.by(), id)
				if err != nil {
					t.Fatal(err)
				}
				wait := d.NextAttemptAt.Value.Sub(p.clock.Now())
				if off := (wait - pause).Abs(); off > pause/5 || d.State != lyceum.DeliveryPending {
					t.Fatalf("attempt %d comes after %v, want %v within a fifth; %s", n+2, wait, pause, d.State)
				}
				p.clock.Pass(wait - time.Millisecond)
				p.rounds(t)
				if early := to.letters(); len(early) > 0 {
					t.Fatalf("attempt %d came early", n+2)
				}
				if n == len(tc.pauses)-1 {
					to.answer = status(tc.last)
				}
				p.clock.Pass(time.Millisecond)
				p.rounds(t)
				if came := to.letters(); len(came) != 1 || came[0].ID != id {
					t.Fatalf("attempt %d: %v", n+2, came)
				}
			}
			p.clock.Pass(30 * time.Hour)
			p.rounds(t)
			if more := to.letters(); len(more) > 0 {
				t.Errorf("%d more attempts", len(more))
			}
			if told, _ := p.states(t, to.ID); told[0] != tc.want {
				t.Error(told)
			}
			w := p.webhook(t, to.ID)
			if w.State != tc.state || w.FailedAt.Present != (tc.state == lyceum.WebhookFailed) {
				t.Errorf("the webhook is %s, failed at %v", w.State, w.FailedAt)
			}
		})
	}
}

// TestRetryAfter checks that the next attempt comes when the receiver requested it if that is
// later than the schedule, and otherwise on the schedule.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for asked, want := range map[time.Duration]struct{ least, most time.Duration }{
		time.Hour:   {time.Hour, time.Hour},
		time.Second: {4 * time.Minute, 6 * time.Minute},
	} {
		p := newPost(t, openStore(t))
		to := p.hook(t, events.WebhookForm{})
		to.answer = func() events.Outcome { return events.Outcome{Status: 429, RetryAfter: asked} }
		p.sell(t)
		p.rounds(t)
		d, err := p.events.Show(t.Context(), p.by(), to.letters()[0].ID)
		if wait := d.NextAttemptAt.Value.Sub(p.clock.Now()); err != nil || wait < want.least || wait > want.most {
			t.Errorf("after %v was asked for the next attempt comes in %v, %v", asked, wait, err)
		}
	}
}

// TestR17_ResumedWhileDispatched checks that an event that is being dispatched while a failed
// webhook is resumed is sent to it as well.
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
		slow := &meanwhile{store, func() { p.resume(t, to.ID) }}
		if _, err := events.New(slow, p.clock.Now, options()).Dispatch(t.Context(), p.school); err != nil {
			t.Fatal(err)
		}
		p.rounds(t)
		if told, _ := p.states(t, to.ID); !slices.Equal(told, []string{"delivered 200", "delivered 200"}) {
			t.Error(told)
		}
	})
}

// TestR17_AFailedWebhookMissesNothing checks that after four attempts the webhook has failed and
// its pending deliveries are given up as 410, and that once it is resumed, everything that it
// missed is sent, with the original ids.
func TestR17_AFailedWebhookMissesNothing(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		to := p.hook(t, events.WebhookForm{})
		to.answer = status(503)
		p.sell(t)
		for range 3 {
			p.rounds(t)
			p.clock.Pass(3 * time.Hour)
		}
		p.sell(t)
		p.rounds(t)
		if told, _ := p.states(t, to.ID); told[0] != "failed 503" || told[1] != "failed 410" && told[1] != "failed 503" {
			t.Error(told)
		}
		p.sell(t)
		p.rounds(t)
		told, ids := p.states(t, to.ID)
		if told[2] != "failed 410" || p.webhook(t, to.ID).State != lyceum.WebhookFailed {
			t.Error(told, p.webhook(t, to.ID).State)
		}
		to.letters()
		if _, err := p.events.ResendOne(t.Context(), p.by(), ids[0]); lyceum.Public(err).Code != "webhook_failed" {
			t.Error(err)
		}
		to.answer = status(200)
		p.resume(t, to.ID)
		p.rounds(t)
		if diff := cmp.Diff(ids, idsOf(to.letters())); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if told, _ := p.states(t, to.ID); !slices.Equal(told, []string{"delivered 200", "delivered 200", "delivered 200"}) || p.webhook(t, to.ID).State != lyceum.WebhookVerified {
			t.Error(told)
		}
		if _, err := p.events.Resume(t.Context(), p.by(), to.ID, events.WithReplay); lyceum.Public(err).Code != "not_failed" {
			t.Errorf("resumed a second time: %v", err)
		}
	})
}

// TestResumeWithoutReplay checks that a webhook that is resumed without replay gets new events
// only; what it missed stays given up.
func TestResumeWithoutReplay(t *testing.T) {
	t.Parallel()
	p := newPost(t, openStore(t))
	to := p.hook(t, events.WebhookForm{})
	to.answer = status(410)
	p.sell(t)
	p.rounds(t)
	to.answer = status(200)
	if _, err := p.events.Resume(t.Context(), p.by(), to.ID, events.WithoutReplay); err != nil {
		t.Fatal(err)
	}
	p.sell(t)
	p.rounds(t)
	if told, _ := p.states(t, to.ID); !slices.Equal(told, []string{"failed 410", "delivered 200"}) {
		t.Error(told)
	}
}

// TestResumeWithoutReplayOfMany checks that all pending deliveries are given up when a webhook
// is resumed without replay, however many they are, but none of a webhook that has not failed.
func TestResumeWithoutReplayOfMany(t *testing.T) {
	t.Parallel()
	p := newPost(t, openStore(t))
	to := p.hook(t, events.WebhookForm{})
	p.sell(t)
	const most = 1200
	storetest.Write(t, p.store, p.school, func(tx lyceum.Tx) error {
		for range most - 1 {
			tx.Announce(lyceum.SaleCreated, 1, lyceum.SaleCreatedEvent, "")
		}
		return nil
	})
	p.dispatch(t)
	_, err := p.events.Resume(t.Context(), p.by(), to.ID, events.WithoutReplay)
	if lyceum.Public(err).Code != "not_failed" {
		t.Errorf("resumed before it failed: %v", err)
	}
	if told, _ := p.states(t, to.ID); len(told) != most || slices.ContainsFunc(told, func(s string) bool { return s != "pending 0" }) {
		t.Fatalf("%d deliveries, of which not all wait", len(told))
	}
	claimed, err := p.events.Claim(t.Context(), lyceum.DueWebhook{School: p.school, Webhook: to.ID}, 1)
	if err != nil || len(claimed) != 1 {
		t.Fatal(claimed, err)
	}
	to.answer = status(410)
	p.deliver(t, &claimed[0])
	to.answer = status(200)
	to.letters()
	if _, err := p.events.Resume(t.Context(), p.by(), to.ID, events.WithoutReplay); err != nil {
		t.Fatal(err)
	}
	p.rounds(t)
	if came := to.letters(); len(came) != 0 {
		t.Errorf("%d came that were given up", len(came))
	}
	if told, _ := p.states(t, to.ID); slices.ContainsFunc(told, func(s string) bool { return s != "failed 410" }) {
		t.Errorf("the deliveries are %v", slices.Compact(told))
	}
}

// TestR17_WhatWasClaimedAndLostComesAgain checks that if a process dies between sending a
// delivery and reporting it, the delivery is sent again, under the same id, once the claim
// expires, and not before.
func TestR17_WhatWasClaimedAndLostComesAgain(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		to := p.hook(t, events.WebhookForm{})
		p.sell(t)
		p.dispatch(t)
		due := lyceum.DueWebhook{School: p.school, Webhook: to.ID}
		lost, err := p.events.Claim(t.Context(), due, 10)
		if err != nil || len(lost) != 1 {
			t.Fatal(lost, err)
		}
		p.rounds(t)
		if came := to.letters(); len(came) != 0 {
			t.Errorf("%d came while the lease holds", len(came))
		}
		p.clock.Pass(time.Minute)
		p.rounds(t)
		if came := to.letters(); len(came) != 1 || came[0].ID != lost[0].ID {
			t.Errorf("came again: %v", came)
		}
		// The first process was only slow, not dead: its failure undoes nothing.
		if err := p.events.Report(t.Context(), &lost[0], events.Outcome{Status: 500}); err != nil {
			t.Fatal(err)
		}
		d, err := p.events.Show(t.Context(), p.by(), lost[0].ID)
		if err != nil || d.State != lyceum.DeliveryDelivered || d.AttemptCount != 2 || len(d.Attempts) != 2 || d.NextAttemptAt.Present {
			t.Errorf("%+v, %v", d, err)
		}
	})
}

// TestTwoCouriersClaim checks that two couriers claim each delivery once between them, and no
// more than their limit.
func TestTwoCouriersClaim(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		to := p.hook(t, events.WebhookForm{})
		for range 5 {
			p.sell(t)
		}
		p.dispatch(t)
		due := lyceum.DueWebhook{School: p.school, Webhook: to.ID}
		other := events.New(store, p.clock.Now, options())
		var all []events.Parcel
		for n, courier := range []*events.Service{p.events, other, p.events} {
			claimed, err := courier.Claim(t.Context(), due, 3)
			if want := []int{3, 2, 0}[n]; err != nil || len(claimed) != want {
				t.Errorf("courier %d claims %d, %v; want %d", n, len(claimed), err, want)
			}
			all = append(all, claimed...)
		}
		_, ids := p.states(t, to.ID)
		if diff := cmp.Diff(ids, idsOf(all)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestTwoCouriersDispatch checks that two couriers that read the same events dispatch them once:
// the second finds that the cursor has moved.
func TestTwoCouriersDispatch(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		to := p.hook(t, events.WebhookForm{})
		p.sell(t)
		p.sell(t)
		slow := &meanwhile{store, func() { p.dispatch(t) }}
		if _, err := events.New(slow, p.clock.Now, options()).Dispatch(t.Context(), p.school); err != nil {
			t.Fatal(err)
		}
		p.dispatch(t)
		if told, _ := p.states(t, to.ID); len(told) != 2 {
			t.Errorf("%d deliveries of two sales", len(told))
		}
		if left, err := p.events.Undispatched(t.Context()); err != nil || len(left) != 0 {
			t.Errorf("schools with events: %v, %v", left, err)
		}
	})
}

// TestR31_EventsAfterTheClockIsSetBack checks that a webhook receives the events after it in the
// journal, whatever the clock says, and none from before.
func TestR31_EventsAfterTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		p.sell(t)
		to := p.hook(t, events.WebhookForm{})
		p.clock.Pass(-time.Hour)
		after := p.sell(t)
		p.rounds(t)
		if came := to.letters(); len(came) != 1 {
			t.Fatalf("%d messages came, want the one of transaction %d", len(came), after)
		}
	})
}

// TestWhoIsTold checks that each webhook receives its events, and that a deleted one receives
// none.
func TestWhoIsTold(t *testing.T) {
	t.Parallel()
	p := newPost(t, openStore(t))
	sold, paid := p.hook(t, events.WebhookForm{}), p.hook(t, events.WebhookForm{Events: []string{"Transaction.created"}, AsArray: true})
	all, gone := p.hook(t, events.WebhookForm{Events: []string{}}), p.hook(t, events.WebhookForm{})
	if err := p.events.Delete(t.Context(), p.by(), gone.ID); err != nil {
		t.Fatal(err)
	}
	p.sell(t)
	p.rounds(t)
	for _, tc := range []struct {
		to   *receiver
		want []string
	}{
		{sold, []string{"Sale.created"}},
		{paid, []string{"Transaction.created"}},
		{all, []string{"Enrollment.created", "Sale.created", "Transaction.created"}},
		{gone, nil},
	} {
		var got []string
		for _, parcel := range tc.to.letters() {
			body := parcel.Body
			if tc.to.AsArray {
				body = body[1 : len(body)-1]
			}
			e := opened(t, body)
			got = append(got, e.Type)
			if !e.Livemode || lyceum.WebhookEventID(e.HookEventID) != parcel.ID || e.Object["id"] != float64(e.ID) {
				t.Errorf("delivery %d: %s", parcel.ID, parcel.Body)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("webhook %d (-want +got):\n%s", tc.to.ID, diff)
		}
	}
	if _, err := p.events.Webhook(t.Context(), p.by(), gone.ID); lyceum.KindOf(err) != lyceum.NotFound {
		t.Errorf("a deleted webhook: %v", err)
	}
}

// TestDeletedWebhooksGetNothing checks that pending deliveries are given up when their webhook
// is deleted, even if a courier finds that out late.
func TestDeletedWebhooksGetNothing(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		to := p.hook(t, events.WebhookForm{})
		p.sell(t)
		p.dispatch(t)
		if err := p.events.Delete(t.Context(), p.by(), to.ID); err != nil {
			t.Fatal(err)
		}
		claimed, err := p.events.Claim(t.Context(), lyceum.DueWebhook{School: p.school, Webhook: to.ID}, 10)
		if err != nil || len(claimed) > 0 {
			t.Errorf("%d are claimed, %v", len(claimed), err)
		}
		if told, ids := p.states(t, to.ID); !slices.Equal(told, []string{"failed 410"}) {
			t.Error(told)
		} else if _, err := p.events.ResendOne(t.Context(), p.by(), ids[0]); lyceum.KindOf(err) != lyceum.NotFound {
			t.Errorf("resent: %v", err)
		}
		entries, err := storetest.FindEntries(t.Context(), store, p.school, 0, 1000)
		var told []lyceum.EntryType
		for i := range entries {
			if e := &entries[i]; strings.HasPrefix(string(e.Type), "webhook.") {
				told = append(told, e.Type)
			}
		}
		if want := []lyceum.EntryType{lyceum.WebhookCreated, lyceum.WebhookDeleted}; err != nil || !slices.Equal(told, want) {
			t.Errorf("the journal has %v, want %v: %v", told, want, err)
		}
	})
}
