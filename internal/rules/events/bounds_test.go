package events_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

// onTheMinute moves the clock to the beginning of a minute.
func (p *post) onTheMinute() {
	p.clock.Pass(p.clock.Now().Truncate(time.Minute).Add(time.Minute).Sub(p.clock.Now()))
}

// TestR46_AWebhookIsSentNoMoreThanItsRate checks that deliveries beyond the rate limit wait for
// the next minute, that repeated attempts count, that other webhooks do not wait, and that a new
// limit takes effect immediately.
func TestR46_AWebhookIsSentNoMoreThanItsRate(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		slow, quick := p.hook(t, events.WebhookForm{RateLimit: 3}), p.hook(t, events.WebhookForm{})
		p.onTheMinute()
		for range 8 {
			p.sell(t)
		}
		arrive := func(when string, want int) {
			t.Helper()
			p.rounds(t)
			if came := slow.letters(); len(came) != want {
				t.Errorf("%s: %d came, want %d", when, len(came), want)
			}
		}
		arrive("in the first minute", 3)
		if came := quick.letters(); len(came) != 8 {
			t.Errorf("%d came without a limit, want 8", len(came))
		}
		p.clock.Pass(59 * time.Second)
		arrive("at the end of the first minute", 0)
		p.clock.Pass(time.Second)
		slow.answer = status(500)
		arrive("in the second minute", 3)
		slow.answer = status(200)
		p.clock.Pass(-time.Minute) // a clock that is set back is in another minute
		arrive("in the first minute again", 2)
		p.clock.Pass(30 * time.Minute)
		arrive("when three are tried again", 3)

		for range 5 {
			p.sell(t)
		}
		p.clock.Pass(time.Minute)
		arrive("of five more", 3)
		_, err := p.events.Update(t.Context(), p.by(), slow.ID, func(f *events.WebhookForm) { f.RateLimit = 4 })
		if err != nil {
			t.Fatal(err)
		}
		arrive("under the limit of four", 1)
		if _, err := p.events.Update(t.Context(), p.by(), slow.ID, func(f *events.WebhookForm) { f.RateLimit = 0 }); err != nil {
			t.Fatal(err)
		}
		arrive("without a limit", 1)
	})
}

// TestR46_ReportsOfTheMinuteBefore checks that the count of a minute stays when something is saved
// that was dated just before the minute began: an attempt that waited for its turn, or a claim of
// a process whose clock is a little behind.
func TestR46_ReportsOfTheMinuteBefore(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		to := p.hook(t, events.WebhookForm{RateLimit: 3})
		for range 12 {
			p.sell(t)
		}
		p.dispatch(t)
		p.onTheMinute()
		due := lyceum.DueWebhook{School: p.school, Webhook: to.ID}
		claim := func(when string, want int) (parcels []events.Parcel) {
			t.Helper()
			parcels, err := p.events.Claim(t.Context(), due, 32)
			if err != nil || len(parcels) != want {
				t.Errorf("%s: %d are claimed, %v; want %d", when, len(parcels), err, want)
			}
			return parcels
		}
		p.clock.Pass(59 * time.Second)
		late := claim("at the end of the first minute", 3)
		p.clock.Pass(time.Second)
		claim("in the second minute", 3)
		p.clock.Pass(-time.Second)
		for i := range late {
			p.deliver(t, &late[i])
		}
		claim("by a clock that is behind", 0)
		p.clock.Pass(time.Second)
		claim("in the second minute again", 0)
		p.clock.Pass(time.Minute)
		claim("in the third minute", 3)
	})
}

