package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// A bulk job shows who has what: preparing, starting and cancelling one requires read
// permission in addition to write permission.
func TestBulkJobsNeedToRead(t *testing.T) {
	s := newSite(t)
	for _, tc := range []struct {
		path, body string
		both       int // status with both permissions
	}{
		{"/lyceum/v1/bulk_jobs", `{"action":"add_tags","tags":["vip"],"user_ids":[999]}`, http.StatusCreated},
		{"/lyceum/v1/bulk_jobs/1/start", `{}`, http.StatusOK},
		{"/lyceum/v1/bulk_jobs/1/cancel", `{}`, http.StatusOK},
	} {
		for may, want := range map[lyceum.Permissions]string{
			lyceum.Write: "this API key does not have read permission (it has: write)",
			lyceum.Read:  "this API key does not have write permission (it has: read)",
		} {
			w := s.do(request(http.MethodPost, tc.path, strings.NewReader(tc.body), "apiKey: "+s.issue(t, s.ours, may), "Content-Type: application/json"))
			if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s with %s: %d %s", tc.path, may, w.Code, w.Body)
			}
		}
		w := s.do(request(http.MethodPost, tc.path, strings.NewReader(tc.body), "apiKey: "+s.issue(t, s.ours, lyceum.Read|lyceum.Write), "Content-Type: application/json"))
		if w.Code != tc.both {
			t.Errorf("%s with both: %d %s", tc.path, w.Code, w.Body)
		}
	}
}

// A list of users may be larger than other bodies.
func TestBulkJobOfManyUsers(t *testing.T) {
	s := newSite(t)
	key := "apiKey: " + s.issue(t, s.ours, lyceum.Read|lyceum.Write)
	for bytes, want := range map[int]int{100 << 10: http.StatusCreated, 1<<20 + 1: http.StatusRequestEntityTooLarge} {
		const begin, end = `{"action":"add_tags","tags":["vip"],"emails":["`, `@example.com"]}`
		body := begin + strings.Repeat("a", bytes-len(begin)-len(end)) + end
		w := s.do(request(http.MethodPost, "/lyceum/v1/bulk_jobs", strings.NewReader(body), key, "Content-Type: application/json"))
		if w.Code != want {
			t.Errorf("%d bytes: %d %s, want %d", bytes, w.Code, w.Body, want)
		}
	}
}
