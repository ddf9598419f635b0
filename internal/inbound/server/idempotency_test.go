package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// TestR47_IdempotencyKeysBelongToAnAPIKey checks that the holder of another API key of the
// school, who knows or guesses the Idempotency-Key of a request and its body, does not get its
// response, but makes a separate request.
func TestR47_IdempotencyKeysBelongToAnAPIKey(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one, two := s.issue(t, s.ours, lyceum.Read|lyceum.Write), s.issue(t, s.ours, lyceum.Read|lyceum.Write)
	post := func(key, path, body string) (int, string) {
		w := s.do(request(http.MethodPost, path, strings.NewReader(body), "apiKey: "+key, "Content-Type: application/json", "Idempotency-Key: first"))
		return w.Code, w.Body.String()
	}
	const hook = `{"url":"https://hooks.example.com/a","events":["Sale.created"]}`
	status, made := post(one, "/lyceum/v1/webhooks", hook)
	if status != http.StatusCreated || !strings.Contains(made, "whsec_") {
		t.Fatal(status, made)
	}
	if status, again := post(one, "/lyceum/v1/webhooks", hook); status != http.StatusCreated || again != made {
		t.Errorf("the same API key again: %d %s", status, again)
	}
	if status, other := post(two, "/lyceum/v1/webhooks", hook); status != http.StatusConflict || strings.Contains(other, "whsec_") {
		t.Errorf("another API key: %d %s", status, other)
	}
	if status, other := post(two, "/lyceum/v1/webhooks", `{"url":"https://hooks.example.com/b"}`); status != http.StatusCreated {
		t.Errorf("another API key with another request: %d %s", status, other)
	}
	if status, other := post(one, "/lyceum/v1/webhooks", `{"url":"https://hooks.example.com/b"}`); status != http.StatusUnprocessableEntity {
		t.Errorf("the same API key with another request: %d %s", status, other)
	}
}
