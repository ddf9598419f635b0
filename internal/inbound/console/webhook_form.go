package console

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

// hookForm is the data of the form of a new or existing webhook.
type hookForm struct {
	Form   *form
	Groups []eventGroup
	Back   string // the path that cancelling leads to
	New    bool
}

// hookSecret is the data of the only page that shows the secret of a webhook.
type hookSecret struct {
	Hook         lyceum.Webhook
	Path, Secret string
	New          bool // the webhook is new, not only its secret
}

// eventGroup is a group of events that webhooks can receive.
type eventGroup struct {
	Label  string
	Events []eventChoice
}

// eventChoice is one event, and when it is sent.
type eventChoice struct {
	Name   lyceum.EventName
	When   string
	Chosen bool
}

// ID returns the HTML id of the event's checkbox.
func (e *eventChoice) ID() string { return "event-" + strings.ReplaceAll(string(e.Name), ".", "-") }

// eventGroups returns all events, with the named ones chosen.
func eventGroups(chosen []string) []eventGroup {
	groups := []eventGroup{
		{"Users", []eventChoice{
			{Name: lyceum.UserCreatedEvent, When: "Somebody becomes a user of the school."},
			{Name: lyceum.UserUpdatedEvent, When: "A user’s name, email address or other detail changes."},
			{Name: lyceum.MarketingAllowedEvent, When: "Somebody agrees to marketing emails."},
			{Name: lyceum.MarketingRefusedEvent, When: "Somebody no longer agrees to marketing emails."},
			{Name: lyceum.UserTagCreatedEvent, When: "A user gets a tag."},
			{Name: lyceum.UserTagRemovedEvent, When: "A tag is removed from a user."},
		}},
		{"Sales and money", []eventChoice{
			{Name: lyceum.SaleCreatedEvent, When: "Something is bought, or obtained for free. A bundle is one sale."},
			{Name: lyceum.SubscriptionCanceledEvent, When: "A subscription or a payment plan ends."},
			{Name: lyceum.TransactionCreatedEvent, When: "Money is charged, at renewals too."},
			{Name: lyceum.TransactionRefundedEvent, When: "Money goes back, in full or in part."},
		}},
		{"Learning", []eventChoice{
			{Name: lyceum.EnrollmentCreatedEvent, When: "A learner is enrolled in a course."},
			{Name: lyceum.EnrollmentCompletedEvent, When: "A learner has completed all of a course."},
			{Name: lyceum.EnrollmentDisabledEvent, When: "A learner’s access to a course ends."},
			{Name: lyceum.AdmissionCreatedEvent, When: "A learner is admitted to coaching."},
			{Name: lyceum.AdmissionDisabledEvent, When: "A learner’s access to coaching ends."},
			{Name: lyceum.LectureProgressEvent, When: "A learner completes a lecture."},
			{Name: lyceum.QuizResponseEvent, When: "A learner answers a quiz."},
			{Name: lyceum.CommentCreatedEvent, When: "A learner writes under a lecture."},
		}},
		{"Orders", []eventChoice{
			{Name: lyceum.AbandonedOrderEvent, When: "An order was begun and not paid for."},
		}},
	}
	for _, group := range groups {
		for i := range group.Events {
			group.Events[i].Chosen = slices.Contains(chosen, string(group.Events[i].Name))
		}
	}
	return groups
}

// firstEvent returns the first event in the form that a webhook receives.
func firstEvent(hook *lyceum.Webhook) string {
	for _, group := range eventGroups(nil) {
		for i := range group.Events {
			if hook.Wants(group.Events[i].Name) {
				return string(group.Events[i].Name)
			}
		}
	}
	return ""
}

var hookFields = []string{"url", "which", "as_array", "schedule", "rate_limit"}

