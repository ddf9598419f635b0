package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// post is a school that sends webhooks to this machine, with a clock that the test moves.
type post struct {
	store   lyceum.Store
	school  lyceum.SchoolID
	events  *events.Service
	sales   *sales.Service
	courier *Courier
	clock   *storetest.Clock
}

func newPost(t *testing.T, store lyceum.Store) *post {
	t.Helper()
	p := newPostAt(store, storetest.NewClock(time.Now().UTC().Truncate(time.Second)))
	p.school = storetest.MakeShop(t, store)
	return p
}

// newPostAt returns another process with the same store and clock.
func newPostAt(store lyceum.Store, clock *storetest.Clock) *post {
	p := &post{store: store, clock: clock}
	lessons := learning.New(store, p.clock.Now)
	p.sales = sales.New(store, p.clock.Now, lessons, people.New(store, p.clock.Now))
	sender := New(Options{Loopback: true, Timeout: time.Minute})
	p.events = events.New(store, p.clock.Now, events.Options{
		Ring: lyceum.NewKeyring(lyceum.SecretKey{}), CheckURL: sender.CheckURL, BaseURL: "https://school.example.com",
	})
	p.courier = p.newCourier()
	return p
}

func (p *post) newCourier() *Courier {
	return &Courier{
		Events: p.events, Sender: New(Options{Loopback: true, Timeout: time.Minute}), Log: slog.New(slog.DiscardHandler),
		Changed: func() <-chan struct{} { return p.store.Changed(0) },
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

func (p *post) by() lyceum.By { return lyceum.By{School: p.school, Actor: "test"} }

func (p *post) sell(t *testing.T) lyceum.TransactionID {
	t.Helper()
	d, err := p.sales.Record(t.Context(), p.by(), sales.NewSale{User: 1, Plan: 1})
	if err != nil {
		t.Fatal(err)
	}
	return d.Transactions[0].ID
}

func (p *post) hook(t *testing.T, f events.WebhookForm) events.WithSecret {
	t.Helper()
	w, err := p.events.Create(t.Context(), p.by(), f)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// rounds runs a courier until there is nothing left to do at the current time.
func (p *post) rounds(t *testing.T) {
	t.Helper()
	p.courier.begin()
	for {
		more := p.courier.dispatch(t.Context())
		p.courier.claim(t.Context(), t.Context())
		p.courier.work.Wait()
		due, err := p.events.Due(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !more && len(due) == 0 {
			return
		}
	}
}

// receiver accepts messages and records them.
type receiver struct {
	*httptest.Server

	mu      sync.Mutex
	came    []letter
	respond func(http.ResponseWriter, *http.Request)
}

type letter struct {
	header http.Header
	body   []byte
	id     string // webhook-id
}

func newReceiver(t *testing.T, respond func(http.ResponseWriter, *http.Request)) *receiver {
	t.Helper()
	r := &receiver{respond: respond}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		r.came = append(r.came, letter{q.Header, body, q.Header.Get("Webhook-Id")})
		r.mu.Unlock()
		if respond != nil {
			respond(w, q)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// letters returns the messages received since the last call.
func (r *receiver) letters() []letter {
	r.mu.Lock()
	defer r.mu.Unlock()
	came := r.came
	r.came = nil
	return came
}

// reached reports whether anything was received.
func (r *receiver) reached() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.came) > 0
}

// envelope is the body of a message as a receiver parses it.
type envelope struct {
	Type        string         `json:"type"`
	Livemode    bool           `json:"livemode"`
	ID          int32          `json:"id"`
	Created     string         `json:"created"`
	HookEventID int32          `json:"hook_event_id"`
	Object      map[string]any `json:"object"`
}

func (p *post) webhook(t *testing.T, id lyceum.WebhookID) lyceum.Webhook {
	t.Helper()
	w, err := p.events.Webhook(t.Context(), p.by(), id)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// states returns the deliveries of a webhook, oldest first, as "state status".
func (p *post) states(t *testing.T, id lyceum.WebhookID) (states []string, ids []lyceum.WebhookEventID) {
	t.Helper()
	listing, err := p.events.Deliveries(t.Context(), p.by(), lyceum.WebhookEventFilter{Webhook: id}, lyceum.Page{Number: 1, Size: 100})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(listing.Rows)
	for _, d := range listing.Rows {
		states = append(states, fmt.Sprint(d.State, " ", d.ResponseStatus.Value))
		ids = append(ids, d.ID)
	}
	return states, ids
}

func onBothEngines(t *testing.T, test func(*testing.T, lyceum.Store)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, openStore(t)) })
	t.Run("postgres", func(t *testing.T) {
		store, err := sqlstore.OpenPostgres(t.Context(), storetest.Postgres(t), sqlstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		test(t, store)
	})
}

func TestEventsArriveSigned(t *testing.T) {
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		p.sell(t) // before there is a webhook
		p.clock.Pass(time.Second)
		whole, some := newReceiver(t, nil), newReceiver(t, nil)
		one := p.hook(t, events.WebhookForm{URL: whole.URL})
		two := p.hook(t, events.WebhookForm{URL: some.URL, Events: []string{"Transaction.refunded"}, AsArray: true})
		p.clock.Pass(time.Second)
		id := p.sell(t)
		if _, err := p.sales.Refund(t.Context(), p.by(), sales.Refund{Transaction: id}); err != nil {
			t.Fatal(err)
		}
		p.rounds(t)
		verifier, err := standardwebhooks.NewWebhook(events.SecretText(one.Secret))
		if err != nil {
			t.Fatal(err)
		}
		var types []string
		for _, m := range whole.letters() {
			if err := verifier.Verify(m.body, m.header); err != nil {
				t.Errorf("%v: %s", err, m.body)
			}
			var e envelope
			if err := json.Unmarshal(m.body, &e); err != nil {
				t.Fatal(err)
			}
			types = append(types, e.Type)
			if !e.Livemode || e.Object["id"] != float64(e.ID) || m.id != fmt.Sprintf("evt_%d_%d", p.school, e.HookEventID) {
				t.Errorf("%s under %s", m.body, m.id)
			}
		}
		slices.Sort(types)
		// At the second sale the learner was already in the course, so no enrollment began, and
		// the first sale keeps them there.
		if diff := cmp.Diff([]string{"Sale.created", "Transaction.created", "Transaction.refunded"}, types); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		came := some.letters()
		var list []envelope
		if len(came) != 1 || json.Unmarshal(came[0].body, &list) != nil || len(list) != 1 || list[0].Object["amount_refunded"] != float64(1999) || list[0].Object["user"].(map[string]any)["name"] != "Ann" {
			t.Errorf("came %v", came)
		}
		if w := p.webhook(t, two.ID); w.State != lyceum.WebhookVerified || w.EventsCount != 1 {
			t.Errorf("%+v", w)
		}
		states, ids := p.states(t, two.ID)
		if diff := cmp.Diff([]string{"delivered 200"}, states); diff != "" {
			t.Error(diff)
		}
		d, err := p.events.Show(t.Context(), p.by(), ids[0])
		if err != nil || len(d.Attempts) != 1 || d.Attempts[0].Status != lyceum.Some[int32](200) {
			t.Errorf("%+v %v", d, err)
		}
	})
}

// TestR17_WhatReceiversRequest checks that a receiver's response is stored, and that the next
// attempt is made when the receiver asks for it.
func TestR17_WhatReceiversRequest(t *testing.T) {
	t.Parallel()
	p := newPost(t, openStore(t))
	to := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte("later, please"))
	})
	w := p.hook(t, events.WebhookForm{URL: to.URL, Events: []string{"Sale.created"}})
	p.sell(t)
	p.rounds(t)
	_, ids := p.states(t, w.ID)
	d, err := p.events.Show(t.Context(), p.by(), ids[0])
	if err != nil || len(d.Attempts) != 1 {
		t.Fatal(d, err)
	}
	if wait := d.NextAttemptAt.Value.Sub(p.clock.Now()); wait != time.Hour {
		t.Errorf("after Retry-After: 3600 the next attempt comes in %v", wait)
	}
	a := d.Attempts[0]
	if a.Status != lyceum.Some[int32](429) || a.Problem.Present || a.ResponseBody != "later, please" || a.Took <= 0 ||
		!strings.Contains(a.RequestHeader, "Webhook-Id: "+to.letters()[0].id+"\n") || !strings.Contains(a.ResponseHeader, "Retry-After: 3600") {
		t.Errorf("kept is %+v", a)
	}
}

