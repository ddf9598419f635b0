package mirror

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// webhooks copies the webhooks and their past events, for the record.
func (m *mirror) webhooks(ctx context.Context) error {
	var list gen.WebhookList
	if err := m.client.get(ctx, "/v1/webhooks", nil, &list); err != nil {
		return err
	}
	hooks := make([]lyceum.Webhook, len(list.Webhooks))
	for i, w := range list.Webhooks {
		hooks[i] = lyceum.Webhook{
			ID: lyceum.WebhookID(w.ID), State: lyceum.WebhookState(w.WorkflowState), URL: w.URL, EventTrigger: w.EventTrigger,
			EventsCount: w.WebhookEventsCount,
		}
	}
	to := m.Events.ImportWebhooks(m.by(), m.Clock)
	if err := keep(
		ctx, m, to, "webhook", func(w *lyceum.Webhook) string { return strconv.Itoa(int(w.ID)) }, hooks...,
	); err != nil {
		return err
	}
	sent := m.Events.ImportEvents(m.by(), m.Clock)
	for _, hook := range hooks {
		// Without a start, some servers list only the events of recent years.
		since := url.Values{"created_after": {"2000-01-01T00:00:00Z"}}
		path := fmt.Sprintf("/v1/webhooks/%d/events", hook.ID)
		err := pages(ctx, m.client, path, since, func(list *gen.WebhookEventList) (*gen.PaginationMeta, int, error) {
			rows := make([]lyceum.WebhookEvent, len(list.Events))
			for i, e := range list.Events {
				rows[i] = lyceum.WebhookEvent{
					ID: lyceum.WebhookEventID(e.ID), Webhook: lyceum.WebhookID(e.WebhookID), State: string(e.WorkflowState),
					AttemptCount: e.AttemptCount, LastAttemptedAt: wire.Opt(e.LastAttemptedAt),
					CreatedAt: e.CreatedAt, ObjectType: e.ObjectType, ObjectID: e.ObjectID,
					ResponseStatus: wire.Opt(e.ResponseHTTPStatus),
				}
			}
			return &list.Meta, len(rows), keep(
				ctx, m, sent, "webhook event", func(e *lyceum.WebhookEvent) string { return strconv.Itoa(int(e.ID)) }, rows...,
			)
		})
		if err != nil && !errors.Is(err, errNotThere) { // the webhook was deleted since
			return err
		}
	}
	return nil
}
