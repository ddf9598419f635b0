package events_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// office is a school whose webhook has deliveries that are due.
type office struct {
	store  lyceum.Store
	school lyceum.SchoolID
	hook   lyceum.Webhook
	by     lyceum.By
}

func options() events.Options {
	return events.Options{
		Ring: lyceum.NewKeyring(lyceum.SecretKey{}), BaseURL: "https://school.example.com",
		CheckURL: func(address string) error {
			if address == "https://inside" {
				return lyceum.InvalidFields(lyceum.FieldError{Field: "url", Message: "leads inside"})
			}
			return nil
		},
	}
}

func now() time.Time { return storetest.Begin.Add(time.Hour) }

func openOffice(t *testing.T, store lyceum.Store, deliveries int) *office {
	t.Helper()
	o := &office{store: store, school: storetest.MakeSchool(t, store)}
	o.by = lyceum.By{School: o.school, Actor: "test"}
	made, err := events.New(store, now, options()).Create(t.Context(), o.by, events.WebhookForm{URL: "https://example.com/hook"})
	if err != nil {
		t.Fatal(err)
	}
	o.hook = made.Webhook
	storetest.Write(t, store, o.school, func(tx lyceum.Tx) error {
		var payloads []lyceum.EventPayload
		var all []lyceum.WebhookEvent
		for n := range deliveries {
			number := int64(n + 1)
			payloads = append(payloads, lyceum.EventPayload{Number: number, Event: lyceum.UserCreatedEvent, ObjectID: 1, At: storetest.Begin, Object: "{}"})
			all = append(all, lyceum.WebhookEvent{
				ID: lyceum.WebhookEventID(n + 1), Webhook: o.hook.ID, State: lyceum.DeliveryPending, CreatedAt: storetest.Begin, ObjectType: "User", ObjectID: 1,
				Number: lyceum.Some(number), NextAttemptAt: lyceum.Some(storetest.Begin),
			})
		}
		if deliveries > 0 {
			if err := tx.Reserve(deliveries, lyceum.WebhookEventSequence); err != nil {
				return err
			}
		}
		if err := tx.Payloads.Insert(tx, payloads...); err != nil {
			return err
		}
		return tx.CreateDeliveries(all)
	})
	return o
}

// become sets the state of the webhook.
func (o *office) become(state lyceum.WebhookState) func(lyceum.Tx) error {
	return func(tx lyceum.Tx) error {
		w, err := tx.Webhooks.Get(tx, o.hook.ID)
		if err != nil {
			return err
		}
		w.State = state
		_, err = tx.Webhooks.Save(tx, w)
		return err
	}
}

