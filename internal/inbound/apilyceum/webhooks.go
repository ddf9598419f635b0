package apilyceum

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

func (f *Face) webhooks() []wire.Operation {
	const all, each = "/lyceum/v1/webhooks", "/lyceum/v1/webhooks/{webhook_id}"
	return []wire.Operation{
		one("listWebhooks", wire.Get, all, wire.Anything, f.Events.Webhooks, "webhooks", webhooks),
		secret(f, "createWebhook", all, bindNewWebhook, f.Events.Create),
		one("showWebhook", wire.Get, each, bindWebhook, f.Events.LiveWebhook, "webhook", webhook),
		one("updateWebhook", wire.Patch, each, bindWebhookChange, f.updateWebhook, "webhook", webhook),
		wire.None("deleteWebhook", wire.Delete, each, bindWebhook, f.Events.Delete),
		secret(f, "rotateWebhookSecret", each+"/secret", wire.NoBody(bindWebhook), f.Events.Rotate),
		one("testWebhook", wire.Create, each+"/test", bindTest, f.testWebhook, "delivery", namedDelivery),
		one("resumeWebhook", wire.Run, each+"/resume", bindResume, f.resumeWebhook, "webhook", webhook),
		one("resendDeliveries", wire.Run, each+"/resend", bindResend, f.Events.Resend, "resent", resent),
	}
}

func bindWebhook(in *wire.Input) lyceum.WebhookID {
	return wire.PathID[lyceum.WebhookID](in, "webhook_id")
}

// webhooks renders the webhooks that this server delivers to.
func webhooks(all []lyceum.Webhook) []gen.Webhook {
	list := []gen.Webhook{}
	for i := range all {
		if all[i].Live {
			list = append(list, webhook(all[i]))
		}
	}
	return list
}

// webhookChange holds the parameters of updateWebhook, and the options of createWebhook.
type webhookChange struct {
	id        lyceum.WebhookID
	url       lyceum.Opt[string]
	events    []string // nil if the request does not name them
	asArray   lyceum.Opt[bool]
	schedule  lyceum.Opt[string]
	rateLimit lyceum.Opt[int32]
}

// bindWebhookOptions binds everything but the URL. The rules check the limits.
func bindWebhookOptions(in *wire.Input) webhookChange {
	names := in.Body("events")
	q := webhookChange{
		asArray:   in.Body("as_array").Bool(),
		schedule:  in.Body("schedule").Text(1, wire.Unbounded),
		rateLimit: wire.Int[int32](in.Body("rate_limit"), 0, events.MaxRateLimit),
	}
	q.events = wire.Sequence[string](names, "strings")
	return q
}

func bindNewWebhook(in *wire.Input) events.WebhookForm {
	var form events.WebhookForm
	url := in.Body("url").Required().Text(1, wire.Unbounded)
	q := bindWebhookOptions(in)
	q.url = url
	q.apply(&form)
	return form
}

func bindWebhookChange(in *wire.Input) webhookChange {
	id, url := bindWebhook(in), in.Body("url").Text(0, wire.Unbounded)
	q := bindWebhookOptions(in)
	q.id, q.url = id, url
	return q
}

func (q *webhookChange) apply(form *events.WebhookForm) {
	form.URL = q.url.Else(form.URL)
	form.AsArray = q.asArray.Else(form.AsArray)
	form.RateLimit = q.rateLimit.Else(form.RateLimit)
	if q.schedule.Present {
		form.Schedule = lyceum.Schedule(q.schedule.Value)
	}
	if q.events != nil {
		form.Events = q.events
	}
}

func (f *Face) updateWebhook(ctx context.Context, by lyceum.By, q webhookChange) (lyceum.Webhook, error) {
	return f.Events.Update(ctx, by, q.id, q.apply)
}

// webhookTest holds the parameters of testWebhook.
type webhookTest struct {
	webhook lyceum.WebhookID
	event   lyceum.Opt[string]
}

func bindTest(in *wire.Input) webhookTest {
	return webhookTest{bindWebhook(in), in.Body("event").Text(0, wire.Unbounded)}
}

func (f *Face) testWebhook(ctx context.Context, by lyceum.By, q webhookTest) (events.Named, error) {
	return f.Events.Test(ctx, by, q.webhook, q.event)
}

// resume holds the parameters of resumeWebhook.
type resume struct {
	webhook lyceum.WebhookID
	replay  events.Replay
}

func bindResume(in *wire.Input) resume {
	q := resume{webhook: bindWebhook(in)}
	if in.Body("replay").Bool() == lyceum.Some(false) {
		q.replay = events.WithoutReplay
	}
	return q
}

func (f *Face) resumeWebhook(ctx context.Context, by lyceum.By, q resume) (lyceum.Webhook, error) {
	return f.Events.Resume(ctx, by, q.webhook, q.replay)
}

func bindResend(in *wire.Input) lyceum.ResendFilter {
	after, until := in.Body("after"), in.Body("until")
	return lyceum.ResendFilter{
		Webhook: bindWebhook(in), State: wire.OneOf(in.Body("state"), deliveryStates...),
		Created: wire.Period(after, until),
	}
}

func resent(n int) int { return n }

// withoutSecret is the part of a response with a secret that is stored for its Idempotency-Key.
// The secret itself is never stored.
type withoutSecret struct {
	Webhook    gen.Webhook        `json:"webhook"`
	Generation int32              `json:"generation"`
	Key        lyceum.SecretKeyID `json:"key"`
}

// secret returns an operation that returns a webhook with its secret.
func secret[P any](
	f *Face, id, path string, bind func(*wire.Input) P, rule wire.Rule[P, events.WithSecret],
) wire.Operation {
	shown := wire.As("", func(w events.WithSecret) gen.WebhookWithSecret {
		return gen.WebhookWithSecret{Webhook: webhook(w.Webhook), Secret: events.SecretText(w.Secret)}
	})
	keep := wire.As("", func(w events.WithSecret) withoutSecret {
		return withoutSecret{webhook(w.Webhook), w.SecretGeneration, w.SecretKey}
	})
	op := wire.New(id, wire.Create, path, once(bind, rule, shown, keep, f.withSecret))
	op.Secret = true
	return op
}

// withSecret restores a response from its stored part, deriving the secret again.
func (f *Face) withSecret(school lyceum.SchoolID, body []byte) ([]byte, error) {
	var kept withoutSecret
	if err := json.Unmarshal(body, &kept); err != nil {
		return nil, err
	}
	secret, err := f.Events.Secret(school, lyceum.WebhookID(kept.Webhook.ID), kept.Generation, kept.Key)
	if err != nil {
		return nil, err
	}
	return json.Marshal(gen.WebhookWithSecret{Webhook: kept.Webhook, Secret: events.SecretText(secret)})
}

func webhook(w lyceum.Webhook) gen.Webhook {
	shown := gen.Webhook{
		ID: int32(w.ID), URL: w.URL, State: gen.WebhookState(w.State), Events: []string{}, AsArray: w.AsArray,
		Schedule: gen.WebhookSchedule(w.Schedule), RateLimit: w.RateLimit, EventsCount: w.EventsCount,
		CreatedAt: wire.Moment(w.CreatedAt), FailedAt: wire.OptMoment(w.FailedAt),
		OldSecretUntil: wire.OptMoment(w.OldSecretUntil),
	}
	if w.EventTrigger != lyceum.AllEvents {
		shown.Events = strings.Split(w.EventTrigger, ",")
	}
	return shown
}
