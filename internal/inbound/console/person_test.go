package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/console"
	users "github.com/lyceum-school/lyceum/internal/rules/people"
)

// An owner finds a user, signs them out, disables and enables them.
func TestR38_SwitchingAPersonOff(t *testing.T) {
	p := open(t, site)
	learner := people + "/2"
	want(t, p.send(p.owner, "GET", people+"?q=+LEARNER@example.com+", nil), 200, "1 person", learner)
	want(t, p.send(p.owner, "GET", learner, nil), 200, "Can sign in", "learner@example.com", "1 browser, last seen", "Disable", "Sign out everywhere")

	out := func(what string) {
		t.Helper()
		if _, err := p.accounts.Session(t.Context(), 1, p.learner); lyceum.KindOf(err) != lyceum.NotFound {
			t.Errorf("%s: the session is good: %v", what, err)
		}
	}
	leads(t, p.send(p.owner, "POST", learner+"/sign-out", url.Values{}), learner+"?done=person-out")
	out("signed out")
	want(t, p.send(p.owner, "GET", learner+"?done=person-out", nil), 200, "The person is signed out everywhere.", "Nowhere")

	leads(t, p.send(p.owner, "POST", learner+"/disable", url.Values{}), learner+"?done=person-off")
	want(t, p.send(p.owner, "GET", learner+"?done=person-off", nil), 200, "Disabled", "Enable", "can no longer sign in")
	want(t, p.send(p.owner, "GET", people+"?q=learner", nil), 200, "1 person", learner, "Disabled")
	want(t, p.send(p.owner, "POST", people, p.form(people, "email", "learner@example.com")), 422, "belongs to a disabled person")
	leads(t, p.send(p.owner, "POST", learner+"/enable", url.Values{}), learner+"?done=person-on")
	out("on again")
	if n := p.actors()["user:1"]; n == 0 {
		t.Error("the journal does not say who did it")
	}

	before := p.state()
	want(t, p.send(p.owner, "POST", people+"/1/disable", url.Values{}), http.StatusConflict, "is the last owner who can sign in")
	for _, path := range []string{people + "/99", people + "/0", people + "/02", people + "/x"} {
		want(t, p.send(p.owner, "GET", path, nil), 404)
		want(t, p.send(p.owner, "POST", path+"/disable", url.Values{}), 404)
	}
	p.untouched(before)
}

// The page of a user shows what they bought, have access to and have done.
func TestPageOfAPerson(t *testing.T) {
	p := open(t, site)
	p.bundled()
	ada := people + "/11"
	want(t, p.send(p.owner, "GET", ada, nil), 200, "Nothing.", "No courses.", "Signed in nowhere", "Create a password link")
	want(t, p.send(p.owner, "GET", people+"/2", nil), 200, "Unknown browser at 192.0.2.0/24, last seen") // it sent no User-Agent
	var last lyceum.TransactionID
	for range 7 {
		p.clock.Pass(time.Minute)
		_, last = p.sell(3, 11)
	}
	free, _ := p.sell(5, 11)
	p.write(func(tx lyceum.Tx) error {
		_, err := tx.SetTags(11, []string{"vip", "cohort 2"})
		return err
	})
	w := p.send(p.owner, "GET", ada, nil)
	want(t, w, 200, "All 8 transactions with totals", transactions+"?user_id=11", "Glass, a taste", refundPath(last), "Glass Has access", "Glass0%", "cohort 2, vip")
	if got := salesOn(w); got != fmt.Sprintf("%d 7 6 5 4", free) {
		t.Errorf("the sales are %s", got)
	}
	if strings.Contains(w.Body.String(), refundPath(8)) {
		t.Error("what was free can be refunded")
	}
	form := url.Values{"email": {"ada@example.com"}, "form": {regexp.MustCompile(`(?s)id="link-panel".*?name="form" value="([^"]+)"`).FindStringSubmatch(w.Body.String())[1]}}
	want(t, p.send(p.owner, "POST", people, form), 200, "Copy the link now", "ada@example.com")
	leads(t, p.send(p.owner, "POST", ada+"/disable", url.Values{}), ada+"?done=person-off")
	if page := p.send(p.owner, "GET", ada, nil).Body.String(); strings.Contains(page, "Create a password link") {
		t.Error("who is disabled gets a link")
	}
}