func openStore(t *testing.T) lyceum.Store {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// outdated reads from another database than it writes to, as may happen around a failover.
type outdated struct {
	lyceum.Store

	reads lyceum.Store
}

func (o *outdated) In(ctx context.Context, school lyceum.SchoolID) lyceum.View {
	return o.reads.In(ctx, school)
}

// TestNothingIsSentWithoutItsEvent checks that a delivery whose event cannot be read is sent
// only once it can.
func TestNothingIsSentWithoutItsEvent(t *testing.T) {
	t.Parallel()
	o, empty := openOffice(t, openStore(t), 1), openStore(t)
	if school := storetest.MakeSchool(t, empty); school != o.school {
		t.Fatalf("the schools are %d and %d", o.school, school)
	}
	due := lyceum.DueWebhook{School: o.school, Webhook: o.hook.ID}
	parcels, err := events.New(&outdated{o.store, empty}, now, options()).Claim(t.Context(), due, 10)
	if err != nil || len(parcels) > 0 {
		t.Errorf("claimed %v, %v", parcels, err)
	}
	later := func() time.Time { return now().Add(lyceum.ClaimLifetime) }
	if parcels, err = events.New(o.store, later, options()).Claim(t.Context(), due, 10); err != nil || len(parcels) != 1 {
		t.Errorf("claimed %v later, %v", parcels, err)
	}
}

// TestAnIdThatWasGivenOutAgain checks that the outcome of a delivery that a failover lost is not
// recorded for another delivery with the same id.
func TestAnIdThatWasGivenOutAgain(t *testing.T) {
	t.Parallel()
	o := openOffice(t, openStore(t), 1)
	service := events.New(o.store, now, options())
	parcels, err := service.Claim(t.Context(), lyceum.DueWebhook{School: o.school, Webhook: o.hook.ID}, 10)
	if err != nil || len(parcels) != 1 {
		t.Fatal(parcels, err)
	}
	for _, lost := range []func(*events.Parcel){
		func(p *events.Parcel) { p.Number = lyceum.Some[int64](7) },
		func(p *events.Parcel) { p.ObjectID = 7 },
		func(p *events.Parcel) { p.CreatedAt = p.CreatedAt.Add(time.Second) },
	} {
		p := parcels[0]
		lost(&p)
		if err := service.Report(t.Context(), &p, events.Outcome{Delivered: true, Status: 200}); err != nil {
			t.Fatal(err)
		}
		d, err := service.Show(t.Context(), o.by, p.ID)
		if err != nil || d.State != lyceum.DeliveryPending || d.AttemptCount != 0 || len(d.Attempts) != 0 {
			t.Errorf("%+v, %v", d, err)
		}
	}
}

// TestR23_WhatWasTakenBackIsNotSent checks that deliveries that a rolled-back change claimed are
// not sent if the change gives them up when it runs again.
func TestR23_WhatWasTakenBackIsNotSent(t *testing.T) {
	t.Parallel()
	o := openOffice(t, openStore(t), 3)
	storetest.Write(t, o.store, o.school, o.become(lyceum.WebhookFailed))
	again := &storetest.RunsTwice{Store: o.store, First: o.become(lyceum.WebhookVerified)}
	claimed, err := events.New(again, now, options()).Claim(t.Context(), lyceum.DueWebhook{School: o.school, Webhook: o.hook.ID}, 10)
	if err != nil || len(claimed) != 0 {
		t.Errorf("%d deliveries of a failed webhook are claimed, %v", len(claimed), err)
	}
}

// TestAFailedWebhookStaysFailed checks that a webhook that has failed stays so, even if a
// message that was being sent arrives before all pending deliveries are given up.
func TestAFailedWebhookStaysFailed(t *testing.T) {
	t.Parallel()
	o := openOffice(t, openStore(t), 700)
	service := events.New(o.store, now, options())
	claimed, err := service.Claim(t.Context(), lyceum.DueWebhook{School: o.school, Webhook: o.hook.ID}, 2)
	if err != nil || len(claimed) != 2 {
		t.Fatal(claimed, err)
	}
	for i, outcome := range []events.Outcome{{Status: 410}, {Status: 200, Delivered: true}} {
		if err := service.Report(t.Context(), &claimed[i], outcome); err != nil {
			t.Fatal(err)
		}
	}
	d, err := service.Show(t.Context(), o.by, claimed[1].ID)
	if err != nil || d.State != lyceum.DeliveryDelivered || d.Webhook.State != lyceum.WebhookFailed {
		t.Errorf("the delivery is %s and the webhook %s, %v", d.State, d.Webhook.State, err)
	}
}

// TestR49_ManyAreSentAgain checks that each write restarts only a few of many deliveries that
// are sent again, and that a repeated key restarts none.
func TestR49_ManyAreSentAgain(t *testing.T) {
	t.Parallel()
	const many = 700
	store := &longest{Store: openStore(t)}
	o := openOffice(t, store, many)
	service := events.New(store, now, options())
	store.most = 0
	by := o.by
	by.Once = &lyceum.Once{Key: "again", Render: func(n any) ([]byte, error) { return fmt.Append(nil, n), nil }}
	sent, err := service.Resend(t.Context(), by, lyceum.ResendFilter{Webhook: o.hook.ID})
	if err != nil || sent != many {
		t.Errorf("%d are sent again, %v; want %d", sent, err, many)
	}
	var before *lyceum.RepeatError
	if _, err := service.Resend(t.Context(), by, lyceum.ResendFilter{Webhook: o.hook.ID}); !errors.As(err, &before) || string(before.Body) != "700" {
		t.Errorf("the second time: %v", err)
	}
	o.wantResent(t, 1)

	storetest.Write(t, store.Store, o.school, o.become(lyceum.WebhookFailed))
	o.giveUp(t, store.Store)
	if _, err := service.Resume(t.Context(), o.by, o.hook.ID, events.WithReplay); err != nil {
		t.Fatal(err)
	}
	o.wantResent(t, 2)
	if store.most > 300 {
		t.Errorf("one write sends %d again", store.most)
	}
}

// TestR49_AResumeThatIsBrokenOff checks that since a resumed webhook cannot be resumed a second
// time, the error says how to send the rest, and that this works.
func TestR49_AResumeThatIsBrokenOff(t *testing.T) {
	t.Parallel()
	const many = 700
	busy := &busyAfter{Store: openStore(t), writes: 2}
	o := openOffice(t, busy.Store, many)
	storetest.Write(t, busy.Store, o.school, o.become(lyceum.WebhookFailed))
	o.giveUp(t, busy.Store)
	_, err := events.New(busy, now, options()).Resume(t.Context(), o.by, o.hook.ID, events.WithReplay)
	if e := lyceum.Public(err); e.Kind != lyceum.Unavailable || !strings.Contains(e.Detail, "500 deliveries will be sent again") ||
		!strings.Contains(e.Detail, "/resend") || strings.Contains(e.Detail, "repeat the request") {
		t.Errorf("a resume that is broken off says %v", err)
	}
	rest := lyceum.ResendFilter{Webhook: o.hook.ID, State: lyceum.Some(lyceum.DeliveryFailed)}
	if sent, err := events.New(busy.Store, now, options()).Resend(t.Context(), o.by, rest); err != nil || sent != many-500 {
		t.Errorf("%d of the rest are sent again, %v; want %d", sent, err, many-500)
	}
	o.wantResent(t, 1)
}

// TestR18_ManyAreSentAgainOnce checks that every delivery is sent again exactly once by
// concurrent requests with the same key, by one that is interrupted and repeated, and by another
// one with its key.
func TestR18_ManyAreSentAgainOnce(t *testing.T) {
	t.Parallel()
	resend := func(s *events.Service, by lyceum.By, o *office) error {
		_, err := s.Resend(t.Context(), by, lyceum.ResendFilter{Webhook: o.hook.ID})
		return err
	}
	resume := func(s *events.Service, by lyceum.By, o *office) error {
		_, err := s.Resume(t.Context(), by, o.hook.ID, events.WithReplay)
		return err
	}
	for name, ask := range map[string]func(*events.Service, lyceum.By, *office) error{"resend": resend, "resume": resume} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := openStore(t)
			o := openOffice(t, store, 700)
			if name == "resume" {
				storetest.Write(t, store, o.school, o.become(lyceum.WebhookFailed))
				o.giveUp(t, store)
			}
			service := events.New(store, now, options())
			by := o.by
			by.Once = &lyceum.Once{Key: "again", Render: func(any) ([]byte, error) { return []byte("done"), nil }}
			broken := ask(events.New(&busyAfter{Store: store, writes: 1}, now, options()), by, o)
			if e := lyceum.Public(broken); e.Kind != lyceum.Unavailable || !strings.Contains(e.Detail, "250 deliveries") {
				t.Errorf("a request that is broken off: %v", broken)
			}
			other := by
			other.Once = &lyceum.Once{Key: "again", Request: lyceum.KeyHash{1}, Render: by.Once.Render}
			if e := lyceum.Public(ask(service, other, o)); e.Code != "idempotency_key_reused" {
				t.Errorf("another request with its key: %v", e)
			}
			var group sync.WaitGroup
			for range 4 {
				group.Go(func() {
					var before *lyceum.RepeatError
					if err := ask(service, by, o); err != nil && (!errors.As(err, &before) || string(before.Body) != "done") {
						t.Error(err)
					}
				})
			}
			group.Wait()
			o.wantResent(t, 1)
		})
	}
}