// readHook parses the submitted form of a webhook.
func readHook(r *http.Request, action, back string) (hookForm, events.WebhookForm) {
	f := &form{Action: action, Once: r.PostForm.Get("form"), Values: map[string]string{}}
	if !isForm(f.Once) {
		f.Once = newForm()
	}
	f.keep(r.PostForm.Get, hookFields...)
	names := r.PostForm["events"]
	p := hookForm{Form: f, Groups: eventGroups(names), Back: back}
	switch {
	case f.Values["which"] == "all":
		names = nil
	case len(names) == 0:
		names = []string{""} // to the rules, an empty list means all events
	}
	f.Values["events"] = namedEvents(names)
	return p, events.WebhookForm{
		URL: strings.TrimSpace(r.PostForm.Get("url")), Events: names, AsArray: f.Values["as_array"] != "",
		Schedule: lyceum.Schedule(f.Values["schedule"]), RateLimit: limitOf(f.Values["rate_limit"]),
	}
}

// limitOf parses the number of messages per minute; empty means no limit. An invalid number
// becomes one that the rules reject.
func limitOf(text string) int32 {
	if text = strings.TrimSpace(text); text == "" {
		return 0
	}
	limit, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return -1
	}
	return int32(limit)
}

// newWebhook serves GET /admin/settings/webhooks/new.
func (c *console) newWebhook(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := &form{
		Action: webhooksPath, Once: newForm(),
		Values: map[string]string{"which": "all", "schedule": string(lyceum.ContractSchedule)},
	}
	return c.show(w, r, http.StatusOK, "webhook_form.gohtml", v, "Add a webhook", hookForm{
		Form: f, Groups: eventGroups(nil), Back: webhooksPath, New: true,
	})
}

// createWebhook serves POST /admin/settings/webhooks.
func (c *console) createWebhook(w http.ResponseWriter, r *http.Request, v *visit) error {
	p, wanted := readHook(r, webhooksPath, webhooksPath)
	p.New = true
	by := v.once(p.Form.Once, append([]string{
		"webhook", wanted.URL, strconv.FormatBool(wanted.AsArray), string(wanted.Schedule),
		strconv.Itoa(int(wanted.RateLimit)),
	}, wanted.Events...)...)
	made, err := c.Events.Create(
		r.Context(), leaving(by, func(m events.WithSecret) lyceum.WebhookID { return m.ID }), wanted,
	)
	if before, ok := madeBefore[lyceum.WebhookID](err); ok {
		return done(w, r, hookPath(before), "hook-created")
	}
	if err != nil {
		return c.refuseHookForm(w, r, v, "Add a webhook", p, err)
	}
	return c.showHookSecret(w, r, v, "Your webhook", hookSecret{Hook: made.Webhook, New: true}, made.Secret)
}

// showHookSecret shows the only page that ever contains the secret of a webhook. It is the
// response to a POST and is not stored, so that no URL leads to it.
func (c *console) showHookSecret(
	w http.ResponseWriter, r *http.Request, v *visit, title string, p hookSecret, secret []byte,
) error {
	p.Path, p.Secret = hookPath(p.Hook.ID), events.SecretText(secret)
	return c.show(w, r, http.StatusOK, "webhook_secret.gohtml", v, title, p)
}

// formOf returns the form of a webhook with its current values.
func formOf(hook *lyceum.Webhook) *form {
	f := &form{Action: hookPath(hook.ID) + "/edit", Shown: hook.Shown(), Values: map[string]string{
		"url": hook.URL, "which": "all", "schedule": string(hook.Schedule), "events": namedEvents(namesOf(hook)),
	}}
	if hook.EventTrigger != lyceum.AllEvents {
		f.Values["which"] = "some"
	}
	if hook.RateLimit > 0 {
		f.Values["rate_limit"] = strconv.Itoa(int(hook.RateLimit))
	}
	if hook.AsArray {
		f.Values["as_array"] = "on"
	}
	return f
}

// namedEvents lists events for people; no names mean all events.
func namedEvents(names []string) string {
	if len(names) == 0 {
		return "all"
	}
	return strings.Join(slices.Sorted(slices.Values(names)), ", ")
}

