package sqlstore

import (
	"fmt"
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

// minuteSkew is how long before a minute a change may be dated that still counts in it: changes
// are dated before they wait for their turn, and each process has its own clock.
const minuteSkew = 10 * time.Second

// CountUsage starts again from 0 with each minute and each day.
func (t *tx) CountUsage(
	webhook lyceum.WebhookID, now time.Time, more lyceum.WebhookUsage,
) (sums lyceum.WebhookUsage, err error) {
	const same = "webhook_usage.minute >= excluded.minute AND webhook_usage.minute <= $7"
	_, err = t.q.one(`INSERT INTO webhook_usage (school_id, webhook_id, minute, sent, day, bytes)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (school_id, webhook_id) DO UPDATE SET
		minute = CASE WHEN `+same+` THEN webhook_usage.minute ELSE excluded.minute END, day = excluded.day,
		sent = excluded.sent + CASE WHEN `+same+` THEN webhook_usage.sent ELSE 0 END,
		bytes = excluded.bytes + CASE WHEN webhook_usage.day = excluded.day THEN webhook_usage.bytes ELSE 0 END
		RETURNING sent, bytes`,
		[]any{
			int64(t.stamp.School), int64(webhook), micros(now.Truncate(time.Minute)), more.Sent,
			micros(now.UTC().Truncate(24 * time.Hour)), more.Kept, micros(now.Add(minuteSkew)),
		},
		scanInt(&sums.Sent), scanInt(&sums.Kept))
	if err != nil {
		return lyceum.WebhookUsage{}, fmt.Errorf("count what a webhook uses: %w", err)
	}
	return sums, nil
}