// TestR46_FormsThatMakeNoSense checks that invalid settings are rejected when a webhook is
// created and when it is changed.
func TestR46_FormsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	p := newPost(t, openStore(t))
	other := p.hook(t, events.WebhookForm{})
	to := p.hook(t, events.WebhookForm{})
	for name, tc := range map[string]struct {
		form events.WebhookForm
		kind lyceum.Kind
		want string
	}{
		"a negative rate":     {events.WebhookForm{RateLimit: -1}, lyceum.Invalid, "rate_limit must be from 0 (no limit) to 60000"},
		"a rate too high":     {events.WebhookForm{RateLimit: 60_001}, lyceum.Invalid, "rate_limit must be from 0 (no limit) to 60000"},
		"an unknown schedule": {events.WebhookForm{Schedule: "daily"}, lyceum.Invalid, "schedule must be contract or standard"},
		"an unknown event":    {events.WebhookForm{Events: []string{"Sale.sold"}}, lyceum.Invalid, "events must be names of events"},
		"an address inside":   {events.WebhookForm{URL: "https://inside"}, lyceum.Invalid, "inside"},
		"a shared event":      {events.WebhookForm{URL: other.URL, Events: []string{"Sale.created", "User.created"}}, lyceum.Conflict, "already sends Sale.created"},
	} {
		if tc.form.URL == "" {
			tc.form.URL = "https://example.com/another"
		}
		_, err := p.events.Create(t.Context(), p.by(), tc.form)
		_, changed := p.events.Update(t.Context(), p.by(), to.ID, func(f *events.WebhookForm) { *f = tc.form })
		for _, err := range []error{err, changed} {
			if lyceum.KindOf(err) != tc.kind || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if w := p.webhook(t, to.ID); w.URL != to.URL || w.EventTrigger != "Sale.created" {
		t.Errorf("the webhook is %+v", w)
	}
	// The same URL, without a common event.
	if _, err := p.events.Create(t.Context(), p.by(), events.WebhookForm{URL: other.URL, Events: []string{"User.created"}}); err != nil {
		t.Error(err)
	}
}

// TestR48_AnswersDoNotFillTheDisk checks that headers and responses of a webhook's attempts are
// stored up to 8 MB per day, and beyond that only the outcomes. The next day starts again, and
// each webhook has a separate limit.
func TestR48_AnswersDoNotFillTheDisk(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		thanks := func() events.Outcome {
			return events.Outcome{
				Delivered: true, Status: 200, Took: time.Second,
				RequestHeader: "Webhook-Id: 1", ResponseHeader: "Server: x", ResponseBody: "thank you",
			}
		}
		w, other := p.hook(t, events.WebhookForm{}), p.hook(t, events.WebhookForm{})
		w.answer, other.answer = thanks, thanks
		p.clock.Pass(p.clock.Now().Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(p.clock.Now())) // a day begins
		uses := func(bytes int) {
			t.Helper()
			err := store.Write(t.Context(), lyceum.Stamp{School: p.school, At: p.clock.Now(), Actor: "test"}, func(tx lyceum.Tx) error {
				u, err := tx.WebhookUsage.Get(tx, w.ID)
				if err != nil && lyceum.KindOf(err) != lyceum.NotFound {
					return err
				}
				u.Webhook, u.Day, u.Kept = w.ID, p.clock.Now().UTC().Truncate(24*time.Hour), u.Kept+int64(bytes)
				_, err = tx.WebhookUsage.Save(tx, u)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		attempt := func(id lyceum.WebhookID) lyceum.Attempt {
			t.Helper()
			p.sell(t)
			p.rounds(t)
			_, ids := p.states(t, id)
			d, err := p.events.Show(t.Context(), p.by(), slices.Max(ids))
			if err != nil || len(d.Attempts) != 1 {
				t.Fatal(d, err)
			}
			return d.Attempts[0]
		}
		whole := func(when string, a lyceum.Attempt) {
			t.Helper()
			if a.Unkept || a.ResponseBody != "thank you" || a.RequestHeader == "" || a.ResponseHeader == "" || a.Status != lyceum.Some[int32](200) {
				t.Errorf("%s: %+v", when, a)
			}
		}
		whole("at first", attempt(w.ID))
		uses(8<<20 - 4096)
		whole("while there is room", attempt(w.ID))
		uses(4096)
		a := attempt(w.ID)
		if !a.Unkept || a.ResponseBody+a.RequestHeader+a.ResponseHeader != "" || a.Status != lyceum.Some[int32](200) || a.Took <= 0 {
			t.Errorf("beyond the bound: %+v", a)
		}
		whole("of another webhook", attempt(other.ID))
		p.clock.Pass(24*time.Hour - time.Second)
		if a := attempt(w.ID); !a.Unkept {
			t.Errorf("at the end of the day: %+v", a)
		}
		p.clock.Pass(time.Second)
		whole("on the next day", attempt(w.ID))
	})
}

// TestWhatIsSentAgain checks that deliveries are sent again by their state and the time of their
// event, or a single one by its id, and that a resent one restarts its schedule.
func TestWhatIsSentAgain(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		to := p.hook(t, events.WebhookForm{})
		begin := p.clock.Now()
		for n := range 4 { // the second and the fourth fail at first
			to.answer = status(200 + n%2*300)
			p.sell(t)
			p.rounds(t)
			p.clock.Pass(time.Minute)
		}
		_, ids := p.states(t, to.ID)
		to.answer = status(200)
		to.letters()
		for _, tc := range []struct {
			name   string
			filter lyceum.ResendFilter
			want   []lyceum.WebhookEventID
		}{
			{"delivered ones", lyceum.ResendFilter{State: lyceum.Some(lyceum.DeliveryDelivered)}, []lyceum.WebhookEventID{ids[0], ids[2]}},
			{"none that failed", lyceum.ResendFilter{State: lyceum.Some(lyceum.DeliveryFailed)}, nil},
			{"of a time", lyceum.ResendFilter{Created: lyceum.Period{After: begin.Add(30 * time.Second), Until: begin.Add(150 * time.Second)}}, ids[1:3]},
			{"all", lyceum.ResendFilter{}, ids},
		} {
			tc.filter.Webhook = to.ID
			sent, err := p.events.Resend(t.Context(), p.by(), tc.filter)
			p.rounds(t)
			if came := idsOf(to.letters()); err != nil || sent != len(tc.want) || !slices.Equal(came, tc.want) {
				t.Errorf("%s: %d are sent, came %v, %v; want %v", tc.name, sent, came, err, tc.want)
			}
		}
		d, err := p.events.ResendOne(t.Context(), p.by(), ids[1])
		if err != nil || d.Name != lyceum.SaleCreatedEvent || d.State != lyceum.DeliveryPending || d.Tries != 0 {
			t.Errorf("%+v, %v", d, err)
		}
		p.rounds(t)
		if came := idsOf(to.letters()); !slices.Equal(came, ids[1:2]) {
			t.Errorf("of one came %v", came)
		}
		shown, err := p.events.Deliveries(t.Context(), p.by(), lyceum.WebhookEventFilter{Webhook: to.ID}, lyceum.Page{Number: 2, Size: 3})
		if err != nil || shown.Total != 4 || len(shown.Rows) != 1 || shown.Rows[0].ID != ids[0] || shown.Rows[0].Name != lyceum.SaleCreatedEvent {
			t.Errorf("the second page is %+v, %v", shown, err)
		}
	})
}

