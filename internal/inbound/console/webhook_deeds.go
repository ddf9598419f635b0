package console

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

// leaving makes a change store the id of what it creates, for madeBefore.
func leaving[T any, ID ~int32](by lyceum.By, id func(T) ID) lyceum.By {
	by.Once.Render = func(made any) ([]byte, error) {
		result, ok := made.(T)
		if !ok {
			return nil, fmt.Errorf("a change gave %T", made)
		}
		return strconv.AppendInt(nil, int64(id(result)), 10), nil
	}
	return by
}

// madeBefore returns the id that was stored when the form was submitted before.
func madeBefore[ID ~int32](err error) (id ID, ok bool) {
	e, ok := errors.AsType[*lyceum.RepeatError](err)
	if !ok {
		return 0, false
	}
	return parseID[ID](string(e.Body))
}

// hookDeed is a submitted change of one webhook.
type hookDeed struct {
	ID   lyceum.WebhookID
	Path string
	By   lyceum.By
}

// deed returns the webhook in the path, and the visitor as the caller of a change that happens
// once per form.
func (v *visit) deed(r *http.Request, what string, values ...string) (hookDeed, error) {
	id, ok := parseID[lyceum.WebhookID](r.PathValue("id"))
	if !ok {
		return hookDeed{}, errNoPage
	}
	form := r.PostForm.Get("form")
	if !isForm(form) {
		form = newForm()
	}
	return hookDeed{id, hookPath(id), v.once(form, append([]string{what, fmt.Sprint(id)}, values...)...)}, nil
}

// testWebhook serves POST /admin/settings/webhooks/{id}/test.
func (c *console) testWebhook(w http.ResponseWriter, r *http.Request, v *visit) error {
	event := r.PostForm.Get("event")
	d, err := v.deed(r, "test", event)
	if err != nil {
		return err
	}
	by := leaving(d.By, func(made events.Named) lyceum.WebhookEventID { return made.ID })
	made, err := c.Events.Test(r.Context(), by, d.ID, lyceum.Some(event))
	before, again := madeBefore[lyceum.WebhookEventID](err)
	switch {
	case again:
		return done(w, r, deliveryPath(d.ID, before), "tested")
	case lyceum.Public(err).Kind == lyceum.Invalid:
		return c.showHook(w, r, v, func(p *hookPage) error { return refused(p.Test, "event", event, err) })
	case err != nil:
		return c.refuseHook(w, r, v, "Nothing was sent", d.Path, err)
	}
	return done(w, r, deliveryPath(d.ID, made.ID), "tested")
}

// refused puts a submitted value, and what is wrong with it, into a form of a page.
func refused(f *form, field, value string, err error) error {
	f.keep(func(string) string { return value }, field)
	if !f.refuse(err) {
		return err
	}
	return nil
}

// replays are the choices for the deliveries that a failed webhook missed.
var replays = map[string]events.Replay{"yes": events.WithReplay, "no": events.WithoutReplay}

// resumeWebhook serves POST /admin/settings/webhooks/{id}/resume.
func (c *console) resumeWebhook(w http.ResponseWriter, r *http.Request, v *visit) error {
	choice := r.PostForm.Get("replay")
	d, err := v.deed(r, "resume", choice)
	if err != nil {
		return err
	}
	replay, ok := replays[choice]
	if !ok {
		err := lyceum.InvalidFields(lyceum.FieldError{Field: "replay", Message: "must be sent or not"})
		return c.showHook(w, r, v, func(p *hookPage) error { return refused(p.Resume, "replay", "", err) })
	}
	_, err = c.Events.Resume(r.Context(), d.By, d.ID, replay)
	switch {
	case err == nil || repeated(err):
		return done(w, r, d.Path, "resumed")
	case lyceum.Public(err).Kind == lyceum.Invalid:
		return c.showHook(w, r, v, func(p *hookPage) error { return refused(p.Resume, "replay", choice, err) })
	}
	return c.refuseHook(w, r, v, "Nothing was changed", d.Path, err)
}

// hookConfirmation is the data of the confirmation pages about a webhook.
type hookConfirmation struct {
	Hook       lyceum.Webhook
	Path, Once string
}

func (c *console) confirmHook(w http.ResponseWriter, r *http.Request, v *visit, page, title string) error {
	hook, err := c.ownHook(r, v)
	if err != nil {
		return c.refuseHook(w, r, v, hookTitle(hook.ID), hookPath(hook.ID), err)
	}
	return c.show(w, r, http.StatusOK, page, v, title, hookConfirmation{hook, hookPath(hook.ID), newForm()})
}

// confirmRotate serves GET /admin/settings/webhooks/{id}/rotate.
func (c *console) confirmRotate(w http.ResponseWriter, r *http.Request, v *visit) error {
	return c.confirmHook(w, r, v, "webhook_rotate.gohtml", "Rotate the secret?")
}

