package console

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

// deliveryPage is the data of the page of a delivery.
type deliveryPage struct {
	events.Delivery

	Path, Back string
	Event      string
	About      string
	State      mark
	MessageID  string
	Body       string // empty in a record of another server
	Once       string
	CanSend    bool
	GivenUp    bool
	Tries      []try  // newest first
	Problem    string // why the last attempt got no response
}

// try is one attempt to deliver.
type try struct {
	lyceum.Attempt

	StatusText string // the status code with its text
	Class      string
}

func deliveryPath(hook lyceum.WebhookID, id lyceum.WebhookEventID) string {
	return fmt.Sprintf("%s/deliveries/%d", hookPath(hook), id)
}

// delivery finds the delivery in the path.
func (c *console) delivery(r *http.Request, v *visit) (events.Delivery, error) {
	hook, ok := parseID[lyceum.WebhookID](r.PathValue("id"))
	id, known := parseID[lyceum.WebhookEventID](r.PathValue("delivery"))
	if !ok || !known {
		return events.Delivery{}, errNoPage
	}
	d, err := c.Events.Show(r.Context(), v.by(), id)
	if err == nil && d.Webhook.ID != hook {
		err = errNoPage
	}
	return d, err
}

// showDelivery serves GET /admin/settings/webhooks/{id}/deliveries/{delivery}.
func (c *console) showDelivery(w http.ResponseWriter, r *http.Request, v *visit) error {
	d, err := c.delivery(r, v)
	if err != nil {
		return err
	}
	if d, r, err = c.awaited(r, v, d); err != nil {
		return err
	}
	row := rowOf(&d.WebhookEvent, d.Payload.Event)
	p := deliveryPage{
		Delivery: d, Path: row.Path, Back: hookPath(d.Webhook.ID), Event: row.Event, About: row.About, State: row.Mark,
		Once:    newForm(),
		CanSend: d.Payload.Event != "" && d.Webhook.Live && d.Webhook.State != lyceum.WebhookFailed,
		GivenUp: d.Number.Present && d.State == lyceum.DeliveryFailed &&
			d.ResponseStatus == lyceum.Some[int32](http.StatusGone) &&
			!slices.ContainsFunc(d.Attempts, func(a lyceum.Attempt) bool { return a.Status == d.ResponseStatus }),
	}
	if body := d.Body(); body != nil {
		p.MessageID, p.Body = events.MessageID(v.School.ID, d.ID), pretty(body)
	}
	for _, a := range slices.Backward(d.Attempts) {
		p.Tries = append(p.Tries, tryOf(a))
	}
	if len(p.Tries) > 0 {
		p.Problem = p.Tries[0].Problem.Value
	}
	return c.show(w, r, http.StatusOK, "delivery.gohtml", v, fmt.Sprintf("Delivery %d", d.ID), p)
}

// awaited waits for the attempt to deliver what was just sent. If there was one, it changes the
// notice of the page accordingly. The query parameter before is the number of attempts at the
// time of sending.
func (c *console) awaited(r *http.Request, v *visit, d events.Delivery) (events.Delivery, *http.Request, error) {
	query := r.URL.Query()
	back, sent := map[string]string{"tested": "came-back", "resent-one": "came-again"}[query.Get("done")]
	if !sent {
		return d, r, nil
	}
	before, _ := strconv.ParseInt(query.Get("before"), 10, 32) // an invalid number counts as 0
	ctx, cancel := context.WithTimeout(r.Context(), c.Patience)
	defer cancel()
	for int64(d.AttemptCount) <= before && d.State == lyceum.DeliveryPending {
		select {
		case <-ctx.Done():
			return d, r, nil
		case <-time.After(awaitPause):
		}
		var err error
		if d, err = c.Events.Show(r.Context(), v.by(), d.ID); err != nil {
			return d, r, err
		}
	}
	if int64(d.AttemptCount) <= before { // the form was submitted twice
		return d, r, nil
	}
	query.Set("done", back)
	shown := r.Clone(r.Context())
	shown.URL.RawQuery = query.Encode()
	return d, shown, nil
}

// awaitPause is how long awaited waits before it checks for an attempt again.
const awaitPause = 100 * time.Millisecond

// pretty indents JSON.
func pretty(body []byte) string {
	var out bytes.Buffer
	if err := json.Indent(&out, body, "", "  "); err != nil {
		return strings.ToValidUTF8(string(body), "\uFFFD")
	}
	return out.String()
}

func tryOf(a lyceum.Attempt) try {
	t := try{Attempt: a, StatusText: "No response", Class: "badge-bad"}
	if a.Status.Present {
		t.StatusText = strings.TrimSpace(strconv.Itoa(int(a.Status.Value)) + " " + http.StatusText(int(a.Status.Value)))
		if a.Status.Value >= 200 && a.Status.Value <= 299 {
			t.Class = "badge-on"
		}
	}
	return t
}

// resendDelivery serves POST /admin/settings/webhooks/{id}/deliveries/{delivery}/resend.
func (c *console) resendDelivery(w http.ResponseWriter, r *http.Request, v *visit) error {
	d, err := c.delivery(r, v)
	if err != nil {
		return err
	}
	deed, err := v.deed(r, "resend one", strconv.Itoa(int(d.ID)))
	if err != nil {
		return err
	}
	path := deliveryPath(d.Webhook.ID, d.ID)
	if _, err := c.Events.ResendOne(r.Context(), deed.By, d.ID); err != nil && !repeated(err) {
		return c.refuseHook(w, r, v, "Nothing was sent", path, err)
	}
	http.Redirect(w, r, fmt.Sprintf("%s?done=resent-one&before=%d", path, d.AttemptCount), http.StatusSeeOther)
	return nil
}
