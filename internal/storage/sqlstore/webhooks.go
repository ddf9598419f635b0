package sqlstore

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

var webhooks = define(noun[lyceum.WebhookID, lyceum.Webhook, struct{}]{
	table:   table[lyceum.Webhook]{name: "webhooks"},
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
})

// FindWebhooks implements lyceum.Reader.
func (s *Store) FindWebhooks(ctx context.Context, school lyceum.SchoolID) ([]lyceum.Webhook, error) {
	found, err := rows(s.reads.single(ctx), &webhooks.table, s.dialect.standing+" WHERE school_id = $1 AND deleted_at IS NULL ORDER BY webhook_id", int64(school))
	return found, s.public(err)
}

// FindLiveWebhooks implements lyceum.Reader.
func (s *Store) FindLiveWebhooks(ctx context.Context, school lyceum.SchoolID) ([]lyceum.Webhook, error) {
	found, err := liveWebhooks(s.reads.single(ctx), school)
	return found, s.public(err)
}

func liveWebhooks(q *session, school lyceum.SchoolID) ([]lyceum.Webhook, error) {
	return rows(q, &webhooks.table, q.pool.dialect.standing+" WHERE school_id = $1 AND is_live = 1 AND deleted_at IS NULL ORDER BY webhook_id", int64(school))
}

// GetWebhook implements lyceum.Reader.
func (s *Store) GetWebhook(ctx context.Context, school lyceum.SchoolID, id lyceum.WebhookID) (lyceum.Webhook, error) {
	row, err := getByID(s.reads.single(ctx), school, &webhooks.table, id, "webhook")
	return row, s.public(err)
}

// FindWebhookEvents implements lyceum.Reader.
func (s *Store) FindWebhookEvents(ctx context.Context, school lyceum.SchoolID, f lyceum.WebhookEventFilter, p lyceum.Page) (lyceum.WebhookEventListing, error) {
	w := &where{}
	w.and("v.school_id = ?", int64(school))
	w.and("v.webhook_id = ?", int64(f.Webhook))
	if f.StatusFrom.Present {
		w.and("v.response_status >= ?", int64(f.StatusFrom.Value))
	}
	if f.StatusUntil.Present {
		w.and("v.response_status <= ?", int64(f.StatusUntil.Value))
	}
	if f.State.Present {
		w.and("v.state = ?", f.State.Value)
	}
	w.within("v.created_at", f.Created)
	from := " FROM webhook_events v"
	found, total, err := pageOf(ctx, s, webhookEvents.of("v"), from, w, counted(from, w), " ORDER BY v.created_at DESC, v.webhook_event_id DESC", p, webhookEvents.scan)
	return lyceum.WebhookEventListing{Page: p, Total: total, Events: found}, err
}

// GetDelivery implements lyceum.Reader.
func (s *Store) GetDelivery(ctx context.Context, school lyceum.SchoolID, id lyceum.WebhookEventID) (lyceum.WebhookEvent, error) {
	row, err := getByID(s.reads.single(ctx), school, &webhookEvents.table, id, "delivery")
	return row, s.public(err)
}

// FindAttempts implements lyceum.Reader.
func (s *Store) FindAttempts(ctx context.Context, school lyceum.SchoolID, id lyceum.WebhookEventID, after int32) (found []lyceum.Attempt, more bool, err error) {
	var a lyceum.Attempt
	left := lyceum.AnswerBytes
	err = s.reads.single(ctx).each(
		"SELECT "+attemptColumns+" FROM webhook_attempts WHERE school_id = $1 AND webhook_event_id = $2 AND attempt > $3 ORDER BY attempt",
		[]any{int64(school), int64(id), int64(after)}, scanAttempt(&a), func() error {
			left -= bareObject + lyceum.Weight(a.Problem.Value, a.RequestHeader, a.ResponseHeader, a.ResponseBody)
			if left < 0 && len(found) > 0 {
				more = true
				return errFull
			}
			found = append(found, a)
			return nil
		})
	return found, more, s.public(unlessFull(err))
}

// FindPayloads implements lyceum.Reader.
func (s *Store) FindPayloads(ctx context.Context, school lyceum.SchoolID, numbers []int64) (map[int64]lyceum.EventPayload, error) {
	found, err := findPayloads(s.reads.single(ctx), school, numbers)
	return found, s.public(err)
}

func findPayloads(q *session, school lyceum.SchoolID, numbers []int64) (map[int64]lyceum.EventPayload, error) {
	found := map[int64]lyceum.EventPayload{}
	args := make([]any, len(numbers))
	for i, n := range numbers {
		args[i] = n
	}
	var p lyceum.EventPayload
	err := inChunks(q, "SELECT "+payloadColumns+" FROM event_payloads WHERE school_id = $1 AND number IN ", school, args, scanPayload(&p), func() { found[p.Number] = p })
	return found, err
}

// GetCursor implements lyceum.Reader.
func (s *Store) GetCursor(ctx context.Context, school lyceum.SchoolID, name string) (int64, error) {
	number, err := getCursor(s.reads.single(ctx), school, name)
	return number, s.public(err)
}

func getCursor(q *session, school lyceum.SchoolID, name string) (int64, error) {
	var number int64
	_, err := q.one("SELECT number FROM cursors WHERE school_id = $1 AND name = $2", []any{int64(school), name}, scanInt(&number))
	return number, err
}

// FindUndispatched implements lyceum.Reader.
func (s *Store) FindUndispatched(ctx context.Context, cursor string) ([]lyceum.SchoolID, error) {
	var found []lyceum.SchoolID
	var id lyceum.SchoolID
	err := s.reads.single(ctx).each(`SELECT s.school_id FROM schools s WHERE EXISTS (SELECT 1 FROM journal j`+s.dialect.events+` WHERE j.school_id = s.school_id AND j.event IS NOT NULL
		AND j.number > COALESCE((SELECT c.number FROM cursors c WHERE c.school_id = s.school_id AND c.name = $1), 0)) ORDER BY s.school_id`,
		[]any{cursor}, []any{scanInt(&id)}, func() error { found = append(found, id); return nil })
	return found, s.public(err)
}

// FindDue implements lyceum.Reader.
func (s *Store) FindDue(ctx context.Context, now time.Time) ([]lyceum.DueWebhook, error) {
	var found []lyceum.DueWebhook
	var due lyceum.DueWebhook
	err := s.reads.single(ctx).each(`SELECT e.school_id, e.webhook_id FROM webhook_events e WHERE e.next_attempt_at IS NOT NULL
		GROUP BY e.school_id, e.webhook_id HAVING min(e.next_attempt_at) <= $1 AND NOT EXISTS (
			SELECT 1 FROM webhook_usage u JOIN webhooks w ON w.school_id = u.school_id AND w.webhook_id = u.webhook_id
			WHERE u.school_id = e.school_id AND u.webhook_id = e.webhook_id AND u.minute = $2 AND w.rate_limit > 0 AND u.sent >= w.rate_limit)
		ORDER BY e.school_id, e.webhook_id`,
		[]any{micros(now), micros(now.Truncate(time.Minute))}, []any{scanInt(&due.School), scanInt(&due.Webhook)}, func() error { found = append(found, due); return nil })
	return found, s.public(err)
}
