package web_test

import (
	"net/http/httptest"
	"testing"

	"github.com/lyceum-school/lyceum/internal/inbound/web"
)

func TestWantsPage(t *testing.T) {
	for _, tc := range []struct {
		method, accept string
		want           bool
	}{
		{"GET", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8", true},
		{"HEAD", "text/html", true},
		{"GET", "TEXT/HTML;q=0.5", true},
		{"GET", "", false},
		{"GET", "*/*", false},
		{"GET", "text/*", false},
		{"GET", "application/json, text/plain, */*", false},
		{"GET", "application/json;q=0.9, text/html;q=0.8", false},
		{"GET", "application/json;q=0.1, text/html;q=0.8", true},
		{"GET", "text/html;q=0", false},
		{"GET", "text/html;q=x", true},
		{"GET", ";;;,text/html/x", false},
		{"POST", "text/html", false},
	} {
		r := httptest.NewRequest(tc.method, "/", nil)
		if tc.accept != "" {
			r.Header.Set("Accept", tc.accept)
		}
		if got := web.WantsPage(r); got != tc.want {
			t.Errorf("%s %q: %t", tc.method, tc.accept, got)
		}
	}
}
