package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// behindProxy returns a campus whose requests come through a proxy at 10.0.0.1.
func behindProxy(t *testing.T, perMinute int64) *campus {
	t.Helper()
	c := newCampus(t)
	var err error
	if c.options.Proxies, err = server.ParseProxies("--trusted-proxies", []string{"10.0.0.1"}); err != nil {
		t.Fatal(err)
	}
	c.options.Limiter = access.NewLimiter(perMinute, c.clock.Now)
	c.options.Metrics = server.NewMetrics("v1.2.3")
	c.Handler = server.Handler(c.options)
	return c
}

// through sends a request from an address through the proxy.
func (c *campus) through(r *http.Request, from string) (status int) {
	r.RemoteAddr = "10.0.0.1:4000"
	r.Header.Set("X-Forwarded-For", from)
	return c.do(r).Code
}

func tokenRequest(pairs url.Values) *http.Request {
	return request(http.MethodPost, "/v1/current_user/oauth2/token", strings.NewReader(pairs.Encode()), "Content-Type: application/x-www-form-urlencoded")
}

// TestR32_BehindAProxy checks that users and programs behind one proxy are distinguished, and
// that what they write into its header themselves has no effect.
func TestR32_BehindAProxy(t *testing.T) {
	c := behindProxy(t, 50)
	for range 50 {
		c.through(request(http.MethodGet, "/v1/users", nil), "192.0.2.66, 198.51.100.1")
	}
	if status := c.through(request(http.MethodGet, "/v1/users", nil), "203.0.113.77, 198.51.100.1"); status != http.StatusTooManyRequests {
		t.Errorf("somebody who forges what stands before their address is a %d", status)
	}
	if status := c.through(request(http.MethodGet, "/v1/users", nil), "198.51.100.2"); status != http.StatusUnauthorized {
		t.Errorf("somebody else behind the proxy is a %d", status)
	}
	wrong := func() *http.Request {
		form := url.Values{"email": {learnerEmail}, "password": {"wrong"}}
		return request(http.MethodPost, c.ours.path("sign_in"), strings.NewReader(form.Encode()), "Content-Type: application/x-www-form-urlencoded")
	}
	for range 10 {
		c.through(wrong(), "198.51.100.1")
	}
	if status := c.through(wrong(), "198.51.100.1"); status != http.StatusTooManyRequests {
		t.Errorf("the eleventh wrong password is a %d", status)
	}
	if status := c.through(wrong(), "198.51.100.2"); status != http.StatusUnprocessableEntity {
		t.Errorf("the first of somebody else behind the proxy is a %d", status)
	}
	lines := c.log.lines(t, "request")
	if last := lines[len(lines)-1]; last["address"] != "198.51.100.2" || last["path"] != "/secure/{school}/identity/sign_in" {
		t.Errorf("the access log has %v", last)
	}
}

// TestR32_TokenEndpointsOnASharedAddress checks that anonymous requests and wrong secrets do
// not block valid secrets, of whatever school; each app has its own limit.
func TestR32_TokenEndpointsOnASharedAddress(t *testing.T) {
	c := behindProxy(t, 30)
	refresh := func(client credentials) int {
		return c.through(tokenRequest(url.Values{
			"grant_type": {"refresh_token"}, "refresh_token": {"x"}, "client_id": {client.id}, "client_secret": {client.secret},
		}), "198.51.100.1")
	}
	ours, theirs := c.ours.clients[lyceum.V1], c.theirs.clients[lyceum.V1]
	for n := range 40 {
		c.through(request(http.MethodGet, "/v1/users", nil), "198.51.100.1")
		c.through(tokenRequest(url.Values{}), "198.51.100.1")
		status := refresh(credentials{id: ours.id, secret: "wrong"})
		if n == 39 && status != http.StatusTooManyRequests {
			t.Errorf("the last wrong secret is a %d", status)
		}
	}
	for n := range 30 {
		if status := refresh(ours); status != http.StatusBadRequest { // invalid_grant: the secret is valid
			t.Fatalf("the right secret is a %d at its request %d", status, n+1)
		}
	}
	if status := refresh(ours); status != http.StatusTooManyRequests {
		t.Errorf("an app beyond its limit is a %d", status)
	}
	if status := refresh(theirs); status != http.StatusBadRequest {
		t.Errorf("another school's app is a %d", status)
	}
	if status := c.through(request(http.MethodGet, "/v1/users", nil, "apiKey: "+c.ours.key), "198.51.100.1"); status != http.StatusOK {
		t.Errorf("the school's key is a %d", status)
	}
	for _, window := range c.options.Limiter.Windows() {
		if window.Used != 1 {
			t.Errorf("of school %d %d requests are counted", window.School, window.Used)
		}
	}
}

