package server_test

import (
	"net/http"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// A browser has one session. Signing in to another school, or out, ends it, whichever school it
// is of: a copy of its cookie is of no use then.
func TestB7_SessionsOfTwoSchools(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		b := c.browse()
		ended := func(what string, p *campusSchool, secret string) {
			t.Helper()
			if _, err := c.accounts.Session(t.Context(), p.id, secret); lyceum.KindOf(err) != lyceum.NotFound {
				t.Errorf("%s: the session from before is good: %v", what, err)
			}
		}
		b.signIn(t, c.ours, learnerEmail)
		first := b.cookies["__Host-lyceum"]
		b.signIn(t, c.theirs, learnerEmail)
		ended("signed in to another school", c.ours, first)
		second := b.cookies["__Host-lyceum"]
		wantStatus(t, b.post(c.ours.path("sign_out"), nil), http.StatusSeeOther)
		ended("signed out", c.theirs, second)
	})
}
