package console_test

import (
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

var shown = regexp.MustCompile(`name="shown" value="([^"]+)"`)

// fingerprint returns the fingerprint in the form of a page.
func fingerprint(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	found := shown.FindStringSubmatch(w.Body.String())
	if found == nil {
		t.Fatalf("status %d, and the form has no fingerprint: %s", w.Code, plain(w.Body.String()))
	}
	return found[1]
}

// Two users have the same form open. The second one does not undo what the first one saved:
// they are told the current values, keep what they typed, and can save it again.
func TestTwoPeopleChangeTheSame(t *testing.T) {
	p := open(t, site)
	p.register("Ledger", "https://app.example.com/cb", "1")
	hook, _ := p.hook()
	manager, _ := p.hire("manager@example.com", lyceum.ManagerRole)
	receipts := "/admin/settings/receipts"
	for _, tc := range []struct {
		page, done    string
		first, second url.Values
		now           []string // what the second user is told
		kept          string   // what they typed
	}{
		{
			appsPath + "/1", appsPath + "/1",
			url.Values{"name": {"Ledger"}, "redirect_url": {"https://new.example.com/cb"}, "require_pkce": {"on"}},
			url.Values{"name": {"Books"}, "redirect_url": {"https://app.example.com/cb"}},
			[]string{"Name: Ledger", "Redirect URL: https://new.example.com/cb", "Require PKCE: on"},
			`value="Books"`,
		},
		{
			hook + "/edit", hook,
			url.Values{"url": {receiver}, "which": {"some"}, "events": {"User.created", "Sale.created"}, "schedule": {"standard"}, "rate_limit": {"60"}, "as_array": {"on"}},
			url.Values{"url": {"https://b.example.com/"}, "which": {"all"}, "schedule": {"contract"}},
			[]string{"Address: " + receiver, "Events: Sale.created, User.created", "Schedule: ten attempts", "Messages per minute: 60", "Send the body as an array: on"},
			`value="https://b.example.com/"`,
		},
		{
			"/admin/settings/emails/receipt", "/admin/settings/emails/receipt",
			url.Values{"do": {"save"}, "subject": {"Your receipt"}, "body": {"Thank you!\r\nNorthwind"}},
			url.Values{"do": {"save"}, "subject": {"Receipt"}, "body": {"Thanks.\r\n"}},
			[]string{"Subject: Your receipt", "Thank you!\nNorthwind"},
			"Thanks.",
		},
		{
			receipts, receipts,
			url.Values{"name": {"Northwind Ltd"}, "address": {"1 High St\r\nLondon"}, "tax_number": {""}, "receipt_prefix": {"2026-"}},
			url.Values{"name": {"Northwind"}, "address": {""}, "tax_number": {"GB1"}, "receipt_prefix": {""}},
			[]string{"Name: Northwind Ltd", "1 High St\nLondon", "Tax number: empty", "Prefix: 2026-"},
			`value="GB1"`,
		},
		{
			schoolPath, schoolPath,
			schoolSettings("name", "Northwind Crafts", "on_refund", "keep"),
			schoolSettings("name", "Northwind Arts", "grace_days", "20"),
			[]string{"Name: Northwind Crafts", "When a sale is fully refunded: Access stays", "Days of grace: 15"},
			`value="Northwind Arts"`,
		},
		{
			"/admin/settings/page-snippet", "/admin/settings/page-snippet",
			url.Values{"do": {"save"}, "body": {"<p>Help desk</p>"}},
			url.Values{"do": {"save"}, "body": {"<p>Chat</p>"}},
			[]string{"Text: <p>Help desk</p>"},
			"&lt;p&gt;Chat&lt;/p&gt;",
		},
	} {
		t.Run(tc.page, func(t *testing.T) {
			for who, form := range map[string]url.Values{p.owner: tc.first, manager: tc.second} {
				form.Set("shown", fingerprint(t, p.send(who, "GET", tc.page, nil)))
			}
			for range 2 { // a form that is submitted twice finds its own change
				leads(t, p.send(p.owner, "POST", tc.page, tc.first), tc.done+"?done=changed")
			}
			before := p.journal()
			w := p.send(manager, "POST", tc.page, tc.second)
			want(t, w, 422, append(slices.Clone(tc.now), "Nothing was saved, because this was changed after you opened the page.", tc.kept)...)
			if p.journal() != before {
				t.Error("something was saved")
			}
			refused := with(tc.second, "shown", fingerprint(t, w))
			if refused.Get("shown") == tc.second.Get("shown") || strings.Contains(w.Body.String(), "needs correction") {
				t.Error("the form says what it said before")
			}
			leads(t, p.send(manager, "POST", tc.page, refused), tc.done+"?done=changed")
			want(t, p.send(p.owner, "GET", tc.page, nil), 200, tc.kept)
			leads(t, p.send(p.owner, "POST", tc.page, with(tc.first, "shown", "")), tc.done+"?done=changed")
		})
	}
}

// A form that is rejected, or only previewed, keeps the fingerprint it was opened with.
func TestShownStays(t *testing.T) {
	p := open(t, site)
	p.register("Ledger", "https://app.example.com/cb", "1")
	p.hook()
	for page, form := range map[string]url.Values{
		appsPath + "/1":                  {"name": {""}},
		hookPath(1) + "/edit":            {"url": {"ftp://x"}, "which": {"all"}, "schedule": {"contract"}},
		"/admin/settings/emails/receipt": {"subject": {"x"}, "body": {"x"}, "do": {"preview"}},
		"/admin/settings/page-snippet":   {"body": {"x"}, "do": {"preview"}},
		"/admin/settings/receipts":       {"name": {strings.Repeat("x", 1000)}},
		schoolPath:                       schoolSettings("grace_days", "61"),
	} {
		opened := fingerprint(t, p.send(p.owner, "GET", page, nil))
		if got := fingerprint(t, p.send(p.owner, "POST", page, with(form, "shown", "older"))); got != "older" || opened == "older" {
			t.Errorf("%s has the fingerprint %q", page, got)
		}
	}
}
