package webhook

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum/internal/rules/events"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

var (
	oldSecret = bytes.Repeat([]byte{1, 254}, 16)
	newSecret = bytes.Repeat([]byte{255}, 24)
)

func TestSignatureIsTheOneOfTheStandard(t *testing.T) {
	// The example from the reference libraries.
	key, err := events.ParseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	if got := Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`), key); got != want {
		t.Errorf("signed %q, want %q", got, want)
	}
	if got := Sign("id", time.Unix(0, 0), nil); got != "" {
		t.Errorf("signed %q without a secret", got)
	}
}

func TestSignatureHoldsForTheReferenceLibrary(t *testing.T) {
	now, body := time.Now(), []byte(`{"name":"Grüße"}`)
	signature := Sign("evt_1", now, body, newSecret, oldSecret)
	if strings.Count(signature, "v1,") != 2 || strings.Count(signature, " ") != 1 {
		t.Errorf("the signature is %q", signature)
	}
	right := func() http.Header {
		return header(Message{ID: "evt_1", At: now, Body: body, Secrets: [][]byte{newSecret, oldSecret}})
	}
	for _, tc := range []struct {
		name   string
		secret []byte
		change func(http.Header)
		body   []byte
		holds  bool
	}{
		{"the new secret", newSecret, func(http.Header) {}, body, true},
		{"the old secret", oldSecret, func(http.Header) {}, body, true},
		{"another secret", bytes.Repeat([]byte{2}, 32), func(http.Header) {}, body, false},
		{"another body", newSecret, func(http.Header) {}, []byte(`{}`), false},
		{"another id", newSecret, func(h http.Header) { h.Set("webhook-id", "evt_2") }, body, false},
		{"another time", newSecret, func(h http.Header) { h.Set("webhook-timestamp", fmt.Sprint(now.Unix()+1)) }, body, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			verifier, err := standardwebhooks.NewWebhook(events.SecretText(tc.secret))
			if err != nil {
				t.Fatal(err)
			}
			h := right()
			tc.change(h)
			if err := verifier.Verify(tc.body, h); (err == nil) != tc.holds {
				t.Errorf("the library says %v", err)
			}
		})
	}
}
