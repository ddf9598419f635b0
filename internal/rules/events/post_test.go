package events_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// post is a school with webhooks, a clock that the test moves, and receivers whose responses the
// test sets.
type post struct {
	store     lyceum.Store
	school    lyceum.SchoolID
	events    *events.Service
	sales     *sales.Service
	clock     *storetest.Clock
	receivers map[string]*receiver // by URL
}

// newPost makes a school that sells plan 1 to user 1.
func newPost(t *testing.T, store lyceum.Store) *post {
	t.Helper()
	p := &post{store: store, clock: storetest.NewClock(storetest.Begin.Add(time.Hour)), receivers: map[string]*receiver{}}
	p.events = events.New(store, p.clock.Now, options())
	p.sales = sales.New(store, p.clock.Now, learning.New(store, p.clock.Now), people.New(store, p.clock.Now))
	p.school = storetest.MakeShop(t, store)
	return p
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

// receiver records the parcels that it receives.
type receiver struct {
	events.WithSecret

	came   []events.Parcel
	answer func() events.Outcome
}

// letters returns the parcels received since the last call.
func (r *receiver) letters() []events.Parcel {
	came := r.came
	r.came = nil
	return came
}

// status returns an answer with a status.
func status(code int) func() events.Outcome {
	return func() events.Outcome {
		return events.Outcome{Delivered: code < 300, Status: code, Took: time.Millisecond}
	}
}

// hook creates a webhook whose receiver responds with 200. Without events, it receives those of
// sales.
func (p *post) hook(t *testing.T, f events.WebhookForm) *receiver {
	t.Helper()
	f.URL = fmt.Sprintf("https://example.com/%d", len(p.receivers))
	if f.Events == nil {
		f.Events = []string{"Sale.created"}
	}
	w, err := p.events.Create(t.Context(), p.by(), f)
	if err != nil {
		t.Fatal(err)
	}
	to := &receiver{WithSecret: w, answer: status(200)}
	p.receivers[f.URL] = to
	return to
}

// dispatch turns all events so far into deliveries.
func (p *post) dispatch(t *testing.T) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = p.events.Dispatch(t.Context(), p.school); err != nil {
			t.Fatal(err)
		}
	}
}

// rounds dispatches and sends until nothing is left to do at the present time.
func (p *post) rounds(t *testing.T) {
	t.Helper()
	p.dispatch(t)
	for again := true; again; {
		again = false
		due, err := p.events.Due(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, hook := range due {
			parcels, err := p.events.Claim(t.Context(), hook, 32)
			if err != nil {
				t.Fatal(err)
			}
			for i := range parcels {
				p.deliver(t, &parcels[i])
			}
			again = again || len(parcels) > 0
		}
	}
}

// deliver passes a parcel to its receiver, and reports the outcome.
func (p *post) deliver(t *testing.T, parcel *events.Parcel) {
	t.Helper()
	to := p.receivers[parcel.Webhook.URL]
	to.came = append(to.came, *parcel)
	if err := p.events.Report(t.Context(), parcel, to.answer()); err != nil {
		t.Fatal(err)
	}
}

func (p *post) webhook(t *testing.T, id lyceum.WebhookID) lyceum.Webhook {
	t.Helper()
	v := p.store.In(t.Context(), p.school)
	w, err := v.Webhooks.Get(v, id)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// states returns the deliveries of a webhook, oldest first, as "state status".
func (p *post) states(t *testing.T, id lyceum.WebhookID) (told []string, ids []lyceum.WebhookEventID) {
	t.Helper()
	v := p.store.In(t.Context(), p.school)
	all, err := lyceum.All(v.Deliveries, v, lyceum.WebhookEventFilter{Webhook: id})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b lyceum.WebhookEvent) int { return int(a.ID - b.ID) })
	for i := range all {
		told = append(told, fmt.Sprint(all[i].State, " ", all[i].ResponseStatus.Value))
		ids = append(ids, all[i].ID)
	}
	return told, ids
}

// envelope is the body of a message as a receiver decodes it.
type envelope struct {
	Type        string         `json:"type"`
	Livemode    bool           `json:"livemode"`
	ID          int32          `json:"id"`
	Created     string         `json:"created"`
	HookEventID int32          `json:"hook_event_id"`
	Object      map[string]any `json:"object"`
}

func opened(t *testing.T, body []byte) envelope {
	t.Helper()
	var e envelope
	if err := json.Unmarshal(body, &e); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return e
}

func onBothEngines(t *testing.T, test func(*testing.T, lyceum.Store)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, openStore(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		store, err := sqlstore.OpenPostgres(t.Context(), storetest.Postgres(t), sqlstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		test(t, store)
	})
}
