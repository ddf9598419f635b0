package apilyceum

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strings"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

func bindWebhook(in *wire.Input) lyceum.WebhookID { return lyceum.WebhookID(in.PathID("webhook_id")) }

func bindBare(in *wire.Input) lyceum.WebhookID {
	in.ReadNothing()
	return bindWebhook(in)
}

// ListWebhooks serves GET /lyceum/v1/webhooks.
func (f *Face) ListWebhooks(ctx context.Context, who wire.Principal, _ struct{}) (wire.JSON, error) {
	all, err := f.Events.Webhooks(ctx, who.Caller.School)
	list := gen.WebhookList{Webhooks: []gen.Webhook{}}
	for i := range all {
		if all[i].Live {
			list.Webhooks = append(list.Webhooks, webhookOf(&all[i]))
		}
	}
	return wire.JSON{Value: list}, err
}

// ShowWebhook serves GET /lyceum/v1/webhooks/{webhook_id}.
func (f *Face) ShowWebhook(ctx context.Context, who wire.Principal, id lyceum.WebhookID) (wire.JSON, error) {
	w, err := f.Events.Webhook(ctx, who.Caller.School, id)
	if err == nil && !w.Live {
		err = lyceum.Errorf(lyceum.NotFound, "there is no webhook %d that this server sends to", id)
	}
	return wire.JSON{Value: oneWebhook(w)}, err
}

var webhookNames = []string{"url", "events", "as_array", "schedule", "rate_limit"}

func bindNewWebhook(in *wire.Input) events.WebhookForm {
	in.ReadJSON(webhookNames...)
	form := events.WebhookForm{URL: in.RequiredText("url"), AsArray: in.Truth("as_array").Value, Schedule: lyceum.Schedule(in.Text("schedule").Value)}
	form.RateLimit = rateLimit(in).Value
	if in.Has("events") {
		form.Events = in.Texts("events")
	}
	return form
}

// rateLimit gives the limit that is asked for. The rules know its bounds.
func rateLimit(in *wire.Input) lyceum.Opt[int32] { return in.Int("rate_limit", 0, math.MaxInt32) }

// webhookChange is what updateWebhook is asked.
type webhookChange struct {
	id    lyceum.WebhookID
	apply func(*events.WebhookForm)
}

func bindWebhookChange(in *wire.Input) webhookChange {
	id := bindWebhook(in)
	in.ReadJSON(webhookNames...)
	url, schedule, asArray := in.Text("url"), in.Text("schedule"), in.Truth("as_array")
	limit := rateLimit(in)
	told, names := in.Has("events"), []string(nil)
	if told {
		names = in.Texts("events")
	}
	return webhookChange{id, func(form *events.WebhookForm) {
		if url.Present {
			form.URL = url.Value
		}
		if schedule.Present {
			form.Schedule = lyceum.Schedule(schedule.Value)
		}
		if asArray.Present {
			form.AsArray = asArray.Value
		}
		if limit.Present {
			form.RateLimit = limit.Value
		}
		if told {
			form.Events = names
		}
	}}
}

// UpdateWebhook serves PATCH /lyceum/v1/webhooks/{webhook_id}.
func (f *Face) UpdateWebhook(ctx context.Context, who wire.Principal, q webhookChange) (wire.JSON, error) {
	w, err := f.Events.Update(ctx, lyceum.By{School: who.Caller.School, Actor: who.Caller.Actor()}, q.id, q.apply)
	return wire.JSON{Value: oneWebhook(w)}, err
}

// DeleteWebhook serves DELETE /lyceum/v1/webhooks/{webhook_id}.
func (f *Face) DeleteWebhook(ctx context.Context, who wire.Principal, id lyceum.WebhookID) (wire.Nothing, error) {
	return wire.Nothing{}, f.Events.Delete(ctx, lyceum.By{School: who.Caller.School, Actor: who.Caller.Actor()}, id)
}

// test is what testWebhook is asked.
type test struct {
	webhook lyceum.WebhookID
	event   lyceum.Opt[string]
}

