package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// A preview shows what the act does not: it needs read permission besides that of
// the act, which works without.
func TestPreviewNeedsToRead(t *testing.T) {
	s := newSite(t)
	const path = "/lyceum/v1/product_collections/99/products/course/1"
	for _, tc := range []struct {
		query  string
		may    lyceum.Permissions
		status int
		says   string
	}{
		{"?preview=true", lyceum.Write, http.StatusForbidden, "this API key does not have read permission (it has: write)"},
		{"?preview=true", lyceum.Read, http.StatusForbidden, "this API key does not have write permission (it has: read)"},
		{"?preview=true", lyceum.Read | lyceum.Write, http.StatusNotFound, "there is no product collection 99"},
		{"?preview=false", lyceum.Write, http.StatusNotFound, "there is no product collection 99"},
		{"", lyceum.Write, http.StatusNotFound, "there is no product collection 99"},
	} {
		w := s.do(request(http.MethodDelete, path+tc.query, nil, "apiKey: "+s.issue(t, s.ours, tc.may)))
		if w.Code != tc.status || !strings.Contains(w.Body.String(), tc.says) {
			t.Errorf("%s with %s: %d %s, want %d %q", tc.query, tc.may, w.Code, w.Body, tc.status, tc.says)
		}
	}
}
