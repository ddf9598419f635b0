package server_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// A browser has one session. Signing in to another school, signing out, or setting a password by a
// link ends it, whoever is signed in: a copy of its cookie is of no use then.
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
		b.signIn(t, c.ours, ownerEmail)
		third := b.cookies["__Host-lyceum"]
		link := c.ours.path("set_password/" + c.link(t, c.ours))
		wantStatus(t, b.post(link, url.Values{"password": {"short"}}), http.StatusUnprocessableEntity)
		if _, err := c.accounts.Session(t.Context(), c.ours.id, third); err != nil {
			t.Errorf("a refused password ends the session: %v", err)
		}
		wantStatus(t, b.post(link, url.Values{"password": {goodPassword}}), http.StatusSeeOther)
		ended("set another person's password", c.ours, third)
	})
}
