package webhook

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// signedBy reports whether a receiver with a secret takes the letter.
func signedBy(t *testing.T, m letter, secret []byte) bool {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(events.SecretText(secret))
	if err != nil {
		t.Fatal(err)
	}
	return verifier.Verify(m.body, m.header) == nil
}

// The server's key is rotated under webhooks of every age: each goes on with
// the secret that its receiver has.
func TestR43_WebhooksOutliveARotationOfTheKey(t *testing.T) {
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		older, newer := lyceum.SecretKey{1}, lyceum.SecretKey{2}
		p.events.Ring.Replace([]lyceum.SecretKey{older})
		receivers := map[lyceum.WebhookID]*receiver{}
		hook := func() events.WithSecret {
			to := newReceiver(t, nil)
			w := p.hook(t, events.WebhookForm{URL: to.URL, Events: []string{"Sale.created"}})
			receivers[w.ID] = to
			return w
		}
		unnamed, before, changed := hook(), hook(), hook()
		storedWithoutKey(t, p, unnamed.ID)
		p.events.Ring.Replace([]lyceum.SecretKey{newer, older})
		after := hook()
		again, err := p.events.Rotate(t.Context(), p.by(), changed.ID)
		if err != nil {
			t.Fatal(err)
		}
		one := func(id lyceum.WebhookID) letter {
			t.Helper()
			came := receivers[id].letters()
			if len(came) != 1 {
				t.Fatalf("webhook %d: %d messages came, want 1", id, len(came))
			}
			return came[0]
		}
		p.sell(t)
		p.rounds(t)
		for _, w := range []events.WithSecret{unnamed, before, after} {
			if m := one(w.ID); !signedBy(t, m, w.Secret) || strings.Contains(m.header.Get("Webhook-Signature"), " ") {
				t.Errorf("webhook %d is signed %q, not by its secret alone", w.ID, m.header.Get("Webhook-Signature"))
			}
		}
		if m := one(changed.ID); !signedBy(t, m, changed.Secret) || !signedBy(t, m, again.Secret) {
			t.Error("the secrets before and after, of two keys, do not sign side by side")
		}
		if !bytes.Equal(again.Secret, secretIn(t, p, changed.ID, newer)) {
			t.Error("the new secret is not made of the new key")
		}
		p.pass(24 * time.Hour)
		needed, err := p.events.NeededKeys(t.Context())
		if err != nil || len(needed) != 2 || needed[older.ID()] != 2 || needed[newer.ID()] != 2 {
			t.Errorf("the keys needed are %v, %v", needed, err)
		}
	})
}

// storedWithoutKey makes a webhook as it was before keys had names.
func storedWithoutKey(t *testing.T, p *post, id lyceum.WebhookID) {
	t.Helper()
	err := p.store.Write(t.Context(), lyceum.Stamp{School: p.school, At: p.clock(), Actor: "test"}, func(tx lyceum.Tx) error {
		w, err := tx.Webhooks.Get(tx, id)
		if err != nil {
			return err
		}
		w.SecretKey = ""
		_, err = tx.Webhooks.Save(tx, w)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// secretIn gives the secret that a webhook has in its generation with a key.
func secretIn(t *testing.T, p *post, id lyceum.WebhookID, key lyceum.SecretKey) []byte {
	t.Helper()
	secret, err := p.events.Secret(p.school, id, p.webhook(t, id).SecretGeneration, key.ID())
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// A process that has not been given the new key leaves what it cannot sign to
// one that has it, and does not sign with another.
func TestR43_AProcessWithoutTheKeySendsNothingWrong(t *testing.T) {
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		older, newer := lyceum.SecretKey{1}, lyceum.SecretKey{2}
		p.events.Ring.Replace([]lyceum.SecretKey{newer, older})
		to := newReceiver(t, nil)
		w := p.hook(t, events.WebhookForm{URL: to.URL, Events: []string{"Sale.created"}})

		late := newPost(t, store)
		late.school, late.now = p.school, p.now
		late.events.Ring.Replace([]lyceum.SecretKey{older})
		var log bytes.Buffer
		late.courier.Log = slog.New(slog.NewTextHandler(&log, nil))
		p.sell(t)
		for range 3 {
			late.courier.sending, late.courier.freed = map[lyceum.DueWebhook]int{}, make(chan struct{}, 1)
			late.courier.round(t.Context(), t.Context())
			late.courier.work.Wait()
		}
		if came := to.letters(); len(came) > 0 {
			t.Fatalf("a process without the key sent %d messages", len(came))
		}
		if n := strings.Count(log.String(), string(newer.ID())); n != 1 {
			t.Errorf("the missing key is named %d times in the log, want once:\n%s", n, log.String())
		}
		p.rounds(t)
		if came := to.letters(); len(came) != 1 || !signedBy(t, came[0], w.Secret) {
			t.Errorf("the process with the key: %d messages", len(came))
		}
	})
}