// An owner erases a user after a confirmation; owners, and users who are still being charged,
// cannot be erased.
func TestErasingAPerson(t *testing.T) {
	p := open(t, site)
	p.market()
	p.sell(1, 11)
	p.sell(2, 12)
	ada := people + "/11"
	want(t, p.send(p.owner, "GET", ada, nil), 200, "Erase this person", `<p class="badges"><span class="badge ">No password yet</span>`)
	before := p.state()
	want(t, p.send(p.owner, "GET", ada+"/erase", nil), 200, "Permanently erase Ada Lovelace, ada@example.com?", "Pottery: access ends at once.", "If the person buys a subscription or a payment plan during that time", "/backups/lyceum.db, last day 14 Mar 2026, uploaded files in /backups/backup-files", "Keep the person")
	want(t, p.send(p.owner, "GET", people+"/12/erase", nil), 200, "This person cannot be erased yet: user 12 has an active subscription, sale 2; cancel it first.")
	want(t, p.send(p.owner, "POST", people+"/12/erase", url.Values{}), 422, "12 has an active subscription")
	want(t, p.send(p.owner, "GET", people+"/1/erase", nil), 200, "user 1 is an owner of the school; give them another role first.")
	want(t, p.send(p.owner, "POST", people+"/1/erase", url.Values{}), 422, "user 1 is an owner")
	if page := p.send(p.owner, "GET", people+"/1", nil).Body.String(); strings.Contains(page, "/erase") {
		t.Error("an owner can be erased")
	}
	want(t, p.send(p.owner, "POST", people+"/99/erase", url.Values{}), 404)
	p.untouched(before)
	dumped := open(t, site, func(o *console.Options) { o.Doors.Backups = nil })
	dumped.market()
	dumped.session()
	want(t, dumped.send(dumped.owner, "GET", ada+"/erase", nil), 200, "Earlier PostgreSQL dumps still contain the person")

	leads(t, p.send(p.owner, "POST", ada+"/erase", url.Values{}), ada+"?done=to-erase")
	due := p.clock.Now().Add(users.UndoTime)
	want(t, p.send(p.owner, "GET", ada+"?done=to-erase", nil), 200, "The person will be erased.", due.Format("2 Jan 2006, 15:04"), "Undo: keep this person")
	want(t, p.send(p.owner, "GET", people+"?q=ada", nil), 200, "To be erased")
	const kept = "buy a subscription or a payment plan before that, or begin to work for the school, they are kept"
	want(t, p.send(p.owner, "GET", ada, nil), 200, kept, `<span class="badge badge-bad">To be erased</span>`)
	leads(t, p.send(p.owner, "POST", ada+"/undo-erase", url.Values{}), ada+"?done=not-erased")
	leads(t, p.send(p.owner, "POST", ada+"/undo-erase", url.Values{}), ada+"?done=not-erased") // submitted twice
	if page := p.send(p.owner, "GET", ada, nil).Body.String(); strings.Contains(page, "Undo") || !strings.Contains(page, "Erase this person") {
		t.Error("it is not undone")
	}
	leads(t, p.send(p.owner, "POST", ada+"/erase", url.Values{}), ada+"?done=to-erase")
	p.clock.Pass(users.UndoTime)
	if err := p.options.People.EraseDue(t.Context(), 1, p.options.Doors); err != nil {
		t.Fatal(err)
	}
	const erased = "This person was erased. Their sales and receipts are kept, with the address erased-11@invalid."
	want(t, p.send(p.owner, "POST", ada+"/undo-erase", url.Values{}), 404, erased) // too late
	want(t, p.send(p.owner, "GET", "/admin/sales/1", nil), 200, `href="`+ada+`"`)
	want(t, p.send(p.owner, "GET", ada, nil), 404, erased)
	want(t, p.send(p.owner, "GET", ada+"/access", nil), 404, erased)
	want(t, p.send(p.owner, "POST", ada+"/erase", url.Values{}), 404, erased)
	want(t, p.send(p.owner, "GET", people+"/99", nil), 404, "Page not found")
	want(t, p.send(p.owner, "GET", people+"?q=ada", nil), 200, "Nobody matches")
}