func bindTest(in *wire.Input) test {
	in.ReadJSON("event")
	return test{bindWebhook(in), in.Text("event")}
}

func (f *Face) test(ctx context.Context, by lyceum.By, q test) (events.Named, error) {
	return f.Events.Test(ctx, by, q.webhook, q.event)
}

// resume is what resumeWebhook is asked.
type resume struct {
	webhook lyceum.WebhookID
	replay  events.Replay
}

func bindResume(in *wire.Input) resume {
	in.ReadJSON("replay")
	q := resume{webhook: bindWebhook(in)}
	if in.Truth("replay") == lyceum.Some(false) {
		q.replay = events.WithoutReplay
	}
	return q
}

func (f *Face) resume(ctx context.Context, by lyceum.By, q resume) (lyceum.Webhook, error) {
	return f.Events.Resume(ctx, by, q.webhook, q.replay)
}

func bindResend(in *wire.Input) lyceum.ResendFilter {
	in.ReadJSON("after", "until", "state")
	return lyceum.ResendFilter{
		Webhook: bindWebhook(in), State: in.Choice("state", lyceum.DeliveryPending, lyceum.DeliveryDelivered, lyceum.DeliveryFailed),
		Created: lyceum.Period{After: in.Moment("after"), Until: in.Moment("until")},
	}
}

func resent(n int) any { return gen.Resent{Resent: int32(n)} }

// deliveriesAsked is what listDeliveries is asked.
type deliveriesAsked struct {
	filter lyceum.WebhookEventFilter
	page   lyceum.Page
}

func bindListDeliveries(in *wire.Input) deliveriesAsked {
	q := deliveriesAsked{filter: lyceum.WebhookEventFilter{Webhook: bindWebhook(in)}, page: bindPage(in)}
	if state := in.OneOf("state", lyceum.DeliveryPending, lyceum.DeliveryDelivered, lyceum.DeliveryFailed); state != nil {
		q.filter.State = lyceum.Some(*state)
	}
	return q
}

// ListDeliveries serves GET /lyceum/v1/webhooks/{webhook_id}/deliveries.
func (f *Face) ListDeliveries(ctx context.Context, who wire.Principal, q deliveriesAsked) (wire.JSON, error) {
	listing, err := f.Events.Deliveries(ctx, who.Caller.School, q.filter, q.page)
	list := gen.DeliveryList{Deliveries: []gen.Delivery{}, Meta: metaOf(q.page, listing.Total)}
	for i := range listing.Deliveries {
		list.Deliveries = append(list.Deliveries, deliveryOf(&listing.Deliveries[i].WebhookEvent, listing.Deliveries[i].Name))
	}
	return wire.JSON{Value: list}, err
}

// deliveryAsked is what showDelivery is asked.
type deliveryAsked struct {
	id    lyceum.WebhookEventID
	after int32 // number of an attempt
}

func bindShowDelivery(in *wire.Input) deliveryAsked {
	q := deliveryAsked{id: bindDelivery(in)}
	if after := in.Int32From("after", 0); after != nil {
		q.after = *after
	}
	return q
}

func bindDelivery(in *wire.Input) lyceum.WebhookEventID {
	return lyceum.WebhookEventID(in.PathID("delivery_id"))
}

func bindBareDelivery(in *wire.Input) lyceum.WebhookEventID {
	in.ReadNothing()
	return bindDelivery(in)
}

