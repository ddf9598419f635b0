package server_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// canaries are secrets that must not appear anywhere.
type canaries map[string]string

// wantAbsent looks for any of the canaries, in full or in part.
func (c canaries) wantAbsent(t *testing.T, where, text string) {
	t.Helper()
	for name, secret := range c {
		parts := []string{secret, url.QueryEscape(secret)}
		if i := strings.LastIndexByte(secret, '_'); len(secret) > i+40 { // the random part of a key
			parts = append(parts, secret[i+1:i+21], secret[len(secret)-20:])
		}
		for _, part := range parts {
			if strings.Contains(text, part) {
				t.Errorf("%s holds %s:\n%s", where, name, text)
				return
			}
		}
	}
}

func TestR16SecretsDoNotComeOut(t *testing.T) {
	const metricsToken = "canary-of-the-metrics-token"
	s := newSite(t, logged, limited(1_000_000),
		func(_ *site, o *server.Options) { o.MetricsToken = metricsToken },
		with("panic", http.MethodGet, func(_ context.Context, _ wire.Principal, _ *http.Request) (wire.Body, error) { panic("oh") }),
		with("fail", http.MethodGet, failing(errors.New("disk gone"))),
		with("unavailable", http.MethodGet, failing(lyceum.Errorf(lyceum.Unavailable, "busy"))),
		with("read", http.MethodPost, reading))
	revoked := s.issue(t, s.ours, lyceum.Read)
	if err := s.options.Keys.Revoke(t.Context(), lyceum.By{School: s.ours, Actor: "test"}, 2); err != nil {
		t.Fatal(err)
	}
	secrets := canaries{
		"a good key":          s.key,
		"a write-only key":    s.issue(t, s.ours, lyceum.Write),
		"a revoked key":       revoked,
		"an unknown key":      access.KeyText(s.ours, access.NewEntropy()),
		"a mistyped key":      strings.ToUpper(access.KeyText(s.theirs, access.NewEntropy())),
		"a word for a key":    "canary-of-a-word-for-a-key",
		"a foreign key":       "sk_live_canary0123456789canary0123456789canary01",
		"the metrics token":   metricsToken,
		"a small letters key": "canaryofsmalllettersthatcouldbeaname",
	}
	targets := []string{
		"/v1/transactions", "/v1//transactions", "/v1/transactions?page=x", "/v1/transactions?page=%", "/v1/unknown", "/nowhere", "/v1/../x",
		"/test/panic", "/test/fail", "/test/unavailable", "/test/read", "/docs", "/openapi/v1.yaml", "/livez", "/readyz", "/metrics", "/",
	}
	check := func(where string, r *http.Request) {
		t.Helper()
		w := s.do(r)
		response := w.Body.String()
		for name, values := range w.Header() {
			response += "\n" + name + ": " + strings.Join(values, ", ")
		}
		secrets.wantAbsent(t, "the answer to "+where, response)
	}
	everywhere := func() {
		t.Helper()
		for _, secret := range secrets {
			escaped := url.QueryEscape(secret)
			for _, target := range targets {
				for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodOptions} {
					for _, headers := range [][]string{
						{"apiKey: " + secret},
						{"apiKey: " + secret, "apiKey: " + secret},
						{"Authorization: Bearer " + secret},
						{"Cookie: session=" + secret},
						{"apiKey: " + secret, "If-None-Match: " + secret, "Accept-Encoding: " + secret, "Origin: " + secret, "Access-Control-Request-Method: " + secret},
					} {
						check(method+" "+target, request(method, target, strings.NewReader(secret), headers...))
					}
				}
			}
			for _, target := range []string{
				"/v1/transactions?apiKey=" + escaped, "/v1/transactions?user_id=" + escaped, "/v1/transactions?start=" + escaped,
				"/v1/transactions?sort_direction=" + escaped, "/v1/transactions?is_chargeback=" + escaped, "/v1/transactions?" + escaped + "=1",
				"/v1/transactions?apiKey=" + escaped + "%", "/v1/transactions?user_id=" + escaped + "&user_id=" + escaped, "/v1/transactions?" + escaped + "%=1",
				"/v1/" + escaped, "/" + escaped, "/docs/" + escaped, "/openapi/" + escaped, "/metrics?token=" + escaped, "/?apiKey=" + escaped, "/test/panic?apiKey=" + escaped,
			} {
				check(target, request(http.MethodGet, target, nil, "apiKey: "+s.key))
				check(target+" without a key", request(http.MethodGet, target, nil))
			}
		}
	}
	everywhere()
	s.throughTheNetwork(t, secrets)
	s.stop(t) // saves the usage data
	metrics := s.do(request(http.MethodGet, "/metrics", nil, "Authorization: Bearer "+metricsToken))
	wantStatus(t, metrics, http.StatusOK)
	secrets.wantAbsent(t, "the metrics", metrics.Body.String())
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	everywhere()
	secrets.wantAbsent(t, "the log", s.log.String())
	for name, content := range s.files(t) {
		if strings.Contains(content, s.key[len(s.key)-20:]) || strings.Contains(content, revoked[len(revoked)-20:]) {
			t.Errorf("the file %s holds a key", name)
		}
	}
	for _, message := range []string{"request", "request panicked", "request failed", "request refused"} {
		if len(s.log.lines(t, message)) == 0 {
			t.Errorf("nothing was logged as %q: this test looks in the wrong place", message)
		}
	}
}

