package events_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

// These types repeat what the rules do, as simply as possible and without a database: after any
// history of random steps, both must agree.

// expected is what is expected of a delivery.
type expected struct {
	hook     lyceum.WebhookID
	state    string
	status   int32 // 0 for none
	attempts int32
	tries    int32
	next     time.Time // zero for none
}

// listener is what is expected of a webhook.
type listener struct {
	state   lyceum.WebhookState
	since   int // it does not receive sales before this one
	deleted bool
	pauses  []time.Duration
	rate    int // messages per minute; 0 is no limit
	minute  time.Time
	used    int // messages in that minute
}

// model is what is expected of all webhooks and deliveries.
type model struct {
	hooks      map[lyceum.WebhookID]*listener
	deliveries map[lyceum.WebhookEventID]*expected
	sold, told int // the number of sales, and of those that were dispatched
}

func (m *model) of(hook lyceum.WebhookID) (ids []lyceum.WebhookEventID) {
	for id, d := range m.deliveries {
		if d.hook == hook {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// takes reports whether anything is sent to a webhook.
func (m *model) takes(hook lyceum.WebhookID) bool {
	h := m.hooks[hook]
	return !h.deleted && h.state != lyceum.WebhookFailed
}

func (m *model) begin(id lyceum.WebhookEventID, hook lyceum.WebhookID, now time.Time) {
	m.deliveries[id] = &expected{hook: hook, state: lyceum.DeliveryPending, next: now}
	if !m.takes(hook) {
		m.deliveries[id] = &expected{hook: hook, state: lyceum.DeliveryFailed, status: 410}
	}
}

func (m *model) dispatch(now time.Time) {
	for ; m.told < m.sold; m.told++ {
		for _, id := range slices.Sorted(maps.Keys(m.hooks)) {
			if h := m.hooks[id]; !h.deleted && h.since <= m.told {
				m.begin(lyceum.WebhookEventID(len(m.deliveries)+1), id, now)
			}
		}
	}
}

// cancel gives up the pending deliveries of a webhook.
func (m *model) cancel(hook lyceum.WebhookID) {
	for _, id := range m.of(hook) {
		if d := m.deliveries[id]; !d.next.IsZero() {
			d.state, d.status, d.next = lyceum.DeliveryFailed, 410, time.Time{}
		}
	}
}

// again restarts deliveries, all or those that failed.
func (m *model) again(hook lyceum.WebhookID, failedOnly bool, now time.Time) (sent int) {
	for _, id := range m.of(hook) {
		if d := m.deliveries[id]; !failedOnly || d.state == lyceum.DeliveryFailed {
			d.state, d.tries, d.next = lyceum.DeliveryPending, 0, now
			sent++
		}
	}
	return sent
}

// claim returns the deliveries that are claimed, which are then no longer due.
func (m *model) claim(hook lyceum.WebhookID, limit int, now time.Time) (claimed []lyceum.WebhookEventID) {
	h := m.hooks[hook]
	if !m.takes(hook) {
		m.cancel(hook)
		return nil
	}
	if minute := now.Truncate(time.Minute); h.minute != minute {
		h.minute, h.used = minute, 0
	}
	if h.rate > 0 {
		limit = min(limit, h.rate-h.used)
	}
	due := slices.DeleteFunc(m.of(hook), func(id lyceum.WebhookEventID) bool {
		d := m.deliveries[id]
		return d.next.IsZero() || d.next.After(now)
	})
	slices.SortStableFunc(due, func(a, b lyceum.WebhookEventID) int {
		return m.deliveries[a].next.Compare(m.deliveries[b].next)
	})
	claimed = due[:max(0, min(limit, len(due)))]
	if h.rate > 0 {
		h.used += len(claimed)
	}
	for _, id := range claimed {
		m.deliveries[id].next = now.Add(lyceum.ClaimLifetime)
	}
	slices.Sort(claimed)
	return claimed
}

// renew extends a claim if it is still valid.
func (m *model) renew(p *events.Parcel, now time.Time) (until time.Time) {
	d := m.deliveries[p.ID]
	if !p.NextAttemptAt.Value.Equal(d.next) {
		return p.NextAttemptAt.Value
	}
	d.next = now.Add(lyceum.ClaimLifetime)
	return d.next
}

// report records the outcome of an attempt. It returns the scheduled pause before the next one,
// if there is one.
func (m *model) report(p *events.Parcel, status int) (pause time.Duration) {
	d, h := m.deliveries[p.ID], m.hooks[p.Webhook.ID]
	d.attempts++
	d.tries++
	d.status = int32(status)
	delivered := status == 200
	switch {
	case !p.NextAttemptAt.Value.Equal(d.next): // claimed by another process since, resent or given up
		if delivered && d.state == lyceum.DeliveryFailed {
			d.state = lyceum.DeliveryDelivered
		}
	case delivered:
		d.state, d.next = lyceum.DeliveryDelivered, time.Time{}
		if p.Webhook.State != lyceum.WebhookVerified && h.state != lyceum.WebhookFailed {
			h.state = lyceum.WebhookVerified
		}
	case status != 410 && int(d.tries) <= len(h.pauses):
		return h.pauses[d.tries-1]
	default:
		d.state, d.next = lyceum.DeliveryFailed, time.Time{}
		h.state = lyceum.WebhookFailed
		m.cancel(p.Webhook.ID)
	}
	return 0
}

// history runs random steps on both.
type history struct {
	*post
	model

	random *rand.Rand
	held   []events.Parcel // claimed and not yet reported
	log    []string
}

func (h *history) some(n int) int { return h.random.IntN(n) }

func (h *history) create(t *testing.T) {
	t.Helper()
	f, l := events.WebhookForm{}, &listener{state: lyceum.WebhookPending, since: h.sold}
	f.RateLimit = int32(h.some(2) * 5)
	l.rate = int(f.RateLimit)
	l.pauses = []time.Duration{5 * time.Minute, 30 * time.Minute, 2 * time.Hour}
	if h.some(3) == 0 {
		f.Schedule = lyceum.StandardSchedule
		l.pauses = []time.Duration{
			5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
			10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
		}
	}
	h.hooks[h.hook(t, f).ID] = l
}

// report makes a claimed delivery succeed or fail, in any order of the claims.
func (h *history) report(t *testing.T) string {
	t.Helper()
	if len(h.held) == 0 {
		return "nothing to report"
	}
	at := h.some(len(h.held))
	parcel := h.held[at]
	h.held = slices.Delete(h.held, at, at+1)
	code := []int{200, 200, 500, 503, 500, 410}[h.some(6)]
	if err := h.events.Report(t.Context(), &parcel, status(code)()); err != nil {
		t.Fatal(err)
	}
	if pause := h.model.report(&parcel, code); pause > 0 {
		h.adopt(t, parcel.ID, pause)
	}
	return fmt.Sprintf("delivery %d of webhook %d gets %d", parcel.ID, parcel.Webhook.ID, code)
}

// adopt copies the time of the next attempt, which is random, if it is within a fifth of the
// pause.
func (h *history) adopt(t *testing.T, id lyceum.WebhookEventID, pause time.Duration) {
	t.Helper()
	v := h.store.In(t.Context(), h.school)
	d, err := v.Deliveries.Get(v, id)
	if err != nil {
		t.Fatal(err)
	}
	next := d.NextAttemptAt.Value
	if off := (next.Sub(h.clock.Now()) - pause).Abs(); off > pause/5 {
		t.Errorf("delivery %d is tried again in %v, want %v within a fifth", id, next.Sub(h.clock.Now()), pause)
	}
	h.deliveries[id].next = next
}

// step performs a random step with a webhook and returns its name.
func (h *history) step(t *testing.T) string {
	t.Helper()
	now := h.clock.Now()
	hook := lyceum.WebhookID(1 + h.some(len(h.hooks)))
	refused := func(err error, want bool) {
		t.Helper()
		if kind := lyceum.KindOf(err); (err != nil) != want || err != nil && kind != lyceum.Conflict && kind != lyceum.NotFound {
			t.Errorf("webhook %d: %v; want a refusal: %v", hook, err, want)
		}
	}
	switch n := h.some(100); {
	case n < 20:
		h.sell(t)
		h.sold++
		return "a sale"
	case n < 35:
		h.post.dispatch(t)
		h.model.dispatch(now)
		return "dispatch"
	case n < 55:
		limit := 1 + h.some(6)
		claimed, err := h.events.Claim(t.Context(), lyceum.DueWebhook{School: h.school, Webhook: hook}, limit)
		if want := h.claim(hook, limit, now); err != nil || !slices.Equal(idsOf(claimed), want) {
			t.Errorf("of webhook %d are claimed %v, %v; want %v", hook, idsOf(claimed), err, want)
		}
		h.held = append(h.held, claimed...)
		return fmt.Sprintf("claim of webhook %d: %v", hook, idsOf(claimed))
	case n < 75:
		return h.report(t)
	case n < 79 && len(h.held) > 0:
		p := &h.held[h.some(len(h.held))]
		until := h.renew(p, now)
		if err := h.events.Renew(t.Context(), []*events.Parcel{p}); err != nil {
			t.Fatal(err)
		}
		if !p.NextAttemptAt.Value.Equal(until) {
			t.Errorf("the claim of delivery %d holds until %v, want %v", p.ID, p.NextAttemptAt.Value, until)
		}
		return fmt.Sprintf("renewal of delivery %d", p.ID)
	case n < 86:
		d := []time.Duration{time.Second, 2 * time.Second, 40 * time.Second, 7 * time.Minute, 3 * time.Hour}[h.some(5)]
		h.clock.Pass(d)
		return fmt.Sprint("pass ", d)
	case n < 92:
		l, with := h.hooks[hook], events.Replay(h.some(2))
		_, err := h.events.Resume(t.Context(), h.by(), hook, with)
		refused(err, l.deleted || l.state != lyceum.WebhookFailed)
		if err == nil {
			l.state = lyceum.WebhookPending
			if with == events.WithReplay {
				h.again(hook, true, now)
			}
		}
		return fmt.Sprintf("resume of webhook %d, %v", hook, with)
	case n < 95:
		f := lyceum.ResendFilter{Webhook: hook, State: lyceum.Opt[string]{Value: lyceum.DeliveryFailed, Present: h.some(2) == 0}}
		sent, err := h.events.Resend(t.Context(), h.by(), f)
		refused(err, !h.takes(hook))
		if err == nil && sent != h.again(hook, f.State.Present, now) {
			t.Errorf("%d deliveries of webhook %d are sent again", sent, hook)
		}
		return fmt.Sprintf("resend of webhook %d, %v", hook, f.State)
	case n < 97:
		d, err := h.events.Test(t.Context(), h.by(), hook, lyceum.None[string]())
		refused(err, !h.takes(hook))
		if err == nil {
			h.begin(d.ID, hook, now)
		}
		return fmt.Sprintf("test of webhook %d", hook)
	case n < 98 && len(h.hooks) < 6:
		h.create(t)
		return "a new webhook"
	case n < 99 && len(h.hooks) > 3:
		err := h.events.Delete(t.Context(), h.by(), hook)
		refused(err, h.hooks[hook].deleted)
		h.hooks[hook].deleted = true
		h.cancel(hook)
		return fmt.Sprintf("webhook %d is deleted", hook)
	}
	return "nothing"
}

// compare checks that the store agrees with the model.
func (h *history) compare(t *testing.T) {
	t.Helper()
	v := h.store.In(t.Context(), h.school)
	got, want := map[lyceum.WebhookEventID]string{}, map[lyceum.WebhookEventID]string{}
	line := func(d expected) string {
		return fmt.Sprint(d.hook, " ", d.state, " ", d.status, " ", d.attempts, " ", d.tries, " ", d.next.UTC())
	}
	for id, l := range h.hooks {
		w := h.webhook(t, id)
		if w.State != l.state || w.DeletedAt.Present != l.deleted {
			t.Errorf("webhook %d is %s, deleted %v; want %s, %v", id, w.State, w.DeletedAt, l.state, l.deleted)
		}
		all, err := lyceum.All(v.Deliveries, v, lyceum.WebhookEventFilter{Webhook: id})
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			d := &all[i]
			got[d.ID] = line(expected{d.Webhook, d.State, d.ResponseStatus.Value, d.AttemptCount, d.Tries, d.NextAttemptAt.Value})
		}
	}
	for id, d := range h.deliveries {
		want[id] = line(*d)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-model +store):\n%s", diff)
	}
}

// TestAnyHistoryOfDeliveries checks that whatever couriers, receivers and people do, in any
// order, every event reaches the webhooks that it is for, and is tried, given up and sent again
// as in a simple model of the rules.
func TestAnyHistoryOfDeliveries(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		const seed, steps = 7, 500
		h := &history{post: newPost(t, store), random: rand.New(rand.NewPCG(seed, steps))}
		h.model = model{hooks: map[lyceum.WebhookID]*listener{}, deliveries: map[lyceum.WebhookEventID]*expected{}}
		h.create(t)
		h.create(t)
		for n := range steps {
			h.log = append(h.log, h.step(t))
			h.compare(t)
			if t.Failed() {
				t.Fatalf("after step %d of seed %d; the last were %q", n, seed, h.log[max(0, n-15):])
			}
		}
	})
}
