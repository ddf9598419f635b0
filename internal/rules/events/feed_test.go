package events_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

// asked selects everything after an entry, without waiting.
func asked(after int64, names ...lyceum.EventName) events.ChangesQuery {
	return events.ChangesQuery{Filter: lyceum.ChangeFilter{After: after, Limit: 100, Names: names}}
}

func (p *post) feed(stopping <-chan struct{}) *events.Feed {
	return events.NewFeed(p.store, p.events, stopping)
}

// TestEventsAreAsWebhooksGotThem checks that the feed returns the bodies that webhooks received,
// even of objects that have changed since, and events that no webhook received in their present
// state.
func TestEventsAreAsWebhooksGotThem(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		to := p.hook(t, events.WebhookForm{})
		p.sell(t)
		p.rounds(t)
		rename := func(tx lyceum.Tx) error {
			_, err := tx.Courses.Save(tx, lyceum.Course{ID: 1, Name: "Glass", CreatedAt: p.clock.Now(), UpdatedAt: p.clock.Now()})
			return err
		}
		if err := store.Write(t.Context(), p.by().Stamp(p.clock.Now()), rename); err != nil {
			t.Fatal(err)
		}
		sent := to.letters()[0]
		if _, err := p.events.ResendOne(t.Context(), p.by(), sent.ID); err != nil {
			t.Fatal(err)
		}
		listing, err := p.feed(nil).Events(t.Context(), p.by(), asked(0))
		if err != nil {
			t.Fatal(err)
		}
		type told struct {
			event  lyceum.EventName
			resent bool
			course string
		}
		var got []told
		for _, e := range listing.Events {
			body := opened(t, e.Body)
			course, _ := body.Object["course"].(map[string]any)
			if sale, ok := body.Object["sale"].(map[string]any); ok {
				course = sale["course"].(map[string]any)
			}
			got = append(got, told{e.Event, e.Resent, course["name"].(string)})
			if e.Resent && string(e.Body) != string(sent.Body) {
				t.Errorf("sent again is %s, and was %s", e.Body, sent.Body)
			}
			if id := int64(body.HookEventID); !e.Resent && id != e.Number {
				t.Errorf("event %d has the id %d", e.Number, id)
			}
		}
		slices.SortFunc(got, func(a, b told) int { return strings.Compare(string(a.event), string(b.event)) })
		want := []told{
			{"Enrollment.created", false, "Glass"},
			{"Sale.created", false, "Pottery"},
			{"Sale.created", true, "Pottery"},
			{"Transaction.created", false, "Glass"},
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(told{})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if listing.More || listing.Next != listing.Last {
			t.Errorf("after all of it: more %v, next %d, last %d", listing.More, listing.Next, listing.Last)
		}
		some, err := p.feed(nil).Events(t.Context(), p.by(), asked(0, lyceum.TransactionCreatedEvent))
		if err != nil || len(some.Events) != 1 || some.Events[0].Event != lyceum.TransactionCreatedEvent {
			t.Errorf("of one name came %v, %v", some.Events, err)
		}
	})
}

// endedWhileItWaits ends a request as soon as it waits.
type endedWhileItWaits struct{ end context.CancelFunc }

func (e endedWhileItWaits) Pause()                         { e.end() }
func (endedWhileItWaits) Resume() error                    { return nil }
func (endedWhileItWaits) Allow(context.Context, int) error { return nil }

// TestEndedWhileItWaits checks that a request which is ended while it waits for a change gets an
// empty response, also if it has just been told to stop waiting, as by a sandbox that is reset.
func TestEndedWhileItWaits(t *testing.T) {
	t.Parallel()
	p := newPost(t, openStore(t))
	stopping := make(chan struct{})
	close(stopping)
	for range 20 { // both are noticed first now and then
		ctx, end := context.WithCancel(t.Context())
		q := events.ChangesQuery{Filter: lyceum.ChangeFilter{Limit: 1, Names: []lyceum.EventName{lyceum.CommentCreatedEvent}}, Wait: time.Minute}
		listing, err := p.feed(stopping).Events(context.WithValue(ctx, lyceum.AllowanceKey{}, endedWhileItWaits{end}), p.by(), q)
		if err != nil || len(listing.Events) > 0 || listing.Next != listing.Last {
			t.Fatalf("%+v, %v", listing, err)
		}
	}
}

