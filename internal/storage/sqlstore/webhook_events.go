package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var webhookEvents = define(noun[lyceum.WebhookEventID, lyceum.WebhookEvent, lyceum.WebhookEventFilter]{
	table:   table[lyceum.WebhookEvent]{name: "webhook_events"},
	entries: "webhook_event",
	key:     idKey("webhook_event_id", func(e *lyceum.WebhookEvent) *lyceum.WebhookEventID { return &e.ID }),
	rest: []column[lyceum.WebhookEvent]{
		intColumn("webhook_id", func(e *lyceum.WebhookEvent) *lyceum.WebhookID { return &e.Webhook }),
		textColumn("state", func(e *lyceum.WebhookEvent) *string { return &e.State }),
		intColumn("attempt_count", func(e *lyceum.WebhookEvent) *int32 { return &e.AttemptCount }),
		optTimeColumn("last_attempted_at", func(e *lyceum.WebhookEvent) *lyceum.Opt[time.Time] { return &e.LastAttemptedAt }),
		timeColumn("created_at", func(e *lyceum.WebhookEvent) *time.Time { return &e.CreatedAt }),
		textColumn("object_type", func(e *lyceum.WebhookEvent) *string { return &e.ObjectType }),
		intColumn("object_id", func(e *lyceum.WebhookEvent) *int32 { return &e.ObjectID }),
		optIntColumn("response_status", func(e *lyceum.WebhookEvent) *lyceum.Opt[int32] { return &e.ResponseStatus }),
		optIntColumn("number", func(e *lyceum.WebhookEvent) *lyceum.Opt[int64] { return &e.Number }),
		optTimeColumn("next_attempt_at", func(e *lyceum.WebhookEvent) *lyceum.Opt[time.Time] { return &e.NextAttemptAt }),
		intColumn("tries", func(e *lyceum.WebhookEvent) *int32 { return &e.Tries }),
	},
	largest: 1 << 10,
})
