package console

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// hooksPage is the data of the list of webhooks.
type hooksPage struct {
	Own     []hookRow
	Records []hookRow // of another server
}

// hookRow is one webhook in the list.
type hookRow struct {
	lyceum.Webhook

	Path   string
	State  mark
	Events string
}

// hookPage is the data of the page of a webhook.
type hookPage struct {
	Hook   lyceum.Webhook
	Path   string
	State  mark
	Names  []string // of the events; empty means all
	Groups []eventGroup
	Test   *form
	Resume *form
	Missed int64 // how many deliveries failed
	Log    hookLog
}

// hookLog is a page of the deliveries of a webhook.
type hookLog struct {
	Form   *form // the filter and the page
	States []stateLink
	State  string // that the log is filtered by
	Rows   []deliveryRow
	Total  int64
	Turn   turn
}

// stateLink links to the deliveries in one state.
type stateLink struct {
	Label, Address string
	Current        bool
}

// deliveryRow is one delivery in the log.
type deliveryRow struct {
	lyceum.WebhookEvent

	Event string
	About string // the object of the event
	Path  string
	Mark  mark
}

// logSize is how many deliveries are on a page.
const logSize = 25

// hookMarks are the badges of the states of webhooks.
var hookMarks = map[lyceum.WebhookState]mark{
	lyceum.WebhookPending:  {"", "Pending"},
	lyceum.WebhookVerified: {"badge-on", "Verified"},
	lyceum.WebhookFailed:   {"badge-bad", "Failed"},
}

// deliveryStates are the states of deliveries in the order of the filter.
var deliveryStates = []string{lyceum.DeliveryPending, lyceum.DeliveryDelivered, lyceum.DeliveryFailed}

var deliveryMarks = map[string]mark{
	lyceum.DeliveryPending:   {"", "Pending"},
	lyceum.DeliveryDelivered: {"badge-on", "Delivered"},
	lyceum.DeliveryFailed:    {"badge-bad", "Failed"},
}

func hookPath(id lyceum.WebhookID) string { return fmt.Sprintf("%s/%d", webhooksPath, id) }

func hookTitle(id lyceum.WebhookID) string { return fmt.Sprintf("Webhook %d", id) }

// namesOf returns the events that a webhook receives; nil means all.
func namesOf(hook *lyceum.Webhook) []string {
	if hook.EventTrigger == lyceum.AllEvents {
		return nil
	}
	return strings.Split(hook.EventTrigger, ",")
}

// listWebhooks serves GET /admin/settings/webhooks.
func (c *console) listWebhooks(w http.ResponseWriter, r *http.Request, v *visit) error {
	all, err := c.Events.Webhooks(r.Context(), v.by(), struct{}{})
	if err != nil {
		return err
	}
	var p hooksPage
	for _, hook := range all {
		state, err := c.stateOf(r, v, &hook)
		if err != nil {
			return err
		}
		row := hookRow{Webhook: hook, Path: hookPath(hook.ID), State: state, Events: "All"}
		if names := namesOf(&hook); names != nil {
			row.Events = fmt.Sprintf("%d of %d: %s", len(names), len(lyceum.EventNames()), strings.Join(names, ", "))
		}
		if hook.Live {
			p.Own = append(p.Own, row)
		} else {
			p.Records = append(p.Records, row)
		}
	}
	return c.show(w, r, http.StatusOK, "webhooks.gohtml", v, "Webhooks", p)
}

// showWebhook serves GET /admin/settings/webhooks/{id}.
func (c *console) showWebhook(w http.ResponseWriter, r *http.Request, v *visit) error {
	return c.showHook(w, r, v, func(*hookPage) error { return nil })
}

// showHook shows the page of the webhook in the path. The refuse function can put errors into
// one of its forms; an error that it returns is returned.
func (c *console) showHook(w http.ResponseWriter, r *http.Request, v *visit, refuse func(*hookPage) error) error {
	hook, err := c.hook(r, v)
	if err != nil {
		return err
	}
	state, err := c.stateOf(r, v, &hook)
	if err != nil {
		return err
	}
	p := hookPage{
		Hook: hook, Path: hookPath(hook.ID), State: state, Names: namesOf(&hook), Groups: eventGroups(namesOf(&hook)),
		Test: &form{
			Action: hookPath(hook.ID) + "/test", Once: newForm(), Values: map[string]string{"event": firstEvent(&hook)},
		},
		Resume: &form{Action: hookPath(hook.ID) + "/resume", Once: newForm(), Values: map[string]string{"replay": "yes"}},
	}
	if hook.Live && hook.State == lyceum.WebhookFailed {
		if p.Missed, err = c.countDeliveries(r, v, lyceum.WebhookEventFilter{
			Webhook: hook.ID, State: lyceum.Some(lyceum.DeliveryFailed),
		}); err != nil {
			return err
		}
	}
	if p.Log, err = c.log(r, v, hook.ID); err != nil {
		return err
	}
	if err := refuse(&p); err != nil {
		return err
	}
	status := http.StatusOK
	if len(p.Test.Order)+len(p.Resume.Order)+len(p.Log.Form.Order) > 0 {
		status = http.StatusUnprocessableEntity
	}
	return c.show(w, r, status, "webhook.gohtml", v, hookTitle(hook.ID), p)
}