// TestRecordsAreNotSent checks that nothing is sent for webhooks and deliveries from another
// server, and that a file cannot change a webhook that this server sends to.
func TestRecordsAreNotSent(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		to := p.hook(t, events.WebhookForm{})
		hooks := p.events.ImportWebhooks(p.by(), p.clock.Now)
		batch := []lyceum.Webhook{
			{ID: to.ID, URL: "https://example.com/copy", State: lyceum.WebhookVerified, EventTrigger: lyceum.AllEvents},
			{ID: 90, URL: "https://example.com/copy", State: lyceum.WebhookVerified, EventTrigger: lyceum.AllEvents},
			{ID: 92, URL: "https://example.com/old", State: lyceum.WebhookVerified, EventTrigger: lyceum.AllEvents, DeletedAt: lyceum.Some(p.clock.Now())},
		}
		problems, err := hooks.Check(t.Context(), batch)
		if err != nil || len(problems) != 1 || problems[0].Index != 0 || problems[0].Field != "id" {
			t.Errorf("%v, %v", problems, err)
		}
		if saved, problems, err := hooks.Save(t.Context(), batch); err != nil || saved.Created != 2 || len(problems) != 1 {
			t.Fatal(saved, problems, err)
		}
		batch[2].DeletedAt = lyceum.None[time.Time]() // as in a file of the API's list
		if saved, _, err := hooks.Save(t.Context(), batch[2:]); err != nil || saved.Unchanged != 1 {
			t.Errorf("a record that was deleted is back: %+v, %v", saved, err)
		}
		if w := p.webhook(t, 90); w.Live || !w.CreatedAt.Equal(p.clock.Now()) {
			t.Errorf("the record is %+v", w)
		}
		records := []lyceum.WebhookEvent{
			{ID: 900, Webhook: 90, State: lyceum.DeliveryDelivered, CreatedAt: p.clock.Now(), ObjectType: "Sale", ObjectID: 1},
			{ID: 901, Webhook: 91, State: lyceum.DeliveryDelivered, CreatedAt: p.clock.Now(), ObjectType: "Sale", ObjectID: 1},
			{ID: 902, Webhook: to.ID, State: lyceum.DeliveryDelivered, CreatedAt: p.clock.Now(), ObjectType: "Sale", ObjectID: 1},
		}
		saved, problems, err := p.events.ImportEvents(p.by(), p.clock.Now).Save(t.Context(), records)
		if err != nil || saved.Created != 1 || len(problems) != 2 || problems[0].Field != "webhook_id" {
			t.Errorf("%v, %v, %v", saved, problems, err)
		}
		d, err := p.events.Show(t.Context(), p.by(), 900)
		if err != nil || d.Body() != nil {
			t.Errorf("the record of a delivery is %+v, %v", d, err)
		}
		p.sell(t)
		p.rounds(t)
		if told, _ := p.states(t, 90); len(told) != 1 {
			t.Errorf("the record is told: %v", told)
		}
		_, err = p.events.LiveWebhook(t.Context(), p.by(), 90)
		refused := map[string]error{"shown among those that are sent to": err}
		_, refused["tested"] = p.events.Test(t.Context(), p.by(), 90, lyceum.None[string]())
		_, refused["resumed"] = p.events.Resume(t.Context(), p.by(), 90, events.WithReplay)
		_, refused["resent"] = p.events.ResendOne(t.Context(), p.by(), 900)
		_, refused["given a new secret"] = p.events.Rotate(t.Context(), p.by(), 90)
		refused["deleted"] = p.events.Delete(t.Context(), p.by(), 90)
		for what, err := range refused {
			if kind := lyceum.KindOf(err); kind != lyceum.Conflict && kind != lyceum.NotFound {
				t.Errorf("a record is %s: %v", what, err)
			}
		}
		if all, err := p.events.Webhooks(t.Context(), p.by(), struct{}{}); err != nil || len(all) != 2 {
			t.Errorf("%d webhooks, %v", len(all), err)
		}
	})
}