// throughTheNetwork sends what only a listener sees, and what net/http may log.
func (s *site) throughTheNetwork(t *testing.T, secrets canaries) {
	t.Helper()
	listener, err := server.Listen(t.Context(), "--addr", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, listener, s, nil, s.options.Log) }()
	for _, secret := range secrets {
		for _, raw := range []string{
			"GET /test/panic HTTP/1.1\r\nHost: x\r\nConnection: close\r\napiKey: " + secret + "\r\n\r\n",
			"GET /v1/transactions HTTP/1.1\r\nHost: x\r\nConnection: close\r\napiKey: " + secret + "\x01\r\n\r\n",
			"GET /v1/transactions HTTP/1.1\r\nHost: x\r\nConnection: close\r\napiKey " + secret + "\r\n\r\n",
			"GET /v1/transactions HTTP/9.9\r\nHost: x\r\napiKey: " + secret + "\r\n\r\n",
			"GET /v1/ " + secret + " HTTP/1.1\r\nHost: x\r\n\r\n",
			secret + "\r\n\r\n",
			"GET /v1/transactions HTTP/1.1\r\nHost: x\r\napiKey: " + secret + "\r\nX-Long: " + strings.Repeat("x", 40<<10) + "\r\n\r\n",
		} {
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(conn, raw) // the server may have closed the connection already
			response, _ := io.ReadAll(conn)
			conn.Close()
			secrets.wantAbsent(t, "the answer to "+strings.ReplaceAll(raw[:20], secret, "…"), string(response))
		}
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestR16CanariesAreSeen(t *testing.T) {
	key := access.KeyText(1, access.NewEntropy())
	for name, text := range map[string]string{
		"whole": "a " + key + " b", "the random part": key[13:40], "the end": key[len(key)-20:], "escaped": url.QueryEscape(key + "/")[:len(key)],
	} {
		inner := &testing.T{}
		canaries{"a key": key}.wantAbsent(inner, name, text)
		if !inner.Failed() {
			t.Errorf("%s is not seen", name)
		}
	}
}

// TestR16_WebhookSecretsAreKeptNowhere checks that a signing secret is returned once, and again
// to a client that repeats the request with its key, and that it is in no file and no log.
func TestR16_WebhookSecretsAreKeptNowhere(t *testing.T) {
	s := newSite(t, logged)
	key := s.issue(t, s.ours, lyceum.Read|lyceum.Write)
	created := func(path, body string) string {
		t.Helper()
		w := s.do(request(http.MethodPost, path, strings.NewReader(body), "apiKey: "+key, "Content-Type: application/json", "Idempotency-Key: "+path))
		var webhook struct {
			Secret string `json:"secret"`
		}
		decode(t, w.Body.Bytes(), &webhook)
		if w.Code != http.StatusCreated || len(webhook.Secret) < 40 || w.Header().Get("Cache-Control") != "no-store" {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		return webhook.Secret
	}
	var secrets []string
	for _, call := range [][2]string{{"/lyceum/v1/webhooks", `{"url":"https://hooks.example.com"}`}, {"/lyceum/v1/webhooks/1/secret", ""}} {
		secret := created(call[0], call[1])
		if again := created(call[0], call[1]); again != secret {
			t.Errorf("%s told %s and then %s", call[0], secret, again)
		}
		secrets = append(secrets, secret)
	}
	if secrets[0] == secrets[1] {
		t.Error("the new secret is the old one")
	}
	for _, secret := range secrets {
		text := strings.TrimPrefix(secret, "whsec_")
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		places := s.files(t)
		places["log"] = s.log.String()
		for name, content := range places {
			if strings.Contains(content, text) || strings.Contains(content, string(raw)) {
				t.Errorf("%s holds a webhook's secret", name)
			}
		}
	}
}
