package oauth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum/internal/inbound/oauth"
)

// learner is a browser in which the learner is signed in.
func learner(t *testing.T, change ...func(*oauth.Options)) *client {
	t.Helper()
	c := &client{window: serve(t, "https://school.example.com:443", change...), cookies: map[string]*http.Cookie{}}
	c.want(c.ask("POST", "/secure/1/identity/sign_in", url.Values{"email": {email}, "password": {password}}), 303, "/account")
	return c
}

// Only what ended is said to have ended.
func TestEndedSessions(t *testing.T) {
	t.Parallel()
	c := learner(t)
	here := c.cookies
	c.cookies = map[string]*http.Cookie{}
	c.want(c.ask("POST", "/secure/1/identity/sign_in", url.Values{"email": {email}, "password": {password}}), 303, "/account")
	other := c.cookies
	c.cookies = here
	page := c.ask("GET", "/account/sessions", nil).Body.String()
	_, end, found := strings.Cut(page, `action="/account/sessions/`)
	if end, _, _ = strings.Cut(end, `/end"`); !found || end == "end" {
		t.Fatalf("no session to end: %s", page)
	}
	for _, ask := range []struct{ name, notice string }{
		{"0000000000000000", "not-ended"}, {end, "ended"}, {end, "not-ended"},
	} {
		c.want(c.ask("POST", "/account/sessions/"+ask.name+"/end", nil), 303, "/account/sessions?done="+ask.notice)
	}
	c.want(c.ask("GET", "/account/sessions?done=not-ended", nil), 200, "nothing was ended")
	c.cookies = other
	c.want(c.ask("GET", "/account/sessions", nil), 303, "sign_in")
}