// TestR17_ASlowReceiverDelaysNobody checks that while one receiver does not respond at all,
// another one gets everything.
func TestR17_ASlowReceiverDelaysNobody(t *testing.T) {
	p := newPost(t, openStore(t))
	const sold = 100
	release, all := make(chan struct{}), make(chan struct{})
	slow := newReceiver(t, func(http.ResponseWriter, *http.Request) { <-release })
	var count atomic.Int32
	quick := newReceiver(t, func(http.ResponseWriter, *http.Request) {
		if count.Add(1) == sold {
			close(all)
		}
	})
	for _, to := range []*receiver{slow, quick} {
		p.hook(t, events.WebhookForm{URL: to.URL, Events: []string{"Sale.created"}})
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { p.courier.Run(ctx); close(ended) }()
	for range sold {
		p.sell(t)
	}
	<-all // or the test never ends
	close(release)
	stop()
	<-ended
}

// TestSeveralCouriersShareTheWork checks that processes on one database lose no event and never
// send the same one twice.
func TestSeveralCouriersShareTheWork(t *testing.T) {
	address := storetest.Postgres(t)
	open := func() lyceum.Store {
		store, err := sqlstore.OpenPostgres(t.Context(), address, sqlstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		return store
	}
	p := newPost(t, open())
	second := &post{store: open(), clock: p.clock, school: p.school}
	second.events = events.New(second.store, second.clock.Now, p.events.Options)
	second.courier = &Courier{Events: second.events, Sender: p.courier.Sender, Log: p.courier.Log, Changed: func() <-chan struct{} { return second.store.Changed(0) }}

	const sold = 150
	all := make(chan struct{})
	var count atomic.Int32
	to := newReceiver(t, func(http.ResponseWriter, *http.Request) {
		if count.Add(1) == sold {
			close(all)
		}
	})
	p.hook(t, events.WebhookForm{URL: to.URL, Events: []string{"Sale.created"}})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { p.courier.Run(ctx) })
	running.Go(func() { second.courier.Run(ctx) })
	for range sold {
		p.sell(t)
	}
	<-all
	stop()
	running.Wait()
	seen := map[string]int{}
	for _, m := range to.letters() {
		seen[m.id]++
		if seen[m.id] > 1 {
			t.Errorf("%s came twice", m.id)
		}
	}
	if len(seen) != sold {
		t.Errorf("%d events came, want %d", len(seen), sold)
	}
}

// sendingSlowly returns a school with a sale, and a receiver of its events that does not
// respond before release is closed.
func sendingSlowly(t *testing.T) (p *post, to *receiver, w events.WithSecret, release chan struct{}) {
	t.Helper()
	p, release = newPost(t, openStore(t)), make(chan struct{})
	to = newReceiver(t, func(http.ResponseWriter, *http.Request) { <-release })
	w = p.hook(t, events.WebhookForm{URL: to.URL, Events: []string{"Sale.created"}})
	p.sell(t)
	return p, to, w, release
}

// TestR17_WhatWaitsIsLeft checks what happens to deliveries claimed ahead by a courier that
// stops, or that was paused for longer than its claims: they are left to other couriers, and
// sent by the same one if they are due.
func TestR17_WhatWaitsIsLeft(t *testing.T) {
	t.Parallel()
	pause := func(p *post, _ func()) { p.clock.Pass(2 * lyceum.ClaimLifetime) }
	stop := func(_ *post, stop func()) { stop() }
	for name, leave := range map[string]func(*post, func()){"stopped": stop, "paused": pause} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPost(t, openStore(t))
			to := newReceiver(t, nil)
			w := p.hook(t, events.WebhookForm{URL: to.URL, Events: []string{"Sale.created"}})
			const sold = perWebhook + 8
			for range sold {
				p.sell(t)
			}
			p.courier.begin()
			p.courier.dispatch(t.Context())
			p.courier.lines[lyceum.DueWebhook{School: p.school, Webhook: w.ID}] = &line{quick: true}
			due, err := p.events.Due(t.Context())
			if err != nil || len(due) != 1 {
				t.Fatal(due, err)
			}
			parcels, err := p.events.Claim(t.Context(), due[0], p.courier.room(due[0]))
			if err != nil || len(parcels) != sold {
				t.Fatal(len(parcels), err)
			}
			running, stop := context.WithCancel(t.Context())
			defer stop()
			leave(p, stop)
			for i := range parcels {
				held := p.courier.claims.Hold(parcelKey{parcels[i].School, parcels[i].ID}, parcels[i])
				p.courier.take(running, t.Context(), due[0], held)
			}
			p.courier.work.Wait()
			if came := to.letters(); len(came) > 0 || p.courier.total != 0 {
				t.Errorf("%d were sent, and %d are counted as under way", len(came), p.courier.total)
			}
			p.clock.Pass(2 * lyceum.ClaimLifetime)
			p.rounds(t)
			if came := to.letters(); len(came) != sold {
				t.Errorf("%d came afterwards, want %d", len(came), sold)
			}
		})
	}
}

