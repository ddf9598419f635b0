package console_test

import (
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum/internal/inbound/console"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// next returns the page that a redirect to the sign-in or confirmation leads to afterwards.
func next(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	to, err := url.Parse(w.Header().Get("Location"))
	if err != nil || w.Code != 303 || to.Host != "" || to.Path != "/secure/sign_in" && to.Path != "/secure/1/identity/confirm" {
		t.Fatalf("status %d to %q: %v", w.Code, w.Header().Get("Location"), err)
	}
	return to.Query().Get("next")
}

// A form that was submitted without a session leads back to its page, even if the page has a
// query, or is one of several with the form.
func TestFormWithoutASession(t *testing.T) {
	p := open(t, site)
	at := site.AuthURL
	for _, tc := range []struct{ form, from, next string }{
		{keysPath, at + keysPath + "/new", keysPath + "/new?done=signed-out"},
		{keysPath, at + keysPath, keysPath + "/new?done=signed-out"}, // the form was rejected before
		{keysPath, "", keysPath + "/new?done=signed-out"},
		{keysPath + "/1/revoke", at + keysPath, keysPath + "/1/revoke?done=signed-out"}, // the confirmation was shown inside the list
		{appsPath + "/1", at + appsPath + "/1?done=changed", appsPath + "/1?done=signed-out"},
		{appsPath + "/1/rotate", at + appsPath + "/1", appsPath + "/1?done=signed-out"},
		{hooksPath + "/1/test", at + hooksPath + "/1?page=3", hooksPath + "/1?done=signed-out&page=3"},
		{hooksPath + "/1/test", at + hooksPath + "/1/test", hooksPath + "/1?done=signed-out"},
		{staffPath + "/2", at + staffPath, staffPath + "?done=signed-out"},
		{people, at + people + "/11", people + "/11?done=signed-out"},
		{people, at + people + "?q=ada", people + "?done=signed-out&q=ada"},
		{people + "/11/access", at + people + "/11", people + "/11?done=signed-out"},
		{people + "/11/access", at + people + "/11/access", people + "/11?done=signed-out"},
		{"/admin/settings/emails/receipt", at + "/admin/settings/emails/receipt", "/admin/settings/emails/receipt?done=signed-out"},
		{"/admin/settings/emails/secrets/1/delete", "", "/admin/settings/emails/secrets/1/delete?done=signed-out"},
		{"/admin/transactions/1/refund/keep", at + "/admin/transactions/1/refund", "/admin/transactions/1/refund?done=signed-out"},
		{"/admin/attention/1/dismiss", at + "/admin/attention?page=2", "/admin/attention?done=signed-out&page=2"},
		{"/admin/sales/1/charging_stopped", at + "/admin/sales_to_stop", "/admin/sales_to_stop?done=signed-out"},
		{"/admin/comments/1/approve", at + people + "/11", people + "/11?done=signed-out"},
		{"/admin/comments/1/approve", "https://evil.example.com/x", "/admin/comments?done=signed-out"},
		{"/admin/comments/1/approve", "https://evil.example.com//evil.example.com/admin", "/admin/comments?done=signed-out"},
		{"/admin/comments/1/approve", "//evil.example.com/admin/..//evil.example.com", "/admin/comments?done=signed-out"},
		{"/admin/comments/1/approve", "%", "/admin/comments?done=signed-out"},
		{"/admin/nowhere/1", "", "/admin?done=signed-out"},
	} {
		if got := next(t, p.send("", "POST", tc.form, url.Values{}, "Referer", tc.from)); got != tc.next {
			t.Errorf("%s from %q leads to %q, want %q", tc.form, tc.from, got, tc.next)
		}
	}
}

// Each form leads back to a page that contains it, and that says that nothing was done.
func TestEveryLateFormComesBack(t *testing.T) {
	p := open(t, site)
	var without []string
	p.every(func(method, path string) {
		if method != "POST" {
			return
		}
		back := next(t, p.send("", "POST", path, url.Values{}))
		page := p.send(p.owner, "GET", back, nil).Body.String()
		if !strings.Contains(page, "Nothing has been done yet: you had to sign in first. Please try again.") {
			t.Errorf("%s leads to %s, which does not say that nothing was done", path, back)
		}
		if !strings.Contains(page, `action="`+path+`"`) {
			without = append(without, path)
		}
	})
	slices.Sort(without)
	if !slices.Equal(without, notThere) {
		t.Errorf("no page has the forms %q", without)
	}
}

// notThere are the forms for what is not possible in this state: nobody has commented, the sale
// was a single payment, the app is enabled.
var notThere = []string{
	"/admin/attention/1/dismiss", "/admin/bulk/1/cancel", "/admin/bulk/1/start", "/admin/comments/1/approve",
	"/admin/comments/1/deny", "/admin/comments/1/remove", people + "/1/access/course/1/end", people + "/1/enable",
	people + "/1/erase", people + "/1/second-factor", people + "/1/undo-erase", "/admin/sales/1/cancel",
	"/admin/sales/1/charging_stopped", "/admin/settings/emails/secrets/1/delete", appsPath + "/1/enable",
	hooksPath + "/1/resend/keep", hooksPath + "/1/resume",
}

// R58: what a user submits long after the sign-in is not dropped silently.
func TestR58LateFormSaysSo(t *testing.T) {
	p := open(t, site)
	want(t, p.send(p.owner, "POST", keysPath, p.form(keysPath+"/new", "name", "Nightly", "permissions", "read")), 200)
	confirmPage := keysPath + "/1/revoke"
	p.stale = true
	p.clock.Pass(access.FreshFor)
	want(t, p.send(p.owner, "GET", keysPath, nil), 200, "Nightly")
	if got := next(t, p.send(p.owner, "GET", confirmPage, nil)); got != confirmPage {
		t.Errorf("the question leads to %q", got)
	}
	back := next(t, p.send(p.owner, "POST", confirmPage, url.Values{}, "Referer", site.AuthURL+keysPath))
	p.stale = false
	want(t, p.send(p.owner, "GET", back, nil), 200, "Nothing has been done yet: you had to confirm that it is you first.", "Revoke Nightly")
}

// R58: pages that are mostly read do not ask users to confirm their identity, and pages with
// forms do so before anything is typed.
func TestR58PagesThatConfirmIdentity(t *testing.T) {
	for path, methods := range console.Routes() {
		for _, method := range methods {
			if method == "POST" && access.WantsFresh("POST "+path) && strings.Contains(strings.Join(methods, " "), "GET") {
				reads := map[string]bool{appsPath: true, keysPath: true, hooksPath: true, people: true}[path]
				if access.WantsFresh("GET "+path) == reads {
					t.Errorf("GET %s asks who it is: %t", path, reads)
				}
			}
		}
	}
}
