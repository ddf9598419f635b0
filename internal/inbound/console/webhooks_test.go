package console_test

import (
	"html"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/console"
)

func TestWebhooksAreListed(t *testing.T) {
	p := open(t, site)
	want(t, p.send(p.owner, "GET", hooksPath, nil), 200, "No webhooks yet", "A webhook notifies a program of events", `aria-current="page">Webhooks`)
	p.hook()
	form := p.form(hooksPath+"/new", "url", "https://two.example.com/", "which", "some", "schedule", "standard", "as_array", "on")
	form["events"] = []string{"Sale.created", "Transaction.refunded"}
	want(t, p.send(p.owner, "POST", hooksPath, form), 200)
	p.record(40)
	w := p.send(p.owner, "GET", hooksPath, nil)
	want(t, w, 200, receiver, "2 of 19: Sale.created, Transaction.refunded", "Pending", "Copied from another server", "Nothing is sent to them from here.", "https://old.example.com/hook", "<dt>Deliveries</dt><dd>1</dd>", "<dt>Deliveries</dt><dd>0</dd>")
	if body := w.Body.String(); strings.Index(body, "old.example.com") < strings.Index(body, "Copied from another server") {
		t.Error("the record is not apart")
	}
	hook := p.hooks()[1]
	if hook.EventTrigger != "Sale.created,Transaction.refunded" || !hook.AsArray || hook.Schedule != lyceum.StandardSchedule {
		t.Errorf("the webhook is %+v", hook)
	}
	// The states, with the colour of each.
	p.market()
	p.clock.Pass(time.Minute)
	p.sell(1, 11)
	p.happen(taken)
	want(t, p.send(p.owner, "GET", hooksPath, nil), 200, `<span class="badge badge-on">Verified</span>`)
	p.sell(1, 11)
	p.fail(refusedBy)
	p.session()
	w = p.send(p.owner, "GET", hooksPath, nil)
	want(t, w, 200, `<span class="badge badge-bad">Failed since`, "Failed since "+p.hooks()[0].FailedAt.Value.Format("2 Jan 2006, 15:04")+" UTC")
	want(t, p.send(p.owner, "GET", "/admin", nil), 200, "1 webhook has failed, and nothing is sent to it.")
}

// The form offers every event exactly once.
func TestEveryEventCanBeChosen(t *testing.T) {
	offered := console.EventsOffered()
	known := lyceum.EventNames()
	slices.Sort(offered)
	slices.Sort(known)
	if !slices.Equal(offered, known) {
		t.Errorf("the form offers %v, want %v", offered, known)
	}
}

func TestWebhookFormRefuses(t *testing.T) {
	p := open(t, site)
	p.hook()
	for _, tc := range []struct {
		name, url, which, schedule string
		events                     []string
		field, says                string
	}{
		{"nothing", "", "", "", nil, "url", "Address must begin with https://"},
		{"http", "http://hooks.example.com/", "all", "standard", nil, "url", "Address must begin with https://"},
		{"markup", `"><script>alert(1)</script>`, "all", "contract", nil, "url", "Address must begin with https://"},
		{"none chosen", "https://b.example.com/", "some", "standard", nil, "events", "Choose all events, or at least one."},
		{"unknown event", "https://b.example.com/", "some", "standard", []string{"Sale.created", "Sale.exploded"}, "events", "Events must be names of events"},
		{"unknown schedule", "https://b.example.com/", "all", "hourly", nil, "schedule", "Schedule must be contract or standard"},
		{"an event of the same address", receiver, "some", "standard", []string{"Sale.created"}, "url", "Webhook 1 already sends Sale.created to this URL; two webhooks with the same URL must not share an event."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			form := p.form(hooksPath+"/new", "url", tc.url, "which", tc.which, "schedule", tc.schedule, "as_array", "on")
			form["events"] = tc.events
			w := p.send(p.owner, "POST", hooksPath, form)
			want(t, w, 422, "<title>Error: ", tc.says, `id="`+tc.field+`-error"`, `href="#`+tc.field+`"`, `name="form" value="`+form.Get("form")+`"`)
			body := html.UnescapeString(w.Body.String())
			for _, kept := range []string{`value="` + tc.url + `"`, `name="as_array" value="on" checked`} {
				if !strings.Contains(body, kept) {
					t.Errorf("what was typed is gone: no %s", kept)
				}
			}
			for _, event := range tc.events {
				if event != "Sale.exploded" && !strings.Contains(body, `value="`+event+`" checked`) {
					t.Errorf("%s is not ticked any more", event)
				}
			}
			if tc.which != "" && !strings.Contains(body, `name="which" value="`+tc.which+`" checked`) {
				t.Error("the choice of all or some has moved")
			}
		})
	}
	if n := len(p.hooks()); n != 1 {
		t.Errorf("there are %d webhooks, want 1", n)
	}
	p.events.Ring = nil
	w := p.send(p.owner, "POST", hooksPath, p.form(hooksPath+"/new", "url", "https://b.example.com/", "which", "all", "schedule", "contract"))
	want(t, w, 422, "This server has no secret key to sign with", `value="https://b.example.com/"`)
}

