package console_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// An owner finds a person, signs them out, switches them off and on again.
func TestR38_SwitchingAPersonOff(t *testing.T) {
	p := open(t, site)
	learner := people + "/2"
	leads(t, p.ask(p.owner, "POST", people+"/find", url.Values{"email": {" LEARNER@example.com "}}), learner)
	want(t, p.ask(p.owner, "GET", learner, nil), 200, "Can sign in", "learner@example.com", "1 browser, last seen", "Disable", "Sign out everywhere")

	out := func(what string) {
		t.Helper()
		if _, err := p.accounts.Session(t.Context(), 1, p.learner); lyceum.KindOf(err) != lyceum.NotFound {
			t.Errorf("%s: the session is good: %v", what, err)
		}
	}
	leads(t, p.ask(p.owner, "POST", learner+"/sign-out", url.Values{}), learner+"?done=person-out")
	out("signed out")
	want(t, p.ask(p.owner, "GET", learner+"?done=person-out", nil), 200, "The person is signed out everywhere.", "Nowhere")

	leads(t, p.ask(p.owner, "POST", learner+"/disable", url.Values{}), learner+"?done=person-off")
	want(t, p.ask(p.owner, "GET", learner+"?done=person-off", nil), 200, "Disabled", "Enable", "can no longer sign in")
	leads(t, p.ask(p.owner, "POST", people+"/find", url.Values{"email": {"learner@example.com"}}), learner)
	want(t, p.ask(p.owner, "POST", people, p.form(people, "email", "learner@example.com")), 422, "belongs to a disabled person")
	leads(t, p.ask(p.owner, "POST", learner+"/enable", url.Values{}), learner+"?done=person-on")
	out("on again")
	if n := p.actors()["user:1"]; n == 0 {
		t.Error("the journal does not say who did it")
	}

	before := p.state()
	want(t, p.ask(p.owner, "POST", people+"/1/disable", url.Values{}), http.StatusConflict, "is the last owner who can sign in")
	want(t, p.ask(p.owner, "POST", people+"/find", url.Values{"email": {"nobody@example.com"}}), 422, "Email address belongs to nobody in this school")
	for _, path := range []string{people + "/99", people + "/0", people + "/02", people + "/x"} {
		want(t, p.ask(p.owner, "GET", path, nil), 404)
		want(t, p.ask(p.owner, "POST", path+"/disable", url.Values{}), 404)
	}
	p.untouched(before)
}
