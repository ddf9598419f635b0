package console_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/console"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// R58: a session that was stolen some time after the sign-in cannot create a key, an app or a
// webhook, change roles or erase anybody.
func TestR58StolenSession(t *testing.T) {
	p := open(t, site)
	var before state
	sent := 0
	p.every(func(method, path string) {
		if before.entries == 0 {
			before, p.stale = p.state(), true
			p.clock.Pass(access.FreshFor)
		}
		for pattern, methods := range console.Routes() {
			if addresses.Replace(pattern) != path || !strings.Contains(strings.Join(methods, " "), method) || !access.WantsFresh(method+" "+pattern) {
				continue
			}
			sent++
			w := p.send(p.owner, method, path, url.Values{"name": {"x"}, "permissions": {"read"}, "role": {"manager"}})
			if to := w.Header().Get("Location"); w.Code != 303 || !strings.HasPrefix(to, "/secure/1/identity/confirm?next=%2Fadmin%2F") {
				t.Errorf("%s %s: %d to %q", method, path, w.Code, to)
			}
		}
	})
	if sent < 20 {
		t.Errorf("only %d doors were tried", sent)
	}
	p.untouched(before)
	want(t, p.send(p.owner, "GET", keysPath, nil), 200)
	proof := access.Proof{Attempt: access.Attempt{School: 1, Password: password}, Session: p.owner}
	if err := p.accounts.Confirm(t.Context(), proof); err != nil {
		t.Fatal(err)
	}
	want(t, p.send(p.owner, "GET", keysPath+"/new", nil), 200)
}

// R58: a stolen session cannot create a link that sets another password, not even the one of its
// own account: whoever sets a password has then confirmed their identity.
func TestR58_PasswordLinkByAStolenSession(t *testing.T) {
	p := open(t, site)
	manager, _ := p.hire("manager@example.com", lyceum.ManagerRole)
	support, _ := p.hire("help@example.com", lyceum.SupportRole)
	p.stale = true
	p.clock.Pass(access.FreshFor)
	before := p.state()
	for session, email := range map[string]string{p.owner: "owner@example.com", manager: "learner@example.com", support: "learner@example.com"} {
		if got := next(t, p.send(session, "POST", people, url.Values{"email": {email}})); got != people+"?done=unconfirmed" {
			t.Errorf("%s: leads to %q", email, got)
		}
		want(t, p.send(session, "GET", people, nil), 200, "Find a person")
	}
	p.untouched(before)
	p.stale = false
	want(t, p.send(p.owner, "POST", people, p.form(people, "email", "owner@example.com")), 200, "A link to set a password")
}

// R59: if the school requires owners to have a second factor, an owner without one has to set
// it up before anything else.
func TestR59OwnersSecondFactor(t *testing.T) {
	p := open(t, site)
	want(t, p.send(p.owner, "POST", staffPath+"/second-factor", url.Values{"demanded": {"on"}}), 409, "Set up your own second factor first")
	p.write(func(tx lyceum.Tx) error {
		return tx.SecondFactors.Insert(tx, lyceum.SecondFactor{User: 1, Sealed: "x"})
	})
	leads(t, p.send(p.owner, "POST", staffPath+"/second-factor", url.Values{"demanded": {"on"}}), staffPath+"?done=changed")
	want(t, p.send(p.owner, "GET", "/admin/transactions", nil), 200)
	other, _ := p.hire("partner@example.com", lyceum.OwnerRole)
	leads(t, p.send(other, "GET", "/admin/transactions", nil), "/account/second-factor")
	manager, _ := p.hire("manager@example.com", lyceum.ManagerRole)
	want(t, p.send(manager, "GET", "/admin/transactions", nil), 200)
	want(t, p.send(manager, "POST", people+"/1/second-factor", nil), 403)
	want(t, p.send(p.owner, "GET", people+"/1", nil), 200, "Remove the second factor")
	for _, form := range []url.Values{{}, {"demanded": {"yes"}}} { // a switch is never turned off by accident
		want(t, p.send(p.owner, "POST", staffPath+"/second-factor", form), 422, "must be on or off")
	}
	leads(t, p.send(other, "GET", "/admin/transactions", nil), "/account/second-factor")
}

// The audit log has a second factor that was removed once, however often the button is pressed.
func TestRemovingASecondFactorTwice(t *testing.T) {
	p := open(t, site)
	_, id := p.hire("partner@example.com", lyceum.ManagerRole)
	p.write(func(tx lyceum.Tx) error {
		return tx.SecondFactors.Insert(tx, lyceum.SecondFactor{User: id, Sealed: "x"})
	})
	for range 2 {
		leads(t, p.send(p.owner, "POST", fmt.Sprintf("%s/%d/second-factor", people, id), nil), fmt.Sprintf("%s/%d?done=second-dropped", people, id))
	}
	entries, err := storetest.FindEntries(t.Context(), p.store, 1, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	removed := 0
	for i := range entries {
		if entries[i].Type == lyceum.SecondFactorRemoved {
			removed++
		}
	}
	if removed != 1 {
		t.Errorf("the audit log has %d removals of a second factor, want 1", removed)
	}
}