// stateOf returns the badge of a webhook. A webhook whose pending deliveries have already
// failed is shown as not answering instead of as pending or verified.
func (c *console) stateOf(r *http.Request, v *visit, hook *lyceum.Webhook) (mark, error) {
	if !hook.Live || hook.State == lyceum.WebhookFailed {
		return hookMarks[hook.State], nil
	}
	waiting := lyceum.WebhookEventFilter{Webhook: hook.ID, State: lyceum.Some(lyceum.DeliveryPending)}
	listing, err := c.Events.Events(r.Context(), v.by(), waiting, lyceum.Page{Number: 1, Size: logSize})
	if err != nil {
		return mark{}, err
	}
	for i := range listing.Rows {
		if d := &listing.Rows[i]; d.AttemptCount > 0 && d.LastAttemptedAt.Present {
			return mark{"badge-bad", "Not responding"}, nil
		}
	}
	return hookMarks[hook.State], nil
}

// hook finds the webhook in the path.
func (c *console) hook(r *http.Request, v *visit) (lyceum.Webhook, error) {
	id, ok := parseID[lyceum.WebhookID](r.PathValue("id"))
	if !ok {
		return lyceum.Webhook{}, errNoPage
	}
	return c.Events.Webhook(r.Context(), v.by(), id)
}

// ownHook finds the webhook in the path, and rejects one that was copied from another server and
// is only a record.
func (c *console) ownHook(r *http.Request, v *visit) (lyceum.Webhook, error) {
	hook, err := c.hook(r, v)
	if err == nil && !hook.Live {
		err = &lyceum.Error{Kind: lyceum.Conflict, Code: "record_only"}
	}
	return hook, err
}

func (c *console) countDeliveries(r *http.Request, v *visit, f lyceum.WebhookEventFilter) (int64, error) {
	listing, err := c.Events.Events(r.Context(), v.by(), f, lyceum.Page{Number: 1, Size: 1})
	return listing.Total, err
}

// log returns the requested page of a webhook's deliveries. An invalid state gives no list.
func (c *console) log(r *http.Request, v *visit, hook lyceum.WebhookID) (hookLog, error) {
	l := hookLog{Form: newFilter(hookPath(hook))}
	l.Form.keep(r.URL.Query().Get, "state", "page")
	l.State = l.Form.Values["state"]
	l.States = append(l.States, stateLink{"All", l.Form.Action + "#log", l.State == ""})
	for _, state := range deliveryStates {
		l.States = append(l.States, stateLink{
			deliveryMarks[state].Text, l.Form.Action + "?state=" + state + "#log", l.State == state,
		})
	}
	in := &reading{form: l.Form, zone: v.zone}
	filter := lyceum.WebhookEventFilter{Webhook: hook, State: in.deliveryState()}
	page := lyceum.Page{Number: 1, Size: logSize}
	if number := id[int32](in, "page"); number.Present {
		page.Number = number.Value
	}
	if len(in.wrong) > 0 {
		l.Form.refuse(lyceum.InvalidFields(in.wrong...))
		if l.Form.Wrong["state"] != "" {
			return l, nil
		}
	}
	listing, err := c.Events.Deliveries(r.Context(), v.by(), filter, page)
	if err != nil {
		return l, err
	}
	l.Total, l.Turn = listing.Total, newTurn(l.Form, []string{"state"}, logSize, int64(page.Number), listing.Total)
	for i := range listing.Rows {
		l.Rows = append(l.Rows, rowOf(&listing.Rows[i].WebhookEvent, listing.Rows[i].Name))
	}
	return l, nil
}

func rowOf(d *lyceum.WebhookEvent, event lyceum.EventName) deliveryRow {
	row := deliveryRow{
		WebhookEvent: *d, Event: string(event), Path: deliveryPath(d.Webhook, d.ID), Mark: deliveryMarks[d.State],
	}
	if row.About = fmt.Sprintf("of %s %d", d.ObjectType, d.ObjectID); d.Number.Value < 0 {
		row.About = "Test"
	}
	if row.Event == "" { // a record of another server contains no more
		row.Event = d.ObjectType
	}
	return row
}

// deliveryState parses the state of deliveries; empty means all.
func (r *reading) deliveryState() lyceum.Opt[string] {
	state := r.form.Values["state"]
	if _, known := deliveryMarks[state]; known {
		return lyceum.Some(state)
	}
	if state != "" {
		r.refuse("state", "must be pending, delivered or failed, or be left empty")
	}
	return lyceum.None[string]()
}

// refuseHook shows why the state of a webhook does not allow something, with a link back to the
// webhook.
func (c *console) refuseHook(w http.ResponseWriter, r *http.Request, v *visit, title, path string, err error) error {
	e := lyceum.Public(err)
	sentence, known := hookRefusals[e.Code]
	if e.Kind != lyceum.Conflict || !known {
		return err
	}
	return c.show(
		w, r, http.StatusConflict, "webhook_refused.gohtml", v, title, refusedPage{sentence, path, "Back to the webhook"},
	)
}

// hookRefusals are the errors of rules/events, worded for the school's staff, by their code.
var hookRefusals = map[string]string{
	"record_only": "This webhook was copied from another server. Nothing is sent from here, so there is nothing to " +
		"change. To have events sent, add a webhook.",
	"event_not_stored":  "The event is no longer stored, so it cannot be sent again.",
	"webhook_failed":    "This webhook has failed, so nothing is sent to it. Enable it again first.",
	"not_failed":        "This webhook has not failed, or it is already enabled again.",
	"too_many_webhooks": "A school has at most 100 webhooks. Delete one first.",
	"no_secret_key": "This server has no secret key to sign with, so webhooks and their secrets cannot be created. " +
		"The person who runs the server can set one with --secret-key-file.",
}
