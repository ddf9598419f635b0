package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var webhooks = table[lyceum.Webhook]{
	name: "webhooks", seq: lyceum.WebhookSequence, created: lyceum.WebhookCreated, updated: lyceum.WebhookUpdated,
	columns: []string{
		"webhook_id", "state", "url", "event_trigger", "events_count", "created_at", "is_live", "as_array", "schedule", "secret_generation", "old_secret_until", "failed_at", "deleted_at",
		"secret_key", "old_secret_key", "rate_limit", "since",
	},
	id: func(w *lyceum.Webhook) int32 { return int32(w.ID) },
	bind: func(w *lyceum.Webhook) []any {
		return []any{
			int64(w.ID), string(w.State), w.URL, w.EventTrigger, int64(w.EventsCount), micros(w.CreatedAt), flag(w.Live), flag(w.AsArray), string(w.Schedule),
			int64(w.SecretGeneration), optMicros(w.OldSecretUntil), optMicros(w.FailedAt), optMicros(w.DeletedAt),
			string(w.SecretKey), string(w.OldSecretKey), int64(w.RateLimit), w.Since,
		}
	},
	scan: func(w *lyceum.Webhook) []any {
		return []any{
			scanInt(&w.ID), scanText(&w.State), scanText(&w.URL), scanText(&w.EventTrigger), scanInt(&w.EventsCount), scanTime(&w.CreatedAt), scanBool(&w.Live), scanBool(&w.AsArray), scanText(&w.Schedule),
			scanInt(&w.SecretGeneration), scanOptTime(&w.OldSecretUntil), scanOptTime(&w.FailedAt), scanOptTime(&w.DeletedAt),
			scanText(&w.SecretKey), scanText(&w.OldSecretKey), scanInt(&w.RateLimit), scanInt(&w.Since),
		}
	},
}

var webhookEvents = table[lyceum.WebhookEvent]{
	name: "webhook_events", seq: lyceum.WebhookEventSequence, created: lyceum.WebhookEventCreated, updated: lyceum.WebhookEventUpdated,
	columns: []string{"webhook_event_id", "webhook_id", "state", "attempt_count", "last_attempted_at", "created_at", "object_type", "object_id", "response_status", "number", "next_attempt_at", "tries"},
	id:      func(e *lyceum.WebhookEvent) int32 { return int32(e.ID) },
	bind: func(e *lyceum.WebhookEvent) []any {
		return []any{
			int64(e.ID), int64(e.Webhook), e.State, int64(e.AttemptCount), optMicros(e.LastAttemptedAt), micros(e.CreatedAt), e.ObjectType, int64(e.ObjectID), optInt(e.ResponseStatus),
			optInt(e.Number), optMicros(e.NextAttemptAt), int64(e.Tries),
		}
	},
	scan: func(e *lyceum.WebhookEvent) []any {
		return []any{
			scanInt(&e.ID), scanInt(&e.Webhook), scanText(&e.State), scanInt(&e.AttemptCount), scanOptTime(&e.LastAttemptedAt), scanTime(&e.CreatedAt), scanText(&e.ObjectType), scanInt(&e.ObjectID), scanOptInt(&e.ResponseStatus),
			scanOptInt(&e.Number), scanOptTime(&e.NextAttemptAt), scanInt(&e.Tries),
		}
	},
}

const (
	payloadColumns = "number, event, object_id, at, object"
	attemptColumns = "webhook_event_id, attempt, at, took, status, problem, request_header, response_header, response_body, is_kept"
)

func scanPayload(p *lyceum.EventPayload) []any {
	return []any{scanInt(&p.Number), scanText(&p.Event), scanInt(&p.ObjectID), scanTime(&p.At), scanText(&p.Object)}
}

func scanAttempt(a *lyceum.Attempt) []any {
	return []any{
		scanInt(&a.Delivery), scanInt(&a.Number), scanTime(&a.At), scanFunc(func(src any) error {
			took, ok := src.(int64)
			if !ok {
				return wrong(src, "microseconds")
			}
			a.Took = time.Duration(took) * time.Microsecond
			return nil
		}), scanOptInt(&a.Status), scanOptText(&a.Problem), scanText(&a.RequestHeader), scanText(&a.ResponseHeader), scanText(&a.ResponseBody),
		scanFunc(func(src any) error {
			var kept bool
			err := scanBool(&kept).Scan(src)
			a.Unkept = !kept
			return err
		}),
	}
}
