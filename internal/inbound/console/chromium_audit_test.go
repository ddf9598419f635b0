package console_test

import (
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
)

// The audit log and the failed requests are accessible, on a desktop and on a phone.
func TestAuditLogInABrowser(t *testing.T) {
	w, p := show(t)
	p.options.Failures.Add(1, lyceum.FailedRequest{
		RequestID: "KQ5JD5ZMFBO2OMFRU5RACHIDU4", Method: "GET", Path: "/v1/courses/7/lectures/{lecture_id}", Status: 400, Actor: "api_key:1",
	}, lyceum.Invalidf("lecture_id must be a whole number from 1 to 2147483647"))
	if err := p.options.Failures.Keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int64{webtest.Desktop, webtest.Phone} {
		webtest.Look(t, w.tab, width, 800, width == webtest.Phone)
		w.open(auditLog + "?kind=sign_ins")
		w.sound()
		w.open(auditLog + "?find=nobody")
		w.sound("422")
		w.open(requests)
		w.sound()
	}
}
