package sqlstore

import (
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

func (t *tx) RenewDeliveries(claimed []lyceum.WebhookEvent, until time.Time) ([]lyceum.WebhookEventID, error) {
	return renew(t, &deliveries.table, claimed, until,
		func(e *lyceum.WebhookEvent) (lyceum.WebhookEventID, lyceum.Opt[time.Time]) {
			return e.ID, e.NextAttemptAt
		})
}

func (t *tx) RenewEmails(claimed []lyceum.QueuedEmail, until time.Time) ([]lyceum.EmailID, error) {
	return renew(t, &emails.table, claimed, until,
		func(e *lyceum.QueuedEmail) (lyceum.EmailID, lyceum.Opt[time.Time]) { return e.ID, e.NextAttemptAt })
}

// renew postpones claimed rows that are still due at the time of their claim, and returns their
// ids. Those that were claimed together are updated together.
func renew[ID ~int32, T any](
	t *tx, table *table[T], claimed []T, until time.Time, of func(*T) (ID, lyceum.Opt[time.Time]),
) (renewed []ID, err error) {
	together := map[int64][]any{}
	for i := range claimed {
		if id, due := of(&claimed[i]); due.Present {
			together[micros(due.Value)] = append(together[micros(due.Value)], int64(id))
		}
	}
	var id ID
	for due, ids := range together {
		err := eachChunk(t.stamp.School, ids, func(list string, args []any) error {
			text := fmt.Sprintf("UPDATE %[1]s SET next_attempt_at = $%[2]d WHERE school_id = $1 AND next_attempt_at = $%[3]d "+
				"AND %[4]s IN %[5]s RETURNING %[4]s", table.name, len(args)+1, len(args)+2, table.columns[0], list)
			return t.q.each(text, append(args, micros(until), due), []any{scanInt(&id)},
				func() error { renewed = append(renewed, id); return nil })
		})
		if err != nil {
			return nil, fmt.Errorf("renew claims of %s: %w", table.name, err)
		}
	}
	return renewed, nil
}
