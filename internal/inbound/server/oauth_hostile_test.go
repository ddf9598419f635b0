package server_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// TestR16_J1_SecretsOfOAuth sends secrets of every kind, valid and invalid, through every route
// at the most verbose log level, and then looks for them.
func TestR16_J1_SecretsOfOAuth(t *testing.T) {
	dir := t.TempDir()
	store, err := sqlstore.Open(t.Context(), dir, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := campusOver(t, store)
	client := c.ours.clients[lyceum.V1]
	verifier := strings.Repeat("canary-verifier", 3)
	spent, unspent := c.learnerCode(t, c.ours, lyceum.V1), c.learnerCode(t, c.ours, lyceum.V1, set("state", "canary-state"))
	tokens := c.tokens(t, c.ours, lyceum.V1)
	wantStatus(t, c.token(t, lyceum.V1, "token", "form", exchangeOf(client, spent)), http.StatusOK)
	b := c.ours.learner
	secrets := canaries{
		"the client secret": client.secret, "a spent code": spent, "a code": unspent, "an access token": tokens.AccessToken, "a refresh token": tokens.RefreshToken,
		"a session": b.cookies["__Host-lyceum"], "a link": c.link(t, c.theirs), "a verifier": verifier, "a password": goodPassword + " canary", "a good password": goodPassword, "a state": "canary-state",
	}
	var routes []string
	for _, face := range c.options.Faces {
		for _, op := range face.Operations() {
			routes = append(routes, op.Path)
		}
	}
	routes = append(routes, c.ours.path("oauth_provider/authorize"), c.ours.path("sign_in"), c.ours.path("sign_out"), c.ours.path("forgot_password"),
		"/account/apps", "/account/apps/1/revoke", "/secure/sign_in", "/admin", "/admin/settings/oauth-apps", "/metrics", "/docs", "/nowhere")
	everywhere := func() {
		for name, secret := range secrets {
			form := url.Values{}
			for _, field := range []string{"code", "client_secret", "client_id", "refresh_token", "token", "code_verifier", "password", "email", "next", "request", "scope", "grant_type"} {
				form.Set(field, secret)
			}
			for _, route := range append(routes, c.ours.path("set_password/"+url.PathEscape(secret)), c.ours.path("confirm_email/"+url.PathEscape(secret))) {
				for _, method := range []string{http.MethodGet, http.MethodPost} {
					for _, headers := range [][]string{
						{"Content-Type: application/x-www-form-urlencoded"},
						{"Content-Type: application/json"},
						{basicHeader(secret, secret), "Content-Type: application/x-www-form-urlencoded"},
						{"Authorization: bearer " + secret},
						{"Cookie: __Host-lyceum=" + secret},
					} {
						w := c.do(request(method, route, strings.NewReader(form.Encode()), headers...))
						if w.Code < 400 || strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") { // a page shows users what they typed
							continue
						}
						canaries{name: secret}.wantAbsent(t, fmt.Sprintf("the %d of %s %s", w.Code, method, route), w.Body.String()+fmt.Sprint(w.Header()))
					}
				}
			}
			c.do(request(http.MethodGet, c.ours.path("oauth_provider/authorize")+"?client_id="+url.QueryEscape(secret), nil))
		}
	}
	everywhere()
	metrics := c.do(request(http.MethodGet, "/metrics", nil, "Authorization: Bearer metrics"))
	wantStatus(t, metrics, http.StatusOK)
	secrets.wantAbsent(t, "the metrics", metrics.Body.String())
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	everywhere()
	secrets.wantAbsent(t, "the log", c.log.String())
	if len(c.log.lines(t, "request")) == 0 {
		t.Error("nothing was logged: this test looks in the wrong place")
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) == 0 {
		t.Fatal("no files", err)
	}
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(file)
		_ = file.Close()
		if err != nil {
			t.Fatal(err)
		}
		secrets.wantAbsent(t, "the file "+filepath.Base(name), string(content))
	}
}
