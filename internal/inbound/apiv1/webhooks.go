package apiv1

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

func (f *Face) webhooks() []wire.Operation {
	const all, events = "/v1/webhooks", "/v1/webhooks/{webhook_id}/events"
	return []wire.Operation{
		one("ListWebhooks", wire.Get, all, wire.Anything, f.Events.Webhooks, "webhooks", webhooks),
		many("ShowWebhookEvents", events, defaultPer, bindWebhookEvents, f.Events.Events, "events", webhookEvent),
	}
}

func webhooks(all []lyceum.Webhook) []gen.Webhook {
	list := []gen.Webhook{}
	for _, w := range all {
		list = append(list, gen.Webhook{
			ID: int32(w.ID), WorkflowState: gen.WebhookWorkflowState(w.State), URL: w.URL,
			EventTrigger: w.EventTrigger, WebhookEventsCount: w.EventsCount,
		})
	}
	return list
}

func bindWebhookEvents(in *wire.Input) lyceum.WebhookEventFilter {
	return lyceum.WebhookEventFilter{
		Webhook:     wire.PathID[lyceum.WebhookID](in, "webhook_id"),
		StatusFrom:  wire.AnyInt[int32](in.Query("response_http_status_gte")),
		StatusUntil: wire.AnyInt[int32](in.Query("response_http_status_lte")),
		Created:     wire.Period(in.Query("created_after"), in.Query("created_before")),
	}
}

func webhookEvent(e lyceum.WebhookEvent) gen.WebhookEvent {
	return gen.WebhookEvent{
		ID: int32(e.ID), WorkflowState: gen.WebhookEventWorkflowState(e.State), WebhookID: int32(e.Webhook),
		AttemptCount: e.AttemptCount, LastAttemptedAt: wire.OptMoment(e.LastAttemptedAt),
		CreatedAt: wire.Moment(e.CreatedAt), ObjectType: e.ObjectType, ObjectID: e.ObjectID,
		ResponseHTTPStatus: wire.Number(e.ResponseStatus),
	}
}
