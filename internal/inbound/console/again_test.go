package console_test

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
)

// Going back and submitting the same form with other values makes another change; submitting
// the same values again does nothing, even in another process. The response to a form that
// shows a secret is a page, so its second submission is recognised by where it redirects.
func TestBackThenSomethingElse(t *testing.T) {
	p := open(t, site)
	p.bundled()
	hook, _ := p.hook()
	for _, tc := range []struct {
		name, page, path string
		first, second    url.Values
		again            string // where the first one redirects when it is submitted again
	}{
		{
			"app", appsPath + "/new", appsPath,
			url.Values{"name": {"A1"}, "redirect_url": {"https://a.example.com/"}, "version": {"1"}},
			url.Values{"name": {"B2"}, "redirect_url": {"https://b.example.com/"}, "version": {"1"}},
			appsPath + "/1?done=registered",
		},
		{
			"secret of an app", appsPath + "/1", appsPath + "/1/rotate",
			url.Values{"keep": {"1d"}},
			url.Values{"keep": {"0"}},
			appsPath + "/1?done=rotated",
		},
		{
			"key", keysPath + "/new", keysPath,
			url.Values{"name": {"A1"}, "permissions": {"read"}},
			url.Values{"name": {"B2"}, "permissions": {"read"}},
			keysPath + "?done=created",
		},
		{
			"invitation", staffPath, staffPath,
			url.Values{"email": {"a1@example.com"}, "role": {"support"}},
			url.Values{"email": {"b2@example.com"}, "role": {"support"}},
			staffPath + "?done=staff-linked",
		},
		{
			"link", people, people,
			url.Values{"email": {"learner@example.com"}},
			url.Values{"email": {"ada@example.com"}},
			people + "?done=linked",
		},
		{
			"access", people + "/11", accessPath(11),
			url.Values{"product_type": {"course"}, "product": {"1"}},
			url.Values{"product_type": {"course"}, "product": {"2"}},
			accessPath(11) + "?done=given",
		},
		{
			"webhook", hooksPath + "/new", hooksPath,
			url.Values{"url": {"https://a1.example.com/"}, "which": {"all"}, "schedule": {"contract"}},
			url.Values{"url": {"https://b2.example.com/"}, "which": {"all"}, "schedule": {"contract"}},
			hookPath(2) + "?done=hook-created",
		},
		{
			"test", hook, hook + "/test",
			url.Values{"event": {"Sale.created"}},
			url.Values{"event": {"User.created"}},
			deliveryPath(1, 1) + "?done=tested",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			name := p.form(tc.page).Get("form")
			if name == "" {
				t.Fatal("the form has no name")
			}
			tc.first.Set("form", name)
			tc.second.Set("form", name)
			deed := func(form url.Values) (entries int, to string) {
				t.Helper()
				before := p.journal()
				w := p.send(p.owner, "POST", tc.path, form)
				if w.Code != 200 && w.Code != 303 {
					t.Fatalf("status %d: %s", w.Code, plain(w.Body.String()))
				}
				return p.journal() - before, w.Header().Get("Location")
			}
			links := tc.name == "link" // links are not in the journal
			if n, _ := deed(tc.first); n == 0 && !links {
				t.Error("the form did nothing")
			}
			p.remake() // the pages of another process, or after a restart
			if n, to := deed(tc.first); n != 0 || to != tc.again {
				t.Errorf("sent again it made %d entries and leads to %q, want %q", n, to, tc.again)
			}
			if n, to := deed(tc.second); n == 0 && !links || to == tc.again && tc.name != "access" {
				t.Errorf("with something else it made %d entries and leads to %q", n, to)
			}
			if n, _ := deed(tc.second); n != 0 {
				t.Errorf("sent again with something else it made %d entries", n)
			}
		})
	}
}

// An owner registers an app, goes back, and registers another one in the same form.
func TestBackInABrowser(t *testing.T) {
	w, p := show(t)
	register := func(name string) { // by script: chromedp cannot click on a page from the back/forward cache
		w.do(webtest.Start(fmt.Sprintf(`document.getElementById("name").value = %q;
			document.getElementById("redirect_url").value = "https://app.example.com/%s";
			document.querySelector("main form").requestSubmit()`, name, name)))
		w.until("document.getElementById('client-secret') && document.readyState === 'complete'")
	}
	w.open(appsPath + "/new")
	register("a1")
	w.back(appsPath + "/new")
	register("b2")
	apps, err := p.apps.List(t.Context(), p.by())
	if err != nil || len(apps) != 2 {
		t.Errorf("the apps are %+v: %v", apps, err)
	}
}
