package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Webhooks, noun[lyceum.WebhookID, lyceum.Webhook, lyceum.WebhookFilter]{
	table:   table[lyceum.Webhook]{name: "webhooks", entryOf: webhookEntry},
	entries: "webhook",
	key:     idKey("webhook_id", func(w *lyceum.Webhook) *lyceum.WebhookID { return &w.ID }),
	rest: []column[lyceum.Webhook]{
		textColumn("state", func(w *lyceum.Webhook) *lyceum.WebhookState { return &w.State }),
		textColumn("url", func(w *lyceum.Webhook) *string { return &w.URL }),
		textColumn("event_trigger", func(w *lyceum.Webhook) *string { return &w.EventTrigger }),
		intColumn("events_count", func(w *lyceum.Webhook) *int32 { return &w.EventsCount }),
		timeColumn("created_at", func(w *lyceum.Webhook) *time.Time { return &w.CreatedAt }),
		boolColumn("is_live", func(w *lyceum.Webhook) *bool { return &w.Live }),
		boolColumn("as_array", func(w *lyceum.Webhook) *bool { return &w.AsArray }),
		textColumn("schedule", func(w *lyceum.Webhook) *lyceum.Schedule { return &w.Schedule }),
		intColumn("secret_generation", func(w *lyceum.Webhook) *int32 { return &w.SecretGeneration }),
		optTimeColumn("old_secret_until", func(w *lyceum.Webhook) *lyceum.Opt[time.Time] { return &w.OldSecretUntil }),
		optTimeColumn("failed_at", func(w *lyceum.Webhook) *lyceum.Opt[time.Time] { return &w.FailedAt }),
		optTimeColumn("deleted_at", func(w *lyceum.Webhook) *lyceum.Opt[time.Time] { return &w.DeletedAt }),
		textColumn("secret_key", func(w *lyceum.Webhook) *lyceum.SecretKeyID { return &w.SecretKey }),
		textColumn("old_secret_key", func(w *lyceum.Webhook) *lyceum.SecretKeyID { return &w.OldSecretKey }),
		intColumn("rate_limit", func(w *lyceum.Webhook) *int32 { return &w.RateLimit }),
		intColumn("since", func(w *lyceum.Webhook) *int64 { return &w.Since }),
	},
	largest: 16 << 10,
	narrow: func(w *where, f lyceum.WebhookFilter) {
		if f.Live {
			w.and("is_live = 1")
		}
		if f.Kept {
			w.absent("deleted_at")
		}
	},
	hint: func(d *dialect, f lyceum.WebhookFilter) string {
		if f.Kept {
			return d.indexed("webhooks_standing")
		}
		return ""
	},
})

// webhookEntry returns the type of the entry of a changed webhook. The row of a deleted one stays.
func webhookEntry(w *lyceum.Webhook) lyceum.EntryType {
	if w.DeletedAt.Present {
		return lyceum.WebhookDeleted
	}
	return lyceum.WebhookUpdated
}

var _ = define(&tables.WebhookUsage, noun[lyceum.WebhookID, lyceum.WebhookUsage, struct{}]{
	table: table[lyceum.WebhookUsage]{name: "webhook_usage"},
	what:  "usage of a webhook",
	key:   unnumbered(idKey("webhook_id", func(u *lyceum.WebhookUsage) *lyceum.WebhookID { return &u.Webhook })),
	rest: []column[lyceum.WebhookUsage]{
		timeColumn("minute", func(u *lyceum.WebhookUsage) *time.Time { return &u.Minute }),
		intColumn("sent", func(u *lyceum.WebhookUsage) *int64 { return &u.Sent }),
		timeColumn("day", func(u *lyceum.WebhookUsage) *time.Time { return &u.Day }),
		intColumn("bytes", func(u *lyceum.WebhookUsage) *int64 { return &u.Kept }),
	},
})
