package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum/internal/inbound/server"
)

func local(_ *site, o *server.Options) {
	o.Local = server.NewLocal("lyceum", "Sandbox.Example.", "192.0.2.7", "[2001:db8::7]")
}

// TestR45_ASandboxAnswersToItsOwnNames checks that a page whose own name resolves to this
// machine gets nothing, whatever it requests.
func TestR45_ASandboxAnswersToItsOwnNames(t *testing.T) {
	t.Parallel()
	s := newSite(t, local)
	get := func(host, target string) (int, string) {
		r := request(http.MethodGet, target, nil, "apiKey: "+s.key)
		r.Host = host
		w := s.do(r)
		return w.Code, w.Body.String()
	}
	for _, host := range []string{
		"localhost", "localhost:8080", "LOCALHOST:1", "localhost.", "app.localhost:3000", "127.0.0.1", "127.0.0.1:8080", "127.8.9.10:80",
		"[::1]", "[::1]:8080", "[::ffff:127.0.0.1]:8080", "lyceum", "lyceum:8080", "LYCEUM", "sandbox.example:443", "192.0.2.7:8080", "[2001:db8::7]:8080", "",
	} {
		if status, text := get(host, "/v1/transactions"); status != http.StatusOK {
			t.Errorf("%q: %d %s", host, status, text)
		}
	}
	for _, host := range []string{
		"evil.example", "evil.example:8080", "localhost.evil.example", "localhostx", "127.0.0.1.nip.io", "127.0.0.1.evil.example:8080", "2130706433", "0x7f.1",
		"127.1", "192.0.2.8", "[2001:db8::8]:8080", "[fe80::1]", "0.0.0.0:8080", "lyceum.evil.example", "notlyceum", "evil.example:localhost", "localhost@evil.example",
	} {
		for _, target := range []string{"/v1/transactions", "/lyceum/v1/webhooks", "/", "/docs", "/openapi/v1.yaml", "/readyz", "/nowhere", "//"} {
			status, text := get(host, target)
			if status != http.StatusMisdirectedRequest || !strings.Contains(text, "DNS rebinding") || !strings.Contains(text, "--allow-host ") {
				t.Errorf("%q %s: %d %s", host, target, status, text)
			}
		}
	}
	if _, text := get("evil.example:8080", "/"); !strings.Contains(text, "--allow-host evil.example\"}") {
		t.Errorf("the name is not told: %s", text)
	}
	if _, text := get("<evil>\"", "/"); strings.Contains(text, "evil") {
		t.Errorf("what is no name is repeated: %s", text)
	}
}

// TestR45_PagesOfThisMachineReadASandbox checks that pages of this machine may call a sandbox,
// from any port, and no others.
func TestR45_PagesOfThisMachineReadASandbox(t *testing.T) {
	t.Parallel()
	s := newSite(t, local)
	for _, tc := range []struct {
		origins []string
		want    bool
	}{
		{[]string{"http://localhost:3000"}, true},
		{[]string{"https://localhost"}, true},
		{[]string{"http://app.localhost:5173"}, true},
		{[]string{"http://127.0.0.1:8080"}, true},
		{[]string{"http://127.3.2.1"}, true},
		{[]string{"http://[::1]:4000"}, true},
		{nil, false},
		{[]string{"null"}, false},
		{[]string{""}, false},
		{[]string{"https://evil.example"}, false},
		{[]string{"http://localhost.evil.example:3000"}, false},
		{[]string{"http://evil.example/localhost"}, false},
		{[]string{"http://localhost@evil.example"}, false},
		{[]string{"http://lyceum:8080"}, false},
		{[]string{"http://192.0.2.7"}, false},
		{[]string{"http://0.0.0.0:8080"}, false},
		{[]string{"file://localhost"}, false},
		{[]string{"chrome-extension://localhost"}, false},
		{[]string{"http://localhost:3000", "https://evil.example"}, false},
		{[]string{"http://localhost:3000, https://evil.example"}, false},
	} {
		for _, call := range [][2]string{
			{http.MethodGet, "/v1/transactions"},
			{http.MethodOptions, "/v1/transactions"},
			{http.MethodPost, "/v1/current_user/oauth2/token"},
			{http.MethodGet, "/v1/nowhere"},
			{http.MethodGet, "/v2/products/courses"},
			{http.MethodGet, "/lyceum/v1/changes"},
		} {
			r := request(call[0], call[1], nil, "apiKey: "+s.key)
			r.Host = "localhost:8080"
			for _, origin := range tc.origins {
				r.Header.Add("Origin", origin)
			}
			if call[0] == http.MethodOptions {
				r.Header.Set("Access-Control-Request-Method", "GET")
			}
			header := s.do(r).Header()
			allowed := header["Access-Control-Allow-Origin"]
			if tc.want && !slices.Equal(allowed, tc.origins) || !tc.want && len(allowed) > 0 {
				t.Errorf("%v %v: allowed %q", tc.origins, call, allowed)
			}
			for name := range header {
				if !tc.want && strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%v %v: %s is told", tc.origins, call, name)
				}
			}
			if !slices.Contains(header["Vary"], "Origin") {
				t.Errorf("%v %v: a cache may keep it for other pages: Vary %q", tc.origins, call, header["Vary"])
			}
		}
	}
}

func TestIsHost(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"lyceum": true, "lyceum.example.com.": true, "my_service": true, "192.0.2.7": true, "2001:db8::7": true, "[2001:db8::7]": true,
		"": false, "lyceum:8080": false, "http://lyceum": false, "*.example.com": false, "a b": false, "bücher.example": false, "a/b": false,
	} {
		if got := server.IsHost(text); got != want {
			t.Errorf("IsHost(%q) is %v", text, got)
		}
	}
}
