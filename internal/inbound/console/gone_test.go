package console_test

import (
	"net/url"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// What was typed to change something that somebody else deleted meanwhile becomes the form
// of a new one, and the page says who deleted it and when.
func TestChangeOfWhatIsDeleted(t *testing.T) {
	p := open(t, site)
	manager, _ := p.hire("manager@example.com", lyceum.ManagerRole)
	p.register("Ledger", "https://app.example.com/cb", "2")
	hook, _ := p.hook()
	for _, tc := range []struct {
		page, created string
		form          url.Values
		kept          []string
	}{
		{
			appsPath + "/1", appsPath,
			url.Values{"name": {"Books"}, "redirect_url": {"https://new.example.com/cb"}, "require_pkce": {"on"}},
			[]string{"This app was deleted on", `value="Books"`, `value="https://new.example.com/cb"`, `value="2" checked`, `name="require_pkce" value="on" checked`},
		},
		{
			hook + "/edit", hooksPath,
			url.Values{"url": {"https://b.example.com/"}, "which": {"some"}, "events": {"Sale.created"}, "schedule": {"standard"}},
			[]string{"Webhook 1 was deleted on", `value="https://b.example.com/"`, `value="Sale.created" checked`, `value="standard" checked`},
		},
	} {
		tc.form.Set("shown", fingerprint(t, p.send(p.owner, "GET", tc.page, nil)))
		p.send(manager, "POST", map[string]string{appsPath: appsPath + "/1", hooksPath: hook}[tc.created]+"/delete", url.Values{"form": {"abc"}})
		before := p.journal()
		said := append(tc.kept, " by manager@example.com, so nothing was saved. What you typed is below:", `action="`+tc.created+`"`)
		w := p.send(p.owner, "POST", tc.page, tc.form)
		want(t, w, 409, said...)
		want(t, p.send(manager, "POST", tc.page, tc.form), 409, " by you, so nothing was saved.")
		if p.journal() != before {
			t.Error("something was saved")
		}
		tc.form.Set("version", "2")
		tc.form.Set("form", once.FindStringSubmatch(w.Body.String())[1])
		want(t, p.send(p.owner, "POST", tc.created, tc.form), 200, "2")
		if p.journal() == before {
			t.Error("the new one was not made")
		}
	}
	want(t, p.send(p.owner, "POST", appsPath+"/9", url.Values{}), 404)
	want(t, p.send(p.owner, "POST", hooksPath+"/9/edit", url.Values{}), 404)
}
