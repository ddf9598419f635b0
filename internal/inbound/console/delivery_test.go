package console_test

import (
	"html"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/console"
)

// sellWithHook creates a webhook for sales only, and the given number of sales.
func (p *place) sellWithHook(sales int) (path string) {
	p.t.Helper()
	p.market()
	form := p.form(hooksPath+"/new", "url", receiver, "which", "some", "schedule", "contract")
	form["events"] = []string{"Sale.created"}
	want(p.t, p.send(p.owner, "POST", hooksPath, form), 200)
	for range sales {
		p.sell(1, 11)
	}
	return hookPath(1)
}

// TestR48_ADeliveryWhoseResponseIsNotKept checks that the page says that the response is not
// stored, and shows what is known.
func TestR48_ADeliveryWhoseResponseIsNotKept(t *testing.T) {
	p := open(t, site)
	p.sellWithHook(1)
	err := p.store.Write(t.Context(), lyceum.Stamp{School: 1, At: p.clock.Now(), Actor: "test"}, func(tx lyceum.Tx) error {
		_, err := tx.WebhookUsage.Save(tx, lyceum.WebhookUsage{
			Webhook: 1, Day: p.clock.Now().UTC().Truncate(24 * time.Hour), Kept: 8 << 20,
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	p.sell(1, 11)
	p.happen(taken)
	w := p.send(p.owner, "GET", deliveryPath(1, 2), nil)
	want(t, w, 200, "200", "128 ms", "The headers and body were not stored, because this webhook had more than 8 MB of them that day.")
	if strings.Contains(w.Body.String(), "Response body") {
		t.Error("the page shows an answer that is not kept")
	}
}

func TestFailedWebhook(t *testing.T) {
	for replay, after := range map[string]struct{ pending, failed int64 }{"yes": {3, 0}, "no": {0, 3}} {
		t.Run(replay, func(t *testing.T) {
			p := open(t, site)
			path := p.sellWithHook(1)
			want(t, p.send(p.owner, "POST", path+"/resume", p.form(path, "replay", "yes")), 409, "Nothing was changed", "This webhook has not failed", `href="`+path+`"`)
			p.fail(refusedBy)
			p.sell(1, 11)
			p.sell(1, 12)
			p.happen(refusedBy)
			p.session()
			w := p.send(p.owner, "GET", path, nil)
			want(t, w, 200, "Enable it again", "Missed: 3 events", `name="replay" value="yes" checked`, "Failed")
			for _, gone := range []string{"Send a test", "Send some again"} {
				if strings.Contains(w.Body.String(), gone) {
					t.Errorf("the page offers %q", gone)
				}
			}
			form := p.form(path, "replay", replay)
			want(t, p.send(p.owner, "POST", path+"/test", with(form, "event", "Sale.created")), 409, "Nothing was sent", "This webhook has failed, so nothing is sent to it.")
			want(t, p.send(p.owner, "POST", path+"/resend/keep", form), 409, "This webhook has failed")
			want(t, p.send(p.owner, "POST", deliveryPath(1, 1)+"/resend", form), 409, "This webhook has failed", `href="`+deliveryPath(1, 1)+`"`)
			want(t, p.send(p.owner, "POST", path+"/resume", with(form, "replay", "")), 422, `id="replay-error"`, "Missed events must be sent or not")
			given := p.send(p.owner, "GET", deliveryPath(1, 2), nil)
			want(t, given, 200, "It was cancelled because the webhook had failed, which is shown as 410.", "Enable it to send this again")

			for range 2 {
				leads(t, p.send(p.owner, "POST", path+"/resume", form), path+"?done=resumed")
			}
			want(t, p.send(p.owner, "GET", path+"?done=resumed", nil), 200, "The webhook is enabled again.", "Pending", "Send a test")
			if pending, failed := p.deliveries(1, "pending"), p.deliveries(1, "failed"); pending != after.pending || failed != after.failed {
				t.Errorf("%d are pending and %d failed, want %+v", pending, failed, after)
			}
		})
	}
}

// Nothing can be done to a record of another server, and the page says so.
func TestRecordOfAnotherServer(t *testing.T) {
	p := open(t, site)
	p.record(40)
	path := hookPath(40)
	w := p.send(p.owner, "GET", path, nil)
	want(t, w, 200, "This webhook was copied from another server.", "1 delivery", "Sale, delivery 900 of Sale 12", `href="`+hooksPath+`/new"`)
	for _, offer := range []string{"/edit", "/rotate", "/delete", "/test", "/resend"} {
		if strings.Contains(w.Body.String(), path+offer+`"`) {
			t.Errorf("the page offers %s", offer)
		}
	}
	want(t, p.send(p.owner, "GET", path+"/deliveries/900", nil), 200, "This delivery was copied from another server. Its content is unknown here.", "200")
	for _, page := range []string{"/edit", "/rotate", "/delete", "/resend"} {
		want(t, p.send(p.owner, "GET", path+page, nil), 409, "Webhook 40", "This webhook was copied from another server.", "To have events sent, add a webhook.", `href="`+path+`"`)
	}
	before := p.journal()
	form := url.Values{"url": {"https://x.example.com/"}, "which": {"all"}, "schedule": {"contract"}, "event": {"Sale.created"}, "replay": {"yes"}, "form": {"x"}}
	for _, deed := range []string{"/edit", "/test", "/resume", "/rotate", "/delete", "/resend/keep", "/deliveries/900/resend"} {
		want(t, p.send(p.owner, "POST", path+deed, form), 409, "This webhook was copied from another server.", `href="`+path)
	}
	if p.journal() != before {
		t.Error("something was done")
	}
}

func TestDeliveryLog(t *testing.T) {
	p := open(t, site)
	path := p.sellWithHook(0)
	want(t, p.send(p.owner, "GET", path, nil), 200, "Nothing has been sent yet.")
	p.sell(1, 11)
	p.happen(taken)
	for range 29 {
		p.sell(1, 11)
	}
	p.clock.Pass(time.Hour)
	p.happen(refusedBy)
	w := p.send(p.owner, "GET", path, nil)
	want(t, w, 200, "30 deliveries, page 1 of 2", "Sale.created, delivery 30", "of Sale 30", ">500<", "14 Mar 2026 10:31")
	if body := w.Body.String(); strings.Count(body, ", delivery ") != 25 || strings.Index(body, "delivery 30<") > strings.Index(body, "delivery 29<") {
		t.Error("it is not the 25 newest, newest first")
	}
	want(t, p.send(p.owner, "GET", path+"?page=2", nil), 200, "page 2 of 2", "delivery 1<", ">200<", `href="`+path+`"`)
	for state, says := range map[string]string{"delivered": "1 delivery", "pending": "29 deliveries, page 1 of 2", "failed": "No deliveries in this state."} {
		want(t, p.send(p.owner, "GET", path+"?state="+state, nil), 200, says, `?state=`+state+`#log" aria-current="true"`)
	}
	want(t, p.send(p.owner, "GET", path+"?state=pending", nil), 200, html.EscapeString(path+"?page=2&state=pending"))
	want(t, p.send(p.owner, "GET", path+"?state=pending&page=9", nil), 200, "There is no page 9: the last one is page 2.")
	want(t, p.send(p.owner, "GET", path+"?state=lost", nil), 422, "State must be pending, delivered or failed, or be left empty", `href="#state"`)
	want(t, p.send(p.owner, "GET", path+"?page=0", nil), 422, "Page must be a whole number", "30 deliveries")
	want(t, p.send(p.owner, "GET", path+"?state="+url.QueryEscape(hostile), nil), 422)
}

// The page after sending waits for the response, and says why there was none. For a webhook
// whose deliveries fail, the list says that it does not answer.
func TestResultOfATest(t *testing.T) {
	p := open(t, site, func(o *console.Options) { o.Patience = time.Minute })
	path, _ := p.hook()
	want(t, p.send(p.owner, "GET", hooksPath, nil), 200, "1 webhook", "Pending")
	w := p.send(p.owner, "POST", path+"/test", p.form(path, "event", "Sale.created"))
	at := w.Header().Get("Location")
	if w.Code != 303 || at != deliveryPath(1, 1)+"?done=tested" {
		t.Fatalf("%d to %s", w.Code, at)
	}
	page := make(chan *httptest.ResponseRecorder)
	go func() { page <- p.send(p.owner, "GET", at, nil) }() // blocks
	for p.happen(noResponse) == 0 {
		t.Fatal("there is nothing to send")
	}
	want(t, <-page, 200, "The test was sent. The response is below.", "What went wrong", "The receiver did not answer in time.")
	want(t, p.send(p.owner, "GET", path, nil), 200, `<span class="badge badge-bad">Not responding</span>`)
	want(t, p.send(p.owner, "GET", hooksPath, nil), 200, "Not responding")

	w = p.send(p.owner, "POST", deliveryPath(1, 1)+"/resend", p.form(deliveryPath(1, 1)))
	if at = w.Header().Get("Location"); at != deliveryPath(1, 1)+"?done=resent-one&before=1" {
		t.Fatalf("%d to %s", w.Code, at)
	}
	go func() { page <- p.send(p.owner, "GET", at, nil) }()
	p.happen(taken)
	w = <-page
	want(t, w, 200, "It was sent again. The response is below.", "200 OK", "Delivered")
	if strings.Contains(w.Body.String(), "What went wrong") {
		t.Error("something went wrong although it was delivered")
	}
	want(t, p.send(p.owner, "GET", path, nil), 200, "Verified")
}

func TestDeliveryPage(t *testing.T) {
	p := open(t, site)
	path := p.sellWithHook(1)
	p.write(func(tx lyceum.Tx) error {
		_, err := tx.Courses.Save(tx, lyceum.Course{ID: 1, Name: "<b>Pottery</b>", CreatedAt: p.clock.Now(), UpdatedAt: p.clock.Now()})
		return err
	})
	p.happen(noResponse)
	p.clock.Pass(time.Hour)
	p.happen(refusedBy)
	p.clock.Pass(3 * time.Hour)
	p.session()
	p.happen(taken)
	at := deliveryPath(1, 1)
	w := p.send(p.owner, "GET", at, nil)
	want(t, w, 200, "Sale.created of Sale 1", "hook_event_id", "evt_1_1", "Delivered", "Attempt 1", "No response", "The receiver did not answer in time.", "15,000 ms",
		"Attempt 2", "500 Internal Server Error", "1,713 ms", "Attempt 3", "200 OK", "128 ms", "14 Mar 2026, 13:26:53 UTC",
		"&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;", "&#34;name&#34;: &#34;\\u003cb\\u003ePottery\\u003c/b\\u003e&#34;", "\n  &#34;hook_event_id&#34;: 1,")
	body := w.Body.String()
	if strings.Contains(body, "<script>alert") || strings.Contains(body, "<b>Pottery") {
		t.Error("what came from elsewhere is markup")
	}
	if strings.Index(body, "Attempt 3") > strings.Index(body, "Attempt 2") {
		t.Error("the newest attempt is not the first")
	}
	again := p.form(at)
	for range 3 {
		leads(t, p.send(p.owner, "POST", at+"/resend", again), at+"?done=resent-one&before=3")
	}
	want(t, p.send(p.owner, "GET", at+"?done=resent-one&before=3", nil), 200, "The delivery is being sent again.", "Pending")
	if sent := p.happen(taken); sent != 1 {
		t.Errorf("%d were sent again, want 1", sent)
	}
	w = p.send(p.owner, "GET", at+"?done=resent-one&before=3", nil)
	if want(t, w, 200, "It was sent again. The response is below.", "Attempt 4"); strings.Contains(w.Body.String(), "The test") {
		t.Error("what was sent again is said to be a test")
	}
	leads(t, p.send(p.owner, "POST", at+"/resend", again), at+"?done=resent-one&before=4")
	if sent := p.happen(taken); sent != 0 {
		t.Errorf("a form that was sent before sends %d", sent)
	}
	// A delivery has only one URL: the one below its own webhook.
	other, _ := p.hook("url", "https://other.example.com/")
	want(t, p.send(p.owner, "GET", other+"/deliveries/1", nil), 404)
	want(t, p.send(p.owner, "POST", other+"/deliveries/1/resend", again), 404)
	want(t, p.send(p.owner, "GET", path, nil), 200, "Verified")
}

func TestTestIsSent(t *testing.T) {
	p := open(t, site)
	path, _ := p.hook("as_array", "on")
	leads(t, p.send(p.owner, "POST", path+"/test", p.form(path, "event", "AbandonedOrder.created")), deliveryPath(1, 1)+"?done=tested")
	want(t, p.send(p.owner, "GET", deliveryPath(1, 1)+"?done=tested", nil), 200, "The test is being sent.", "AbandonedOrder.created Test", "Pending", "[\n  {\n")
	want(t, p.send(p.owner, "POST", path+"/test", p.form(path, "event", "Sale.exploded")), 422, `id="event-error"`, "Event must be the name of an event")
	want(t, p.send(p.owner, "GET", path, nil), 200, "1 delivery", "Test")
}

func TestSendAgain(t *testing.T) {
	p := open(t, site)
	path := p.sellWithHook(2) // on 14 March
	p.happen(taken)
	p.clock.Pass(24 * time.Hour)
	p.session()
	p.sell(1, 11)
	p.happen(taken)
	for _, tc := range []struct {
		name, from, until, state string
		count                    string
		status                   int
		says                     string
	}{
		{"all", "", "", "", "Send 3 deliveries again?", 200, "Those in any state."},
		{"a day, both ends included", "2026-03-14", "2026-03-14", "", "Send 2 deliveries again?", 200, "from 2026-03-14, until 2026-03-14"},
		{"from the second day", "2026-03-15", "", "delivered", "Send 1 delivery again?", 200, "Those that are delivered, from 2026-03-15."},
		{"none failed", "", "", "failed", "Nothing to send.", 200, "Those that are failed."},
		{"no day", "14 March", "", "", "", 422, "From must be a day written like 2026-01-31"},
		{"the wrong way round", "2026-03-15", "2026-03-14", "", "", 422, "Until must not be before the day in From"},
		{"no state", "", "", "lost", "", 422, "State must be pending, delivered or failed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			form := p.form(path+"/resend", "from", tc.from, "until", tc.until, "state", tc.state)
			w := p.send(p.owner, "POST", path+"/resend", form)
			want(t, w, tc.status, tc.count, tc.says, `value="`+tc.from+`"`, `name="form" value="`+form.Get("form")+`"`)
			want(t, p.send(p.owner, "POST", path+"/resend", with(form, "edit", "1")), map[bool]int{true: 200, false: 422}[tc.status == 200], `name="from" type=`)
		})
	}
	if p.deliveries(1, "pending") != 0 {
		t.Fatal("the question alone has sent")
	}
	form := p.form(path+"/resend", "from", "2026-03-14", "until", "2026-03-14", "state", "delivered")
	for range 2 {
		leads(t, p.send(p.owner, "POST", path+"/resend/keep", form), path+"?done=resent")
	}
	want(t, p.send(p.owner, "GET", path+"?done=resent", nil), 200, "The deliveries are being sent again.")
	if pending := p.deliveries(1, "pending"); pending != 2 {
		t.Errorf("%d are pending, want 2", pending)
	}
	p.happen(taken)
	// With an invalid form name, the page asks for confirmation again.
	want(t, p.send(p.owner, "POST", path+"/resend/keep", with(form, "form", "")), 200, "Send 2 deliveries again?")
	want(t, p.send(p.owner, "POST", path+"/resend/keep", with(form, "from", "x")), 422, "From must be a day")
	if pending := p.deliveries(1, "pending"); pending != 0 {
		t.Errorf("%d are pending, want 0", pending)
	}
}

// The days of a form to send again are those of the school, as the form says.
func TestSendAgainInTheSchoolsZone(t *testing.T) {
	p := open(t, site)
	path := p.sellWithHook(2) // at 09:26 in UTC on 14 March, when it is the evening of the 13th in Honolulu
	p.happen(taken)
	p.write(func(tx lyceum.Tx) error {
		return tx.ChangeSchool(func(s *lyceum.School) { s.TimeZone = "Pacific/Honolulu" })
	})
	w := p.send(p.owner, "GET", path+"/resend", nil)
	want(t, w, 200, "Both days are included, in Pacific/Honolulu.")
	for day, count := range map[string]string{"2026-03-13": "Send 2 deliveries again?", "2026-03-14": "Nothing to send."} {
		form := p.form(path+"/resend", "from", day, "until", day, "state", "")
		want(t, p.send(p.owner, "POST", path+"/resend", form), 200, count)
	}
}

// F9: the owner of another school, which has its own webhooks and deliveries, cannot access
// those of this school.
func TestF9WebhookOfAnotherSchool(t *testing.T) {
	p := open(t, site)
	path := p.sellWithHook(2)
	p.happen(taken)
	foreign := p.signIn(p.addSchool("Southwind"), "owner@south.example.com", lyceum.Owner)
	form := url.Values{"url": {"https://south.example.com/"}, "which": {"all"}, "schedule": {"contract"}}
	want(t, p.send(foreign, "POST", hooksPath, form), 200, "Copy the secret now")
	w := p.send(foreign, "GET", path, nil)
	want(t, w, 200, "https://south.example.com/", "Nothing has been sent yet.")
	if strings.Contains(w.Body.String(), "hooks.example.com") {
		t.Error("the page shows another school's webhook")
	}
	want(t, p.send(foreign, "GET", deliveryPath(1, 1), nil), 404)
	want(t, p.send(foreign, "POST", deliveryPath(1, 1)+"/resend", url.Values{"form": {"x"}}), 404)
	leads(t, p.send(foreign, "POST", path+"/delete", url.Values{"form": {"x"}}), hooksPath+"?done=hook-deleted")
	want(t, p.send(p.owner, "GET", path, nil), 200, receiver, "2 deliveries")
	if first, second := p.secret(1, 0), p.secret(2, 0); first == second {
		t.Error("both schools have one secret")
	}
}
