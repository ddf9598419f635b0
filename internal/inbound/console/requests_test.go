package console_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

const requests = "/admin/settings/requests"

// A failed request is found by its id, and the newest are listed.
func TestFailedRequests(t *testing.T) {
	p := open(t, site)
	want(t, p.send(p.owner, "GET", requests, nil), 200, "No failed requests")
	p.newKey(lyceum.By{School: 1, Actor: "user:1"}, "Books")
	for n := range 60 {
		p.options.Failures.Add(1, lyceum.FailedRequest{
			RequestID: fmt.Sprintf("id-%d", n), Method: "GET", Path: fmt.Sprintf("/v1/users/%d", n), Status: 404, Took: 1500, Actor: "api_key:1", User: lyceum.Some(lyceum.UserID(2)),
		}, lyceum.Errorf(lyceum.NotFound, "user %d <b>not</b> found", n))
	}
	if err := p.options.Failures.Keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, p.send(p.owner, "GET", requests, nil), 200, "60 failed requests", "page 1 of 2", "GET /v1/users/59 ID id-59 404 user 59 <b>not</b> found after 1.5ms Books API key for user 2", "14 Mar 2026, 09:26:53 UTC")
	want(t, p.send(p.owner, "GET", requests+"?page=2", nil), 200, "GET /v1/users/0")
	w := p.send(p.owner, "GET", requests+"?request_id=+id-7+", nil)
	want(t, w, 200, "1 failed request", "GET /v1/users/7 ID id-7")
	if strings.Contains(w.Body.String(), "/v1/users/8") {
		t.Error("another request is shown")
	}
	want(t, p.send(p.owner, "GET", requests+"?request_id=id-99", nil), 200, "No failed request has this ID")
	for query, sentence := range map[string]string{
		"request_id=a%20b": "Request ID must be 1 to 64 letters", "request_id=" + strings.Repeat("x", 10_000): "Request ID must be",
		"request_id=%00": "Request ID must be", "page=0": "Page must be a whole number", "page=x": "Page must be a whole number",
		"request_id=" + url.QueryEscape("%' OR 1=1"): "Request ID must be",
	} {
		want(t, p.send(p.owner, "GET", requests+"?"+query, nil), 422, sentence)
	}
}
