package server_test

import (
	"net/http"
	"strings"
	"testing"
)

// At addresses that belong to no operation, browsers get pages, and programs get what the
// contract specifies.
func TestFront(t *testing.T) {
	s := newSite(t)
	const browser = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	const page, json = "text/html; charset=utf-8", "application/json; charset=utf-8"
	for _, tc := range []struct {
		method, target, accept string
		status                 int
		kind, has              string
	}{
		{"GET", "/", browser, 200, page, `<a class="primary" href="/secure/sign_in">Sign in</a>`},
		{"GET", "/", "Accept: */*", 200, json, `"docs":"/docs"`},
		{"GET", "/", "Accept: application/json", 200, json, `"openapi":["/openapi/v1.yaml"`},
		{"GET", "/nowhere", browser, 404, page, "Page not found"},
		{"GET", "/nowhere", "Accept: */*", 404, json, noRoute},
		{"GET", "/nowhere/../x", browser, 404, page, "Page not found"},
		{"POST", "/nowhere", browser, 404, json, noRoute},
		{"POST", "/", browser, 404, json, noRoute},
		{"GET", "/v1/nowhere", browser, 404, json, noRoute}, // an address in the contract
		{"GET", "/favicon.ico", "Accept: image/*", 200, "image/x-icon", "\x89PNG"},
		{"GET", "/robots.txt", "Accept: */*", 200, "text/plain; charset=utf-8", "User-agent: *\nDisallow: /\n"},
		{"POST", "/robots.txt", "Accept: */*", 404, json, noRoute},
	} {
		w := s.do(request(tc.method, tc.target, nil, tc.accept, "apiKey: "+s.key))
		if w.Code != tc.status || w.Header().Get("Content-Type") != tc.kind || !strings.Contains(w.Body.String(), tc.has) {
			t.Errorf("%s %s with %s: %d %s %.200s", tc.method, tc.target, tc.accept, w.Code, w.Header().Get("Content-Type"), w.Body)
		}
		if strings.HasPrefix(tc.target, "/nowhere") && w.Header().Get("Vary") == "" {
			t.Errorf("%s: caches are not told that the answer varies", tc.target)
		}
	}
	for _, target := range []string{"/", "/nowhere"} {
		w := s.do(request(http.MethodHead, target, nil, browser))
		if w.Header().Get("X-Frame-Options") != "DENY" || w.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%s: the page has no protection: %v", target, w.Header())
		}
	}
}
