package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

var deliveries = define(&tables.Deliveries, noun[lyceum.WebhookEventID, lyceum.WebhookEvent, lyceum.WebhookEventFilter]{
	table:   table[lyceum.WebhookEvent]{name: "webhook_events", changed: touchSaved},
	entries: "webhook_event",
	what:    "delivery",
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
	narrow: func(w *where, f lyceum.WebhookEventFilter) {
		if f.Webhook != 0 {
			w.and("webhook_id = ?", int64(f.Webhook))
		}
		if f.StatusFrom.Present {
			w.and("response_status >= ?", int64(f.StatusFrom.Value))
		}
		if f.StatusUntil.Present {
			w.and("response_status <= ?", int64(f.StatusUntil.Value))
		}
		if f.State.Present {
			w.and("state = ?", f.State.Value)
		}
		w.within("created_at", f.Created)
	},
	order: func(f lyceum.WebhookEventFilter) string {
		if f.Newest {
			return "created_at DESC, webhook_event_id DESC"
		}
		return "webhook_event_id"
	},
	indexed: func(f lyceum.WebhookEventFilter) (follow, bool) {
		states := f.State.Present || f.StatusFrom.Present || f.StatusUntil.Present
		return follow{log: deliveryLog(states)}, true
	},
})

func touchSaved(t *tx, old, row *lyceum.WebhookEvent) { t.touch(cmp.Or(row, old).ID, deliveryMoved) }

func (t *tx) touch(id lyceum.WebhookEventID, what fate) {
	t.q.group.touch(t.stamp.School, t.stamp.At, id, what)
}

// findDue walks from one webhook with waiting deliveries to the next, however many wait for
// each. It combines the ids of the school and the webhook into one number.
const findDue = `WITH RECURSIVE waiting (hook) AS (
	SELECT (SELECT e.school_id * 4294967296 + e.webhook_id FROM webhook_events e
		WHERE e.next_attempt_at IS NOT NULL ORDER BY e.school_id, e.webhook_id LIMIT 1)
	UNION ALL
	SELECT (SELECT e.school_id * 4294967296 + e.webhook_id FROM webhook_events e WHERE e.next_attempt_at IS NOT NULL
		AND (e.school_id, e.webhook_id) > (w.hook >> 32, w.hook & 4294967295)
		ORDER BY e.school_id, e.webhook_id LIMIT 1)
	FROM waiting w WHERE w.hook IS NOT NULL),
hooks (school_id, webhook_id) AS (SELECT hook >> 32, hook & 4294967295 FROM waiting WHERE hook IS NOT NULL)
SELECT h.school_id, h.webhook_id FROM hooks h
WHERE EXISTS (SELECT 1 FROM webhook_events e
	WHERE e.school_id = h.school_id AND e.webhook_id = h.webhook_id AND e.next_attempt_at <= $1)
AND NOT EXISTS (SELECT 1 FROM webhook_usage u
	JOIN webhooks w ON w.school_id = u.school_id AND w.webhook_id = u.webhook_id
	WHERE u.school_id = h.school_id AND u.webhook_id = h.webhook_id AND u.minute = $2 AND w.rate_limit > 0
	AND u.sent >= w.rate_limit)
ORDER BY h.school_id, h.webhook_id`

func (s *Store) FindDue(ctx context.Context, now time.Time) ([]lyceum.DueWebhook, error) {
	var found []lyceum.DueWebhook
	var due lyceum.DueWebhook
	err := s.reads.single(ctx).each(findDue,
		[]any{micros(now), micros(now.Truncate(time.Minute))}, []any{scanInt(&due.School), scanInt(&due.Webhook)},
		func() error { found = append(found, due); return nil })
	return found, s.public(err)
}

func (t *tx) CreateDeliveries(created []lyceum.WebhookEvent) error {
	counts := map[lyceum.WebhookID]int64{}
	var order []lyceum.WebhookID
	for rest := created; len(rest) > 0; {
		n := chunkOf(len(rest))
		args := make([]any, 0, n*(1+len(deliveries.columns)))
		for i := range rest[:n] {
			if counts[rest[i].Webhook] == 0 {
				order = append(order, rest[i].Webhook)
			}
			counts[rest[i].Webhook]++
			t.touch(rest[i].ID, deliveryMade)
			delete(t.unused, ticket{lyceum.WebhookEventSequence, int32(rest[i].ID)})
			args = append(append(args, int64(t.stamp.School)), deliveries.bind(&rest[i])...)
		}
		if err := t.q.exec(insertText(deliveries.name, deliveries.list(), 1+len(deliveries.columns), n),
			args...); err != nil {
			return fmt.Errorf("insert deliveries: %w", err)
		}
		rest = rest[n:]
	}
	return t.countDeliveries(order, counts)
}