// ShowDelivery serves GET /lyceum/v1/deliveries/{delivery_id}.
func (f *Face) ShowDelivery(ctx context.Context, who wire.Principal, q deliveryAsked) (wire.JSON, error) {
	d, err := f.Events.ShowAfter(ctx, who.Caller.School, q.id, q.after)
	if err != nil {
		return wire.JSON{}, err
	}
	shown := struct {
		gen.Delivery

		RequestBody *string       `json:"request_body"`
		Attempts    []gen.Attempt `json:"attempts"`
	}{Delivery: deliveryOf(&d.WebhookEvent, d.Payload.Event), Attempts: []gen.Attempt{}}
	if d.Payload.Event != "" {
		body := string(f.Events.Envelope(&d.Payload, d.ID, d.Webhook.AsArray))
		shown.RequestBody = &body
	}
	next := q.after
	for _, a := range d.Attempts {
		next = a.Number
		shown.Attempts = append(shown.Attempts, gen.Attempt{
			Number: a.Number, At: wire.Moment(a.At), DurationMs: int32(a.Took.Milliseconds()), ResponseHTTPStatus: wire.Number(a.Status), Problem: wire.Optional(a.Problem),
			RequestHeaders: a.RequestHeader, ResponseHeaders: a.ResponseHeader, ResponseBody: a.ResponseBody, IsKept: !a.Unkept,
		})
	}
	return wire.JSON{Value: map[string]any{"delivery": shown, "more": d.More, "next": next}}, nil
}

func oneWebhook(w lyceum.Webhook) any { return gen.OneWebhook{Webhook: webhookOf(&w)} }

// withoutSecret is what is kept of an answer that told a secret, which is kept
// nowhere.
type withoutSecret struct {
	Webhook    gen.Webhook        `json:"webhook"`
	Generation int32              `json:"generation"`
	Key        lyceum.SecretKeyID `json:"key"`
}

// secretPost is post for what tells a secret.
func secretPost[P any](f *Face, id, path string, bind func(*wire.Input) P, run func(context.Context, lyceum.By, P) (events.WithSecret, error)) wire.Operation {
	op := onceOnly(id, path, http.StatusCreated, bind, run,
		func(w events.WithSecret) any {
			return gen.WebhookWithSecret{Webhook: webhookOf(&w.Webhook), Secret: f.SecretText(w.Secret)}
		},
		func(w events.WithSecret) any {
			return withoutSecret{webhookOf(&w.Webhook), w.SecretGeneration, w.SecretKey}
		},
		func(school lyceum.SchoolID, body []byte) ([]byte, error) {
			var kept withoutSecret
			if err := json.Unmarshal(body, &kept); err != nil {
				return nil, err
			}
			secret, err := f.Events.Secret(school, lyceum.WebhookID(kept.Webhook.ID), kept.Generation, kept.Key)
			if err != nil {
				return nil, err
			}
			return json.Marshal(gen.WebhookWithSecret{Webhook: kept.Webhook, Secret: f.SecretText(secret)})
		})
	op.Secret = true
	return op
}

func webhookOf(w *lyceum.Webhook) gen.Webhook {
	shown := gen.Webhook{
		ID: int32(w.ID), URL: w.URL, State: gen.WebhookState(w.State), Events: []string{}, AsArray: w.AsArray, Schedule: gen.WebhookSchedule(w.Schedule), RateLimit: w.RateLimit,
		EventsCount: w.EventsCount, CreatedAt: wire.Moment(w.CreatedAt), FailedAt: wire.OptMoment(w.FailedAt), OldSecretUntil: wire.OptMoment(w.OldSecretUntil),
	}
	if w.EventTrigger != lyceum.AllEvents {
		shown.Events = strings.Split(w.EventTrigger, ",")
	}
	return shown
}

func oneDelivery(d events.Named) any {
	return gen.OneDelivery{Delivery: deliveryOf(&d.WebhookEvent, d.Name)}
}

func deliveryOf(d *lyceum.WebhookEvent, name lyceum.EventName) gen.Delivery {
	shown := gen.Delivery{
		ID: int32(d.ID), WebhookID: int32(d.Webhook), State: gen.DeliveryState(d.State), ObjectID: d.ObjectID, AttemptCount: d.AttemptCount, CreatedAt: wire.Moment(d.CreatedAt),
		LastAttemptedAt: wire.OptMoment(d.LastAttemptedAt), NextAttemptAt: wire.OptMoment(d.NextAttemptAt), ResponseHTTPStatus: wire.Number(d.ResponseStatus),
	}
	if name != "" {
		shown.Event = text(lyceum.Some(name))
	}
	return shown
}