// TestHookRate checks that a limit can be set, shown, changed and removed, and that an invalid
// one is reported at its field.
func TestHookRate(t *testing.T) {
	p := open(t, site)
	form := p.form(hooksPath+"/new", "url", receiver, "which", "all", "schedule", "contract", "rate_limit", " 120 ")
	want(t, p.send(p.owner, "POST", hooksPath, form), 200, "Copy the secret now")
	path := hookPath(1)
	want(t, p.send(p.owner, "GET", path, nil), 200, "<dt>Messages per minute</dt><dd>At most 120</dd>")
	want(t, p.send(p.owner, "GET", path+"/edit", nil), 200, `name="rate_limit" type="text" value="120"`)
	usual := []string{"url", receiver, "which", "all", "schedule", "contract"}
	for _, wrong := range []string{"many", "-1", "60001", "1.5", "99999999999"} {
		w := p.send(p.owner, "POST", path+"/edit", p.form(path+"/edit", append(usual, "rate_limit", wrong)...))
		want(t, w, 422, "Messages per minute must be from 0 (no limit) to 60000", `id="rate_limit-error"`, `value="`+wrong+`"`)
	}
	if limit := p.hooks()[0].RateLimit; limit != 120 {
		t.Errorf("the limit is %d after refusals", limit)
	}
	for _, none := range []string{"", "0"} {
		p.send(p.owner, "POST", path+"/edit", p.form(path+"/edit", append(usual, "rate_limit", none)...))
		want(t, p.send(p.owner, "GET", path, nil), 200, "<dt>Messages per minute</dt><dd>No limit</dd>")
	}
}

// The secret is only shown in the response to the form.
func TestHookSecretIsShownOnce(t *testing.T) {
	p := open(t, site)
	form := p.form(hooksPath+"/new", "url", " "+receiver+" ", "which", "all", "schedule", "contract")
	w := p.send(p.owner, "POST", hooksPath, form)
	want(t, w, 200, "Copy the secret now", "shown only this once", "Standard Webhooks", "webhook-id", "webhook-timestamp", "webhook-signature", "HMAC-SHA256")
	first := signs.FindString(w.Body.String())
	if first != p.secret(1, 0) || w.Header().Get("Location") != "" || w.Header().Get("Set-Cookie") != "" {
		t.Errorf("the secret is %q, the headers are %v", first, w.Header())
	}
	path := hookPath(1)
	leads(t, p.send(p.owner, "POST", hooksPath, form), path+"?done=hook-created")
	want(t, p.send(p.owner, "GET", path+"?done=hook-created", nil), 200, "This webhook already exists")

	want(t, p.send(p.owner, "GET", path+"/rotate", nil), 200, "Rotate the secret of webhook 1?", "For one day messages are signed with both secrets")
	if p.hooks()[0].SecretGeneration != 0 {
		t.Fatal("the question alone has changed the secret")
	}
	rotate := p.form(path + "/rotate")
	w = p.send(p.owner, "POST", path+"/rotate", rotate)
	want(t, w, 200, "The new secret", "Until 15 Mar 2026, 09:26 UTC each message is also signed with the old secret")
	second := signs.FindString(w.Body.String())
	if second == first || second != p.secret(1, 1) {
		t.Errorf("the new secret is %q", second)
	}
	leads(t, p.send(p.owner, "POST", path+"/rotate", rotate), path+"?done=hook-rotated")
	if p.hooks()[0].SecretGeneration != 1 {
		t.Error("the form sent twice has changed the secret twice")
	}
	want(t, p.send(p.owner, "GET", path, nil), 200, "The old secret also signs until 15 Mar 2026, 09:26 UTC.")
	p.clock.Pass(24 * time.Hour)
	p.session()
	if body := p.send(p.owner, "GET", path, nil).Body.String(); strings.Contains(body, "The old secret also signs") {
		t.Error("the old secret still signs")
	}
	for _, at := range []string{hooksPath, path, path + "/edit", path + "?done=hook-rotated", path + "/rotate", "/admin"} {
		if body := p.send(p.owner, "GET", at, nil).Body.String(); strings.Contains(body, "whsec_") {
			t.Errorf("%s shows a secret", at)
		}
	}
	if strings.Contains(p.log.String(), "whsec_") {
		t.Error("the log has a secret")
	}
	p.events.Ring = nil
	want(t, p.send(p.owner, "POST", path+"/rotate", p.form(path+"/rotate")), 409, "Nothing was changed", "This server has no secret key", `href="`+path+`"`)
}

