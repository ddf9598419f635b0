package webhook

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// signedBy reports whether a receiver with this secret accepts the message.
func signedBy(t *testing.T, m letter, secret []byte) bool {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(events.SecretText(secret))
	if err != nil {
		t.Fatal(err)
	}
	return verifier.Verify(m.body, m.header) == nil
}

// TestR43_AProcessWithoutTheKeySendsNothingWrong checks that a process that does not have the
// new key yet leaves the messages it cannot sign to a process that has it, and does not sign
// them with another key.
func TestR43_AProcessWithoutTheKeySendsNothingWrong(t *testing.T) {
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		older, newer := lyceum.SecretKey{1}, lyceum.SecretKey{2}
		p.events.Ring.Replace([]lyceum.SecretKey{newer, older})
		to := newReceiver(t, nil)
		w := p.hook(t, events.WebhookForm{URL: to.URL, Events: []string{"Sale.created"}})

		late := newPostAt(store, p.clock)
		late.events.Ring.Replace([]lyceum.SecretKey{older})
		var log bytes.Buffer
		late.courier.Log = slog.New(slog.NewTextHandler(&log, nil))
		p.sell(t)
		for range 3 {
			late.courier.begin()
			late.courier.dispatch(t.Context())
			late.courier.claim(t.Context(), t.Context())
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