// TestEventsInSeveralAnswers checks that events that exceed the size of a response are returned
// in several, none twice and none left out, and that an event that is too large by itself is
// returned alone.
func TestEventsInSeveralAnswers(t *testing.T) {
	t.Parallel()
	p := newPost(t, openStore(t))
	err := p.store.Write(t.Context(), p.by().Stamp(p.clock.Now()), func(tx lyceum.Tx) error {
		for id := range int32(4) {
			tx.Announce(lyceum.UserUpdated, id+1, lyceum.UserUpdatedEvent, "")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all, err := p.feed(nil).Events(t.Context(), p.by(), asked(0))
	if err != nil || len(all.Events) != 4 {
		t.Fatalf("%d events, %v", len(all.Events), err)
	}
	err = p.store.Write(t.Context(), p.by().Stamp(p.clock.Now()), func(tx lyceum.Tx) error {
		for n, size := range []int{lyceum.ResponseBytes / 2, lyceum.ResponseBytes / 3, lyceum.ResponseBytes + 1, 2} {
			object := `"` + strings.Repeat("x", size-2) + `"`
			e := all.Events[n]
			if err := tx.Payloads.Insert(tx, lyceum.EventPayload{Number: e.Number, Event: e.Event, At: e.At, Object: object}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int
	var numbers []int64
	for after, more := int64(0), true; more; {
		part, err := p.feed(nil).Events(t.Context(), p.by(), asked(after))
		if err != nil || len(part.Events) == 0 {
			t.Fatal(part, err)
		}
		sizes = append(sizes, len(part.Events))
		for _, e := range part.Events {
			numbers = append(numbers, e.Number)
		}
		after, more = part.Next, part.More
	}
	want := []int64{all.Events[0].Number, all.Events[1].Number, all.Events[2].Number, all.Events[3].Number}
	if !slices.Equal(sizes, []int{2, 1, 1}) || !slices.Equal(numbers, want) {
		t.Errorf("%v come in answers of %v", numbers, sizes)
	}
}

// TestWhoWaitsForChanges checks that a waiting caller gets the next change, and nothing once the
// wait is over, the server stops, or the caller has gone.
func TestWhoWaitsForChanges(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	close(closed)
	gone, leave := context.WithCancelCause(t.Context())
	leave(errors.New("gone"))
	for name, tc := range map[string]struct {
		ctx      context.Context
		stopping chan struct{}
		wait     time.Duration
		sells    bool
	}{
		"a change":         {t.Context(), nil, time.Hour, true},
		"no wait":          {t.Context(), nil, 0, false},
		"the wait is over": {t.Context(), nil, time.Millisecond, false},
		"the server stops": {t.Context(), closed, time.Hour, false},
		"who asks is gone": {gone, nil, time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPost(t, openStore(t))
			v := p.store.In(t.Context(), p.school)
			last, err := v.LastEntry()
			if err != nil {
				t.Fatal(err)
			}
			q := asked(last)
			q.Wait = tc.wait
			answered := make(chan lyceum.ChangeListing, 1)
			go func() {
				listing, err := p.feed(tc.stopping).Changes(tc.ctx, p.by(), q)
				if err != nil && tc.ctx.Err() == nil {
					t.Error(err)
				}
				answered <- listing
			}()
			if tc.sells {
				p.sell(t)
			}
			if listing := <-answered; (len(listing.Changes) > 0) != tc.sells {
				t.Errorf("%d changes", len(listing.Changes))
			}
		})
	}
}

// TestFeedOfAnUnknownNumber checks that a number that no change has yet is rejected, because a
// caller that waited for changes after it would miss those before it.
func TestFeedOfAnUnknownNumber(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		p.sell(t)
		last, err := store.In(t.Context(), p.school).LastEntry()
		if err != nil {
			t.Fatal(err)
		}
		feed := p.feed(nil)
		for after, code := range map[int64]string{0: "", last: "", last + 1: events.UnknownNumber} {
			_, changesErr := feed.Changes(t.Context(), p.by(), asked(after))
			_, eventsErr := feed.Events(t.Context(), p.by(), asked(after))
			for what, err := range map[string]error{"changes": changesErr, "events": eventsErr} {
				if got := lyceum.Public(err).Code; got != code {
					t.Errorf("%s after %d of %d: %v", what, after, last, err)
				}
			}
		}
	})
}
