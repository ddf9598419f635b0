package sqlstore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// GetCursor implements lyceum.Tx.
func (t *tx) GetCursor(name string) (int64, error) {
	return getCursor(t.q, t.stamp.School, name)
}

// MoveCursor implements lyceum.Tx.
func (t *tx) MoveCursor(name string, from, to int64) (bool, error) {
	if from == 0 {
		err := t.q.exec("INSERT INTO cursors (school_id, name, number) VALUES ($1, $2, 0) ON CONFLICT (school_id, name) DO NOTHING", int64(t.stamp.School), name)
		if err != nil {
			return false, fmt.Errorf("begin cursor: %w", err)
		}
	}
	var moved int64
	return t.q.one("UPDATE cursors SET number = $3 WHERE school_id = $1 AND name = $2 AND number = $4 RETURNING number",
		[]any{int64(t.stamp.School), name, to, from}, scanInt(&moved))
}

// LastEntry implements lyceum.Tx.
func (t *tx) LastEntry() (int64, error) { return lastEntry(t.q, t.stamp.School) }

// TakeIDs implements lyceum.Tx.
func (t *tx) TakeIDs(seq lyceum.Sequence, n int) (int32, error) {
	var last int64
	_, err := t.q.one(`INSERT INTO counters (school_id, name, value) VALUES ($1, $2, $3)
		ON CONFLICT (school_id, name) DO UPDATE SET value = counters.value + excluded.value RETURNING value`,
		[]any{int64(t.stamp.School), string(seq), int64(n)}, scanInt(&last))
	if err != nil {
		return 0, fmt.Errorf("take %d of %s: %w", n, seq, err)
	}
	if last > lyceum.MaxID {
		return 0, noneLeft(seq)
	}
	return int32(last) - int32(n) + 1, nil
}

// CreatePayloads implements lyceum.Tx.
func (t *tx) CreatePayloads(payloads []lyceum.EventPayload) error {
	for len(payloads) > 0 {
		n := chunkOf(len(payloads))
		args := make([]any, 0, 6*n)
		for i := range payloads[:n] {
			p := &payloads[i]
			args = append(args, int64(t.stamp.School), p.Number, string(p.Event), int64(p.ObjectID), micros(p.At), p.Object)
		}
		if err := t.q.exec(insertText("event_payloads", payloadColumns, 6, n), args...); err != nil {
			return fmt.Errorf("insert payloads: %w", err)
		}
		payloads = payloads[n:]
	}
	return nil
}

// CreateDeliveries implements lyceum.Tx.
func (t *tx) CreateDeliveries(deliveries []lyceum.WebhookEvent) error {
	counts := map[lyceum.WebhookID]int64{}
	var order []lyceum.WebhookID
	for rest := deliveries; len(rest) > 0; {
		n := chunkOf(len(rest))
		args := make([]any, 0, n*(1+len(webhookEvents.columns)))
		for i := range rest[:n] {
			if counts[rest[i].Webhook] == 0 {
				order = append(order, rest[i].Webhook)
			}
			counts[rest[i].Webhook]++
			args = append(append(args, int64(t.stamp.School)), webhookEvents.bind(&rest[i])...)
		}
		if err := t.q.exec(insertText(webhookEvents.name, webhookEvents.list(), 1+len(webhookEvents.columns), n), args...); err != nil {
			return fmt.Errorf("insert deliveries: %w", err)
		}
		rest = rest[n:]
	}
	return t.countDeliveries(order, counts)
}

// countDeliveries adds to the counts of webhooks.
func (t *tx) countDeliveries(order []lyceum.WebhookID, counts map[lyceum.WebhookID]int64) error {
	for len(order) > 0 {
		n := chunkOf(len(order))
		args := []any{int64(t.stamp.School)}
		values := make([]string, n)
		for i, id := range order[:n] {
			args = append(args, int64(id), counts[id])
			values[i] = fmt.Sprintf("(CAST($%d AS INTEGER), CAST($%d AS INTEGER))", 2*i+2, 2*i+3)
		}
		err := t.q.exec("WITH counted (id, n) AS (VALUES "+strings.Join(values, ", ")+") UPDATE webhooks SET events_count = events_count + counted.n FROM counted"+
			" WHERE webhooks.school_id = $1 AND webhooks.webhook_id = counted.id", args...)
		if err != nil {
			return fmt.Errorf("count events: %w", err)
		}
		order = order[n:]
	}
	return nil
}

// ClaimDeliveries implements lyceum.Tx.
func (t *tx) ClaimDeliveries(webhook lyceum.WebhookID, now, until time.Time, limit int) ([]lyceum.WebhookEvent, error) {
	var found []lyceum.WebhookEvent
	var row lyceum.WebhookEvent
	err := t.q.each("UPDATE webhook_events SET next_attempt_at = $1 WHERE school_id = $2 AND webhook_event_id IN (SELECT webhook_event_id FROM webhook_events"+
		" WHERE school_id = $3 AND webhook_id = $4 AND next_attempt_at IS NOT NULL AND next_attempt_at <= $5 ORDER BY next_attempt_at, webhook_event_id LIMIT $6)"+
		" RETURNING "+webhookEvents.list(),
		[]any{micros(until), int64(t.stamp.School), int64(t.stamp.School), int64(webhook), micros(now), int64(limit)}, webhookEvents.scan(&row),
		func() error { found = append(found, row); return nil })
	if err != nil {
		return nil, fmt.Errorf("claim deliveries: %w", err)
	}
	return found, nil
}

// FindLiveWebhooks implements lyceum.Tx.
func (t *tx) FindLiveWebhooks() ([]lyceum.Webhook, error) {
	return liveWebhooks(t.q, t.stamp.School)
}

