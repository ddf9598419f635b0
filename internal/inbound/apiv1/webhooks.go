package apiv1

import (
	"context"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

func bindNothing(*wire.Input) struct{} { return struct{}{} }

// ListWebhooks serves GET /v1/webhooks.
func (f *Face) ListWebhooks(ctx context.Context, who wire.Principal, _ struct{}) (wire.JSON, error) {
	all, err := f.events.Webhooks(ctx, who.Caller.School)
	list := gen.WebhookList{Webhooks: []gen.Webhook{}}
	for _, w := range all {
		list.Webhooks = append(list.Webhooks, gen.Webhook{
			ID: int32(w.ID), WorkflowState: gen.WebhookWorkflowState(w.State), URL: w.URL, EventTrigger: w.EventTrigger, WebhookEventsCount: w.EventsCount,
		})
	}
	return wire.JSON{Value: list}, err
}

// webhookEvents is what ShowWebhookEvents is asked.
type webhookEvents struct {
	filter lyceum.WebhookEventFilter
	page   lyceum.Page
}

func bindListWebhookEvents(in *wire.Input) webhookEvents {
	filter := lyceum.WebhookEventFilter{
		Webhook: lyceum.WebhookID(in.PathID("webhook_id")), StatusFrom: wire.Opt(in.Int32("response_http_status_gte")), StatusUntil: wire.Opt(in.Int32("response_http_status_lte")),
		Created: lyceum.Period{After: wire.Bound(in.Time("created_after")), Until: wire.Bound(in.Time("created_before"))},
	}
	return webhookEvents{filter, pageFrom(in.Int32From("page", 1), in.Int32From("per", 1))}
}

// ListWebhookEvents serves GET /v1/webhooks/{webhook_id}/events.
func (f *Face) ListWebhookEvents(ctx context.Context, who wire.Principal, q webhookEvents) (wire.JSON, error) {
	listing, err := f.events.Events(ctx, who.Caller.School, q.filter, q.page)
	list := gen.WebhookEventList{Events: []gen.WebhookEvent{}, Meta: metaOf(listing.Total, q.page, len(listing.Rows))}
	for _, e := range listing.Rows {
		list.Events = append(list.Events, gen.WebhookEvent{
			ID: int32(e.ID), WorkflowState: gen.WebhookEventWorkflowState(e.State), WebhookID: int32(e.Webhook), AttemptCount: e.AttemptCount,
			LastAttemptedAt: wire.OptMoment(e.LastAttemptedAt), CreatedAt: wire.Moment(e.CreatedAt), ObjectType: e.ObjectType, ObjectID: e.ObjectID, ResponseHTTPStatus: wire.Number(e.ResponseStatus),
		})
	}
	return wire.JSON{Value: list}, err
}