// TestR32_AProxyThatIsNotTrusted checks that an untrusted proxy is logged once.
func TestR32_AProxyThatIsNotTrusted(t *testing.T) {
	c := newCampus(t)
	for range 3 {
		r := request(http.MethodGet, "/v1/users", nil, "X-Forwarded-For: 192.0.2.1")
		r.RemoteAddr = "10.0.0.1:4000"
		c.do(r)
	}
	hints := 0
	for _, line := range strings.Split(c.log.String(), "\n") {
		if strings.Contains(line, "--trusted-proxies") {
			hints++
		}
	}
	if hints != 1 || strings.Contains(c.log.String(), "192.0.2.1") {
		t.Errorf("%d hints in %s", hints, c.log)
	}
}

// TestR37_FormsThroughAProxy checks that a proxy that passes on a different Host does not turn
// the pages' own forms into those of another site.
func TestR37_FormsThroughAProxy(t *testing.T) {
	c := newCampus(t)
	for origin, want := range map[string]int{
		authURL: http.StatusSeeOther, baseURL: http.StatusSeeOther,
		"https://evil.example": http.StatusForbidden, "http://people.example.com": http.StatusForbidden, "null": http.StatusForbidden,
		authURL + ":8443": http.StatusForbidden, "https://people.example.com.evil.example": http.StatusForbidden,
	} {
		form := url.Values{"email": {learnerEmail}, "password": {goodPassword}}
		r := request(http.MethodPost, c.ours.path("sign_in"), strings.NewReader(form.Encode()), "Content-Type: application/x-www-form-urlencoded", "Origin: "+origin)
		r.Host = "127.0.0.1:8080"
		if w := c.do(r); w.Code != want {
			t.Errorf("sign-in from %s is a %d, want %d", origin, w.Code, want)
		}
		r = request(http.MethodPost, "/admin/settings/api-keys", strings.NewReader("name=x"), "Content-Type: application/x-www-form-urlencoded", "Origin: "+origin)
		r.Host = "127.0.0.1:8080"
		if w := c.do(r); w.Code != want { // the console redirects to the sign-in
			t.Errorf("the console's form from %s is a %d, want %d", origin, w.Code, want)
		}
	}
}

// TestB11_CancelAfterSignIn checks that Cancel also leads back in a browser that sends no
// referer at the sign-in, but neither to where another request came from, nor to anywhere that
// a parameter names.
func TestB11_CancelAfterSignIn(t *testing.T) {
	c := newCampus(t)
	const app = "https://app.example.com/settings?tab=2"
	cancel := func(b *browser, path string) string {
		t.Helper()
		form := b.consent(t, path)
		form.Set("answer", "cancel")
		return b.post(c.ours.path("oauth_provider/authorize"), form).Header().Get("Location")
	}
	begin := func() *browser {
		b := c.browse()
		b.referer = app
		if at := b.get(c.ours.authorize(lyceum.V1)).Header().Get("Location"); !strings.HasPrefix(at, c.ours.path("sign_in")) {
			t.Fatalf("it begins at %q", at)
		}
		b.referer = ""
		b.signIn(t, c.ours, learnerEmail)
		return b
	}
	if to := cancel(begin(), c.ours.authorize(lyceum.V1)); to != app {
		t.Errorf("Cancel leads to %q", to)
	}
	other := c.ours.authorize(lyceum.V1, set("state", "another"))
	if to := cancel(begin(), other); to != "/account/apps?done=cancelled" {
		t.Errorf("Cancel of another request leads to %q", to)
	}
	b := c.browse()
	b.signIn(t, c.ours, learnerEmail)
	for _, name := range []string{"from", "referer", "return_to", "next", "cancel"} {
		if to := cancel(b, c.ours.authorize(lyceum.V1, set(name, "https://evil.example/"))); to != "/account/apps?done=cancelled" {
			t.Errorf("%s leads Cancel to %q", name, to)
		}
	}
}