// GetDelivery implements lyceum.Tx.
func (t *tx) GetDelivery(id lyceum.WebhookEventID) (lyceum.WebhookEvent, error) {
	return getByID(t.q, t.stamp.School, &webhookEvents.table, id, "delivery")
}

// UpdateDelivery implements lyceum.Tx.
func (t *tx) UpdateDelivery(d lyceum.WebhookEvent) error {
	err := t.q.exec(`UPDATE webhook_events SET state = $3, attempt_count = $4, last_attempted_at = $5, response_status = $6, next_attempt_at = $7, tries = $8
		WHERE school_id = $1 AND webhook_event_id = $2`,
		int64(t.stamp.School), int64(d.ID), d.State, int64(d.AttemptCount), optMicros(d.LastAttemptedAt), optInt(d.ResponseStatus), optMicros(d.NextAttemptAt), int64(d.Tries))
	if err != nil {
		return fmt.Errorf("update delivery: %w", err)
	}
	return nil
}

// CountSent implements lyceum.Tx.
func (t *tx) CountSent(webhook lyceum.WebhookID, now time.Time, messages int) (int, error) {
	sum, err := t.countUsage(webhook, "minute", "sent", now.Truncate(time.Minute), messages)
	return int(sum), err
}

// CountKept implements lyceum.Tx.
func (t *tx) CountKept(webhook lyceum.WebhookID, now time.Time, bytes int) (int64, error) {
	return t.countUsage(webhook, "day", "bytes", now.UTC().Truncate(24*time.Hour), bytes)
}

// countUsage adds to a count of a webhook, which begins anew with each span.
func (t *tx) countUsage(webhook lyceum.WebhookID, span, count string, begin time.Time, more int) (sum int64, err error) {
	_, err = t.q.one("INSERT INTO webhook_usage (school_id, webhook_id, "+span+", "+count+") VALUES ($1, $2, $3, $4)"+
		" ON CONFLICT (school_id, webhook_id) DO UPDATE SET "+span+" = excluded."+span+", "+count+" = excluded."+count+
		" + CASE WHEN webhook_usage."+span+" = excluded."+span+" THEN webhook_usage."+count+" ELSE 0 END RETURNING "+count,
		[]any{int64(t.stamp.School), int64(webhook), micros(begin), int64(more)}, scanInt(&sum))
	if err != nil {
		return 0, fmt.Errorf("count what a webhook uses: %w", err)
	}
	return sum, nil
}

// CreateAttempt implements lyceum.Tx.
func (t *tx) CreateAttempt(a lyceum.Attempt) error {
	err := t.q.exec(insertText("webhook_attempts", attemptColumns, 11, 1), int64(t.stamp.School), int64(a.Delivery), int64(a.Number), micros(a.At), a.Took.Microseconds(),
		optInt(a.Status), optText(a.Problem), a.RequestHeader, a.ResponseHeader, a.ResponseBody, flag(!a.Unkept))
	if err != nil {
		return fmt.Errorf("insert attempt: %w", err)
	}
	return nil
}

// cancelSize is how many deliveries one change gives up at most.
const cancelSize = 500

// CancelDeliveries implements lyceum.Tx.
func (t *tx) CancelDeliveries(webhook lyceum.WebhookID) error {
	err := t.q.exec(`UPDATE webhook_events SET state = 'failed', response_status = 410, next_attempt_at = NULL WHERE school_id = $1 AND webhook_event_id IN (
		SELECT webhook_event_id FROM webhook_events WHERE school_id = $2 AND webhook_id = $3 AND next_attempt_at IS NOT NULL ORDER BY next_attempt_at LIMIT $4)`,
		int64(t.stamp.School), int64(t.stamp.School), int64(webhook), int64(cancelSize))
	if err != nil {
		return fmt.Errorf("cancel deliveries: %w", err)
	}
	return nil
}

// ReplayDeliveries implements lyceum.Tx.
func (t *tx) ReplayDeliveries(f lyceum.ResendFilter, after lyceum.Opt[lyceum.WebhookEvent], limit int, at time.Time) ([]lyceum.WebhookEvent, error) {
	w := &where{}
	next, school := w.arg(micros(at)), w.arg(int64(t.stamp.School))
	w.and("school_id = ?", int64(t.stamp.School))
	w.and("webhook_id = ?", int64(f.Webhook))
	w.and("number IS NOT NULL")
	if f.State.Present {
		w.and("state = ?", f.State.Value)
	}
	w.within("created_at", f.Created)
	if after.Present {
		w.and("(created_at, webhook_event_id) > (?, ?)", micros(after.Value.CreatedAt), int64(after.Value.ID))
	}
	var found []lyceum.WebhookEvent
	var row lyceum.WebhookEvent
	err := t.q.each("UPDATE webhook_events SET state = 'pending', tries = 0, next_attempt_at = "+next+" WHERE school_id = "+school+
		" AND webhook_event_id IN (SELECT webhook_event_id FROM webhook_events"+w.String()+" ORDER BY created_at, webhook_event_id LIMIT "+w.arg(int64(limit))+
		") RETURNING "+webhookEvents.list(), w.args, webhookEvents.scan(&row), func() error { found = append(found, row); return nil })
	if err != nil {
		return nil, fmt.Errorf("replay deliveries: %w", err)
	}
	slices.SortFunc(found, func(a, b lyceum.WebhookEvent) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return found, nil
}

// FindPayloads implements lyceum.Tx.
func (t *tx) FindPayloads(numbers []int64) (map[int64]lyceum.EventPayload, error) {
	return findPayloads(t.q, t.stamp.School, numbers)
}

// Note implements lyceum.Tx.
func (t *tx) Note(entry lyceum.EntryType, id int32) { t.entry(entry, id) }