// busyAfter is a store that is busy after a number of writes.
type busyAfter struct {
	lyceum.Store

	writes int
}

func (s *busyAfter) Write(ctx context.Context, stamp lyceum.Stamp, change func(lyceum.Tx) error) error {
	if s.writes--; s.writes < 0 {
		return lyceum.Errorf(lyceum.Unavailable, "the database is busy; nothing was changed; try again")
	}
	return s.Store.Write(ctx, stamp, change)
}

// giveUp gives up all pending deliveries of the webhook.
func (o *office) giveUp(t *testing.T, store lyceum.Store) {
	t.Helper()
	for more := true; more; {
		storetest.Write(t, store, o.school, func(tx lyceum.Tx) (err error) {
			more, err = tx.CancelDeliveries(o.hook.ID)
			return err
		})
	}
}

// wantResent checks how many times the journal says that each delivery is sent again.
func (o *office) wantResent(t *testing.T, times int) {
	t.Helper()
	entries, err := storetest.FindEntries(t.Context(), o.store, o.school, 0, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	told := map[int32]int{}
	for _, e := range entries {
		if e.Type == lyceum.WebhookEventResent {
			told[e.ObjectID]++
		}
	}
	for id := range int32(700) {
		if told[id+1] != times {
			t.Fatalf("delivery %d is told of %d times, want %d", id+1, told[id+1], times)
		}
	}
}

// longest is a store that records the largest number of events that one write announces.
type longest struct {
	lyceum.Store

	most int
}

func (s *longest) Write(ctx context.Context, stamp lyceum.Stamp, change func(lyceum.Tx) error) error {
	return s.Store.Write(ctx, stamp, func(tx lyceum.Tx) error {
		counted := &announcing{Changes: tx.Changes}
		tx.Changes = counted
		err := change(tx)
		s.most = max(s.most, counted.n)
		return err
	})
}

type announcing struct {
	lyceum.Changes

	n int
}

func (a *announcing) Announce(kind lyceum.EntryType, id int32, event lyceum.EventName, detail string) {
	a.n++
	a.Changes.Announce(kind, id, event, detail)
}

// TestR49_AHundredWebhooks checks that a school can have no more webhooks than one event can be
// sent to in one write, and that every one of them receives it.
func TestR49_AHundredWebhooks(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	o := openOffice(t, store, 0)
	service := events.New(store, now, options())
	for n := range 99 {
		if _, err := service.Create(t.Context(), o.by, events.WebhookForm{URL: fmt.Sprintf("https://example.com/%d", n)}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := service.Create(t.Context(), o.by, events.WebhookForm{URL: "https://example.com/more"})
	if e := lyceum.Public(err); e.Kind != lyceum.Conflict || e.Code != "too_many_webhooks" {
		t.Errorf("webhook 101: %v", err)
	}
	if err := service.Delete(t.Context(), o.by, o.hook.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := service.Create(t.Context(), o.by, events.WebhookForm{URL: "https://example.com/more"}); err != nil {
		t.Errorf("after one was deleted: %v", err)
	}
	err = store.Write(t.Context(), lyceum.Stamp{School: o.school, At: now(), Actor: "test"}, func(tx lyceum.Tx) error {
		for id := range int32(12) {
			tx.Announce(lyceum.UserUpdated, id+1, lyceum.UserUpdatedEvent, "")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	later := events.New(store, func() time.Time { return now().Add(time.Hour) }, options())
	for more := true; more; {
		if more, err = later.Dispatch(t.Context(), o.school); err != nil {
			t.Fatal(err)
		}
	}
	v := store.In(t.Context(), o.school)
	listing, err := lyceum.All(v.Webhooks, v, lyceum.WebhookFilter{Kept: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range listing {
		if w := &listing[i]; w.EventsCount != 12 {
			t.Errorf("webhook %d is told of %d events, want 12", w.ID, w.EventsCount)
		}
	}
}