// A form creates one webhook, however often it is submitted.
func TestWebhookOnce(t *testing.T) {
	p := open(t, site)
	form := p.form(hooksPath+"/new", "url", receiver, "which", "all", "schedule", "contract")
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if w := p.send(p.owner, "POST", hooksPath, form); w.Code != 200 && w.Header().Get("Location") != hookPath(1)+"?done=hook-created" {
				t.Errorf("status %d: %s", w.Code, plain(w.Body.String()))
			}
		})
	}
	all.Wait()
	if n := len(p.hooks()); n != 1 {
		t.Errorf("there are %d webhooks, want 1", n)
	}
	path := hookPath(1)
	test := p.form(path, "event", "Sale.created")
	for range 3 {
		leads(t, p.send(p.owner, "POST", path+"/test", test), deliveryPath(1, 1)+"?done=tested")
	}
	if n := p.deliveries(1, ""); n != 1 {
		t.Errorf("there are %d tests, want 1", n)
	}
	if actors := p.actors(); actors["user:1"] < 2 {
		t.Errorf("the journal has %v, want entries of user:1", actors)
	}
}

func TestWebhookIsChanged(t *testing.T) {
	p := open(t, site)
	path, _ := p.hook()
	want(t, p.send(p.owner, "GET", path+"/edit", nil), 200, `value="`+html.EscapeString(receiver)+`"`, `name="which" value="all" checked`, `value="contract" checked`)
	form := url.Values{"url": {"https://b.example.com/"}, "which": {"some"}, "events": {"User.created"}, "schedule": {"standard"}, "as_array": {"on"}}
	leads(t, p.send(p.owner, "POST", path+"/edit", form), path+"?done=changed")
	if hook := p.hooks()[0]; hook.URL != "https://b.example.com/" || hook.EventTrigger != "User.created" || !hook.AsArray || hook.Schedule != lyceum.StandardSchedule || hook.SecretGeneration != 0 {
		t.Errorf("the webhook is %+v", hook)
	}
	want(t, p.send(p.owner, "GET", path+"?done=changed", nil), 200, "The changes are saved.", "Ten attempts within 76 hours", "An array containing the event", `<option value="User.created" selected>`)
	want(t, p.send(p.owner, "GET", path+"/edit", nil), 200, `name="which" value="some" checked`, `value="User.created" checked`, `value="standard" checked`, `name="as_array" value="on" checked`)
	form.Set("url", "ftp://x")
	want(t, p.send(p.owner, "POST", path+"/edit", form), 422, `id="url-error"`, `value="ftp://x"`, "Change webhook 1")
	other, _ := p.hook()
	form.Set("url", receiver)
	want(t, p.send(p.owner, "POST", path+"/edit", form), 422, "Webhook 2 already sends User.created to this URL")

	want(t, p.send(p.owner, "GET", other+"/delete", nil), 200, "Permanently delete webhook 2?")
	gone := p.form(other + "/delete")
	for range 2 {
		leads(t, p.send(p.owner, "POST", other+"/delete", gone), hooksPath+"?done=hook-deleted")
	}
	want(t, p.send(p.owner, "GET", hooksPath+"?done=hook-deleted", nil), 200, "The webhook is deleted.")
	want(t, p.send(p.owner, "GET", other, nil), 404)
	if n := len(p.hooks()); n != 1 {
		t.Errorf("there are %d webhooks, want 1", n)
	}
}