// editWebhook serves GET /admin/settings/webhooks/{id}/edit.
func (c *console) editWebhook(w http.ResponseWriter, r *http.Request, v *visit) error {
	hook, err := c.ownHook(r, v)
	if err != nil {
		return c.refuseHook(w, r, v, hookTitle(hook.ID), hookPath(hook.ID), err)
	}
	return c.show(w, r, http.StatusOK, "webhook_form.gohtml", v, fmt.Sprintf("Change webhook %d", hook.ID), hookForm{
		Form: formOf(&hook), Groups: eventGroups(namesOf(&hook)), Back: hookPath(hook.ID),
	})
}

// changeWebhook serves POST /admin/settings/webhooks/{id}/edit.
func (c *console) changeWebhook(w http.ResponseWriter, r *http.Request, v *visit) error {
	id, ok := parseID[lyceum.WebhookID](r.PathValue("id"))
	if !ok {
		return errNoPage
	}
	p, wanted := readHook(r, hookPath(id)+"/edit", hookPath(id))
	p.Form.Shown = r.PostForm.Get("shown")
	_, wrong := c.Events.Update(
		r.Context(), v.seeing(p.Form), id, func(f *events.WebhookForm) { *f = wanted },
	)
	if wrong == nil {
		return done(w, r, hookPath(id), "changed")
	}
	hook, err := c.hook(r, v)
	if isNotFound(err) {
		return c.webhookGone(w, r, v, id, p)
	}
	if err != nil {
		return err
	}
	title := fmt.Sprintf("Change webhook %d", id)
	if p.Form.overtaken(wrong, formOf(&hook), "url", "events", "schedule", "rate_limit", "as_array") {
		return c.show(w, r, http.StatusUnprocessableEntity, "webhook_form.gohtml", v, title, p)
	}
	return c.refuseHookForm(w, r, v, title, p, wrong)
}

// webhookGone shows the submitted changes of a deleted webhook in the form for a new one.
func (c *console) webhookGone(w http.ResponseWriter, r *http.Request, v *visit, id lyceum.WebhookID, p hookForm) error {
	in := c.Names.In(r.Context(), v.School.ID)
	hook, err := in.Webhooks.Get(in, id)
	if err != nil {
		return err
	}
	deleted, err := deletedBy(in, v, "webhook", int32(id), hook.DeletedAt.Value)
	if err != nil {
		return err
	}
	p.New, p.Back, p.Form.Action, p.Form.Shown = true, webhooksPath, webhooksPath, ""
	p.Form.Refused = hookTitle(id) + deleted + "add it as a new webhook, or cancel."
	return c.show(w, r, http.StatusConflict, "webhook_form.gohtml", v, "Add a webhook", p)
}

// refuseHookForm shows the form of a webhook again with what is wrong.
func (c *console) refuseHookForm(
	w http.ResponseWriter, r *http.Request, v *visit, title string, p hookForm, err error,
) error {
	f, e := p.Form, lyceum.Public(err)
	switch {
	case e.Code == "webhook_exists":
		f.Order, f.Wrong = []string{"url"}, map[string]string{"url": sentence(e.Detail)}
	case e.Code == "no_secret_key":
		f.Refused = hookRefusals[e.Code]
	case f.refuse(err):
		if len(r.PostForm["events"]) == 0 && f.Wrong["events"] != "" {
			f.Wrong["events"] = "Choose all events, or at least one."
		}
	default:
		return c.refuseHook(w, r, v, "Nothing was changed", p.Back, err)
	}
	return c.show(w, r, http.StatusUnprocessableEntity, "webhook_form.gohtml", v, title, p)
}

// sentence turns the detail of an error into a sentence.
func sentence(detail string) string {
	first, size := utf8.DecodeRuneInString(detail)
	return string(unicode.ToUpper(first)) + detail[size:] + "."
}