// TestR17_AClaimIsRenewed checks that while a process lives, no other process sends what it is
// sending, however long the receiver takes.
func TestR17_AClaimIsRenewed(t *testing.T) {
	t.Parallel()
	p, to, w, release := sendingSlowly(t)
	other := newPostAt(p.store, p.clock)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { p.courier.Run(ctx) })
	next := func() time.Time {
		all, err := p.events.Deliveries(ctx, p.by(), lyceum.WebhookEventFilter{Webhook: w.ID}, lyceum.Page{Number: 1, Size: 1})
		if err != nil || len(all.Rows) != 1 {
			return time.Time{}
		}
		return all.Rows[0].NextAttemptAt.Value
	}
	if !storetest.Await(func() bool { return next().After(p.clock.Now()) }) {
		t.Fatal("nothing is claimed")
	}
	for range 3 {
		p.clock.Pass(lyceum.ClaimLifetime - time.Second)
		if !storetest.Await(func() bool { return next().Equal(p.clock.Now().Add(lyceum.ClaimLifetime)) }) {
			t.Fatalf("at %v the claim holds until %v", p.clock.Now(), next())
		}
		if claimed, err := other.events.Claim(ctx, lyceum.DueWebhook{School: p.school, Webhook: w.ID}, 10); err != nil || len(claimed) > 0 {
			t.Errorf("another process claims %v, %v", claimed, err)
		}
	}
	close(release)
	if !storetest.Await(func() bool { return next().IsZero() }) {
		t.Error("the delivery is not recorded")
	}
	stop()
	running.Wait()
	if came := to.letters(); len(came) != 1 {
		t.Errorf("%d letters came", len(came))
	}
}

// TestR17_AClaimThatEndedIsTakenUpAgain checks that a process that could not renew a claim in
// time, and claims the delivery again, continues to send it and sends it only once.
func TestR17_AClaimThatEndedIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	p, to, w, release := sendingSlowly(t)
	p.courier.begin()
	p.courier.dispatch(t.Context())
	for range 2 {
		p.courier.claim(t.Context(), t.Context())
		if !storetest.Await(to.reached) {
			t.Fatal("nothing is sent")
		}
		p.clock.Pass(2 * lyceum.ClaimLifetime)
	}
	close(release)
	p.courier.work.Wait()
	if states, _ := p.states(t, w.ID); len(to.letters()) != 1 || !slices.Equal(states, []string{"delivered 200"}) {
		t.Error(states)
	}
}