// countDeliveries adds to the event counts of webhooks.
func (t *tx) countDeliveries(order []lyceum.WebhookID, counts map[lyceum.WebhookID]int64) error {
	for len(order) > 0 {
		n := chunkOf(len(order))
		args := []any{int64(t.stamp.School)}
		values := make([]string, n)
		for i, id := range order[:n] {
			args = append(args, int64(id), counts[id])
			values[i] = fmt.Sprintf("(CAST($%d AS INTEGER), CAST($%d AS INTEGER))", 2*i+2, 2*i+3)
		}
		err := t.q.exec("WITH counted (id, n) AS (VALUES "+strings.Join(values,
			", ")+") UPDATE webhooks SET events_count = events_count + counted.n FROM counted"+
			" WHERE webhooks.school_id = $1 AND webhooks.webhook_id = counted.id", args...)
		if err != nil {
			return fmt.Errorf("count events: %w", err)
		}
		order = order[n:]
	}
	return nil
}

func (t *tx) ClaimDeliveries(webhook lyceum.WebhookID, now, until time.Time, limit int) ([]lyceum.WebhookEvent, error) {
	var found []lyceum.WebhookEvent
	var row lyceum.WebhookEvent
	err := t.q.each("UPDATE webhook_events SET next_attempt_at = $1 WHERE school_id = $2 AND webhook_event_id IN "+
		"(SELECT webhook_event_id FROM webhook_events"+
		" WHERE school_id = $3 AND webhook_id = $4 AND next_attempt_at IS NOT NULL AND next_attempt_at <= $5 ORDER BY "+
		"next_attempt_at, webhook_event_id LIMIT $6)"+
		" RETURNING "+deliveries.list(),
		[]any{micros(until), int64(t.stamp.School), int64(t.stamp.School), int64(webhook), micros(now), int64(limit)},
		deliveries.scan(&row),
		func() error { found = append(found, row); return nil })
	if err != nil {
		return nil, fmt.Errorf("claim deliveries: %w", err)
	}
	return found, nil
}

func (t *tx) UpdateDelivery(d lyceum.WebhookEvent) error {
	old, found, err := deliveries.get(&t.view, d.ID)
	if err != nil || !found {
		return err
	}
	row := old
	row.State, row.AttemptCount, row.LastAttemptedAt = d.State, d.AttemptCount, d.LastAttemptedAt
	row.ResponseStatus, row.NextAttemptAt, row.Tries = d.ResponseStatus, d.NextAttemptAt, d.Tries
	if err := put(t, &deliveries.table, deliveries.change(deliveries.bind(&old), &row)); err != nil {
		return err
	}
	t.touch(d.ID, deliverySettled)
	return nil
}

// cancelSize is how many deliveries one change cancels at most.
const cancelSize = 500

func (t *tx) CancelDeliveries(webhook lyceum.WebhookID) (more bool, err error) {
	var id lyceum.WebhookEventID
	left := cancelSize
	err = t.q.each(`UPDATE webhook_events SET state = 'failed', response_status = 410, next_attempt_at = NULL
		WHERE school_id = $1 AND webhook_event_id IN (
		SELECT webhook_event_id FROM webhook_events WHERE school_id = $2 AND webhook_id = $3
		AND next_attempt_at IS NOT NULL ORDER BY next_attempt_at LIMIT $4) RETURNING webhook_event_id`,
		[]any{int64(t.stamp.School), int64(t.stamp.School), int64(webhook), int64(cancelSize)}, []any{scanInt(&id)},
		func() error { left--; t.touch(id, deliverySettled); return nil })
	if err != nil {
		return false, fmt.Errorf("cancel deliveries: %w", err)
	}
	return left == 0, nil
}

func (t *tx) ReplayDeliveries(
	f lyceum.ResendFilter, after lyceum.Opt[lyceum.WebhookEvent], limit int, at time.Time,
) ([]lyceum.WebhookEvent, error) {
	w := &where{}
	next, school := w.arg(micros(at)), w.arg(int64(t.stamp.School))
	w.and("school_id = ?", int64(t.stamp.School))
	w.and("webhook_id = ?", int64(f.Webhook))
	w.and("EXISTS (SELECT 1 FROM event_payloads p WHERE p.school_id = webhook_events.school_id " +
		"AND p.number = webhook_events.number)")
	if f.State.Present {
		w.and("state = ?", f.State.Value)
	}
	w.within("created_at", f.Created)
	if after.Present {
		w.and("(created_at, webhook_event_id) > (?, ?)", micros(after.Value.CreatedAt), int64(after.Value.ID))
	}
	var found []lyceum.WebhookEvent
	var row lyceum.WebhookEvent
	err := t.q.each("UPDATE webhook_events SET state = 'pending', tries = 0, next_attempt_at = "+next+
		" WHERE school_id = "+school+" AND webhook_event_id IN (SELECT webhook_event_id FROM webhook_events"+
		w.String()+" ORDER BY created_at, webhook_event_id LIMIT "+w.arg(int64(limit))+
		") RETURNING "+deliveries.list(), w.args, deliveries.scan(&row),
		func() error { t.touch(row.ID, deliverySettled); found = append(found, row); return nil })
	if err != nil {
		return nil, fmt.Errorf("replay deliveries: %w", err)
	}
	slices.SortFunc(found, func(a, b lyceum.WebhookEvent) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return found, nil
}