// ring sets the keys that secrets are derived from, the newest first.
func (p *post) ring(keys ...byte) {
	var all []lyceum.SecretKey
	for _, k := range keys {
		all = append(all, lyceum.SecretKey{k})
	}
	p.events.Ring.Replace(all)
}

// signers returns the secrets that sign the next message to a receiver.
func (p *post) signers(t *testing.T, to *receiver) string {
	t.Helper()
	p.sell(t)
	p.rounds(t)
	came := to.letters()
	if len(came) != 1 {
		t.Fatalf("%d messages came, want 1", len(came))
	}
	return fmt.Sprintf("%x", came[0].Secrets)
}

// TestTwoSecretsSignAfterARotation checks that a new secret and the previous one both sign for a
// day.
func TestTwoSecretsSignAfterARotation(t *testing.T) {
	t.Parallel()
	p := newPost(t, openStore(t))
	to := p.hook(t, events.WebhookForm{})
	first := to.Secret
	if got, want := p.signers(t, to), fmt.Sprintf("%x", [][]byte{first}); got != want {
		t.Errorf("signed with %s, want %s", got, want)
	}
	after, err := p.events.Rotate(t.Context(), p.by(), to.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		pass time.Duration
		want [][]byte
	}{
		{0, [][]byte{after.Secret, first}},
		{24*time.Hour - time.Second, [][]byte{after.Secret, first}},
		{time.Second, [][]byte{after.Secret}},
	} {
		p.clock.Pass(tc.pass)
		if got, want := p.signers(t, to), fmt.Sprintf("%x", tc.want); got != want {
			t.Errorf("signed with %s, want %s", got, want)
		}
	}
	p.events.Ring.Replace(nil)
	_, err = p.events.Rotate(t.Context(), p.by(), to.ID)
	if lyceum.Public(err).Code != "no_secret_key" {
		t.Errorf("rotated without a key: %v", err)
	}
}

