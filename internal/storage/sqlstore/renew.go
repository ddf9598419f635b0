package sqlstore

import (
	"fmt"
	"math/bits"
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

// renew changes when rows are due that are due when they say. Those that were claimed
// together are changed together.
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
		for len(ids) > 0 {
			n := min(len(ids), readChunk)
			args := append([]any{micros(until), int64(t.stamp.School), due}, ids[:n]...)
			size := 1 << bits.Len(uint(n-1))
			for len(args) < 3+size {
				args = append(args, ids[n-1])
			}
			err := t.q.each("UPDATE "+table.name+" SET next_attempt_at = $1 WHERE school_id = $2 AND next_attempt_at = $3 AND "+
				table.columns[0]+" IN "+placeholders(4, size)+" RETURNING "+table.columns[0],
				args, []any{scanInt(&id)}, func() error { renewed = append(renewed, id); return nil })
			if err != nil {
				return nil, fmt.Errorf("renew claims of %s: %w", table.name, err)
			}
			ids = ids[n:]
		}
	}
	return renewed, nil
}