// rotateWebhook serves POST /admin/settings/webhooks/{id}/rotate.
func (c *console) rotateWebhook(w http.ResponseWriter, r *http.Request, v *visit) error {
	d, err := v.deed(r, "rotate")
	if err != nil {
		return err
	}
	made, err := c.Events.Rotate(r.Context(), d.By, d.ID)
	switch {
	case repeated(err):
		return done(w, r, d.Path, "hook-rotated")
	case err != nil:
		return c.refuseHook(w, r, v, "Nothing was changed", d.Path, err)
	}
	return c.showHookSecret(w, r, v, "The new secret", hookSecret{Hook: made.Webhook}, made.Secret)
}

// confirmDeleteWebhook serves GET /admin/settings/webhooks/{id}/delete.
func (c *console) confirmDeleteWebhook(w http.ResponseWriter, r *http.Request, v *visit) error {
	return c.confirmHook(w, r, v, "webhook_delete.gohtml", "Delete this webhook?")
}

// deleteWebhook serves POST /admin/settings/webhooks/{id}/delete.
func (c *console) deleteWebhook(w http.ResponseWriter, r *http.Request, v *visit) error {
	d, err := v.deed(r, "delete")
	if err != nil {
		return err
	}
	if err := c.Events.Delete(r.Context(), d.By, d.ID); err != nil && !repeated(err) {
		return c.refuseHook(w, r, v, "Nothing was deleted", d.Path, err)
	}
	return done(w, r, webhooksPath, "hook-deleted")
}

// resendPage is the data of the form for resending the deliveries of a period, and of the page
// that confirms it.
type resendPage struct {
	Form  *form
	Hook  lyceum.WebhookID
	Path  string // of the webhook
	Count int64
	State string // in a word; empty for any
}

var resendFields = []string{"from", "until", "state"}

// newResend serves GET /admin/settings/webhooks/{id}/resend.
func (c *console) newResend(w http.ResponseWriter, r *http.Request, v *visit) error {
	hook, err := c.ownHook(r, v)
	if err != nil {
		return c.refuseHook(w, r, v, hookTitle(hook.ID), hookPath(hook.ID), err)
	}
	p := resendPage{Hook: hook.ID, Path: hookPath(hook.ID)}
	p.Form = &form{Action: p.Path + "/resend", Once: newForm(), Values: map[string]string{"state": lyceum.DeliveryFailed}}
	return c.show(w, r, http.StatusOK, "resend.gohtml", v, "Send again", p)
}

// readResend parses which deliveries a form selects.
func readResend(r *http.Request, v *visit, hook lyceum.WebhookID) (resendPage, lyceum.ResendFilter, error) {
	p := resendPage{Hook: hook, Path: hookPath(hook)}
	p.Form = &form{Action: p.Path + "/resend", Once: r.PostForm.Get("form"), Values: map[string]string{}}
	if !isForm(p.Form.Once) {
		p.Form.Once = newForm()
	}
	p.Form.keep(trimmed(r), resendFields...)
	in := &reading{form: p.Form, zone: v.zone}
	filter := lyceum.ResendFilter{Webhook: hook, Created: in.days(), State: in.deliveryState()}
	p.State = strings.ToLower(deliveryMarks[filter.State.Value].Text)
	if len(in.wrong) > 0 {
		return p, filter, lyceum.InvalidFields(in.wrong...)
	}
	return p, filter, nil
}

// confirmResend serves POST /admin/settings/webhooks/{id}/resend: it asks for confirmation.
func (c *console) confirmResend(w http.ResponseWriter, r *http.Request, v *visit) error {
	hook, err := c.ownHook(r, v)
	if err != nil {
		return c.refuseHook(w, r, v, hookTitle(hook.ID), hookPath(hook.ID), err)
	}
	p, filter, err := readResend(r, v, hook.ID)
	switch {
	case err != nil && p.Form.refuse(err):
		return c.show(w, r, http.StatusUnprocessableEntity, "resend.gohtml", v, "Send again", p)
	case err != nil:
		return err
	case r.PostForm.Get("edit") != "":
		return c.show(w, r, http.StatusOK, "resend.gohtml", v, "Send again", p)
	}
	p.Count, err = c.countDeliveries(r, v, lyceum.WebhookEventFilter{
		Webhook: hook.ID, Created: filter.Created, State: filter.State,
	})
	if err != nil {
		return err
	}
	return c.show(w, r, http.StatusOK, "resend_question.gohtml", v, "Send these again?", p)
}

// keepResend serves POST /admin/settings/webhooks/{id}/resend/keep: it resends.
func (c *console) keepResend(w http.ResponseWriter, r *http.Request, v *visit) error {
	d, err := v.deed(r, "resend", r.PostForm.Get("from"), r.PostForm.Get("until"), r.PostForm.Get("state"))
	if err != nil {
		return err
	}
	p, filter, err := readResend(r, v, d.ID)
	if err != nil || p.Form.Once != r.PostForm.Get("form") {
		return c.confirmResend(w, r, v)
	}
	_, err = c.Events.Resend(r.Context(), d.By, filter)
	if err != nil && !repeated(err) {
		return c.refuseHook(w, r, v, "Nothing was sent", d.Path, err)
	}
	return done(w, r, d.Path, "resent")
}