// TestR43_WebhooksOutliveARotationOfTheKey rotates the server's key under webhooks of every age,
// and checks that each continues with the secret that its receiver has. A process that lacks the
// key of a webhook sends it nothing.
func TestR43_WebhooksOutliveARotationOfTheKey(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		p.ring(1)
		unnamed, before, changed := p.hook(t, events.WebhookForm{}), p.hook(t, events.WebhookForm{}), p.hook(t, events.WebhookForm{})
		err := store.Write(t.Context(), lyceum.Stamp{School: p.school, At: p.clock.Now(), Actor: "test"}, func(tx lyceum.Tx) error {
			w, err := tx.Webhooks.Get(tx, unnamed.ID)
			if err != nil {
				return err
			}
			w.SecretKey = "" // as in webhooks from before keys had names
			_, err = tx.Webhooks.Save(tx, w)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		p.ring(2, 1)
		after := p.hook(t, events.WebhookForm{})
		again, err := p.events.Rotate(t.Context(), p.by(), changed.ID)
		if err != nil {
			t.Fatal(err)
		}
		p.sell(t)
		p.dispatch(t)
		p.ring(1)
		for _, to := range []*receiver{changed, after} {
			if _, err := p.events.Claim(t.Context(), lyceum.DueWebhook{School: p.school, Webhook: to.ID}, 10); lyceum.KindOf(err) != lyceum.Unavailable {
				t.Errorf("webhook %d is claimed without its key: %v", to.ID, err)
			}
		}
		p.ring(2, 1)
		p.rounds(t)
		for to, want := range map[*receiver][][]byte{
			unnamed: {unnamed.Secret}, before: {before.Secret}, after: {after.Secret}, changed: {again.Secret, changed.Secret},
		} {
			came := to.letters()
			if len(came) != 1 || fmt.Sprintf("%x", came[0].Secrets) != fmt.Sprintf("%x", want) {
				t.Errorf("webhook %d: %d messages, signed with other secrets than its own", to.ID, len(came))
			}
		}
		newer, older := lyceum.SecretKey{2}, lyceum.SecretKey{1}
		secret, err := p.events.Secret(p.school, changed.ID, 1, newer.ID())
		if err != nil || string(secret) != string(again.Secret) {
			t.Errorf("the new secret is not made of the new key: %v", err)
		}
		p.clock.Pass(24 * time.Hour)
		needed, err := p.events.NeededKeys(t.Context())
		if err != nil || len(needed) != 2 || needed[older.ID()] != 2 || needed[newer.ID()] != 2 {
			t.Errorf("the keys needed are %v, %v", needed, err)
		}
	})
}
