package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

var emails = define(&tables.Emails, noun[lyceum.EmailID, lyceum.QueuedEmail, lyceum.EmailFilter]{
	table: table[lyceum.QueuedEmail]{name: "emails"},
	what:  "email",
	key:   idKey("email_id", func(e *lyceum.QueuedEmail) *lyceum.EmailID { return &e.ID }),
	rest: []column[lyceum.QueuedEmail]{
		intColumn("kind", func(e *lyceum.QueuedEmail) *lyceum.EmailKind { return &e.Kind }),
		optIntColumn("user_id", func(e *lyceum.QueuedEmail) *lyceum.Opt[lyceum.UserID] { return &e.UserID }),
		optTextColumn("address", func(e *lyceum.QueuedEmail) *lyceum.Opt[string] { return &e.Address }),
		optIntColumn("about", func(e *lyceum.QueuedEmail) *lyceum.Opt[int32] { return &e.About }),
		textColumn("shown", func(e *lyceum.QueuedEmail) *string { return &e.Values }),
		textColumn("message_id", func(e *lyceum.QueuedEmail) *string { return &e.MessageID }),
		textColumn("state", func(e *lyceum.QueuedEmail) *lyceum.EmailState { return &e.State }),
		timeColumn("created_at", func(e *lyceum.QueuedEmail) *time.Time { return &e.CreatedAt }),
		intColumn("tries", func(e *lyceum.QueuedEmail) *int32 { return &e.Tries }),
		optTimeColumn("next_attempt_at", func(e *lyceum.QueuedEmail) *lyceum.Opt[time.Time] { return &e.NextAttemptAt }),
		optTimeColumn("closed_at", func(e *lyceum.QueuedEmail) *lyceum.Opt[time.Time] { return &e.ClosedAt }),
		optTextColumn("problem", func(e *lyceum.QueuedEmail) *lyceum.Opt[string] { return &e.Problem }),
	},
	narrow: func(w *where, f lyceum.EmailFilter) {
		if f.State.Present {
			w.equal("state", string(f.State.Value))
		}
		is(w, "user_id", f.User)
	},
	order: func(lyceum.EmailFilter) string { return "email_id DESC" },
})

func (s *Store) FindEmailing(ctx context.Context, now time.Time) ([]lyceum.SchoolID, error) {
	var found []lyceum.SchoolID
	var id lyceum.SchoolID
	err := s.reads.single(ctx).each("SELECT DISTINCT school_id FROM emails WHERE next_attempt_at <= $1 ORDER BY school_id",
		[]any{micros(now)}, []any{scanInt(&id)}, func() error { found = append(found, id); return nil })
	return found, s.public(err)
}

func (t *tx) ClaimEmails(now, until time.Time, limit int) ([]lyceum.QueuedEmail, error) {
	var found []lyceum.QueuedEmail
	var row lyceum.QueuedEmail
	err := t.q.each("UPDATE emails SET next_attempt_at = $1 WHERE school_id = $2 AND email_id IN "+
		"(SELECT email_id FROM emails WHERE school_id = $3 AND next_attempt_at <= $4 "+
		"ORDER BY next_attempt_at, email_id LIMIT $5) RETURNING "+emails.list(),
		[]any{micros(until), int64(t.stamp.School), int64(t.stamp.School), micros(now), int64(limit)}, emails.scan(&row),
		func() error { found = append(found, row); return nil })
	if err != nil {
		return nil, fmt.Errorf("claim emails: %w", err)
	}
	slices.SortFunc(found, func(a, b lyceum.QueuedEmail) int { return cmp.Compare(a.ID, b.ID) })
	return found, nil
}
