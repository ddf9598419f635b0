package sqlstore

import (
	"context"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

func (s *Store) FindNext(
	ctx context.Context, school lyceum.SchoolID, params lyceum.NextQuery,
) (lyceum.NextDue, error) {
	w := &where{}
	own := func() string { return "school_id = " + w.arg(int64(school)) }
	after := func(pause time.Duration) string { return w.arg(micros(params.After.Add(-pause))) }
	unpaid := func() string {
		return "SELECT min(grace_from) FROM sales WHERE " + own() + " AND grace_from IS NOT NULL AND grace_from > "
	}
	var unsettled, live, limited int64
	columns := []string{
		"(SELECT count(*) FROM (SELECT 1 FROM collection_products WHERE " + own() + " AND settled IS NOT NULL UNION ALL " +
			"SELECT 1 FROM tier_products WHERE " + own() + " AND settled IS NOT NULL UNION ALL " +
			"SELECT 1 FROM relinkings WHERE " + own() + " UNION ALL SELECT 1 FROM recountings WHERE " + own() + " LIMIT 1) u)",
		"(SELECT count(*) FROM webhooks WHERE " + own() + " AND is_live = 1 AND deleted_at IS NULL)",
		"(SELECT count(*) FROM webhooks w WHERE " + own() + " AND is_live = 1 AND rate_limit > 0 AND EXISTS (" +
			"SELECT 1 FROM webhook_events e WHERE e.school_id = w.school_id AND e.webhook_id = w.webhook_id " +
			"AND e.next_attempt_at <= " + after(0) + "))",
	}
	into := []any{scanInt(&unsettled), scanInt(&live), scanInt(&limited)}
	var moments []moment
	add := func(what lyceum.Waiting, pause time.Duration, column string) {
		columns, moments = append(columns, "("+column+")"), append(moments, moment{what: what, pause: pause})
	}
	add(lyceum.AccessEnd, 0, "SELECT min(ends_at) FROM entitlements WHERE "+own()+
		" AND ended_at IS NULL AND ends_at IS NOT NULL AND ends_at > "+after(0))
	add(lyceum.PeriodEnd, 0, "SELECT min(due_at) FROM sales WHERE "+own()+
		" AND due_at IS NOT NULL AND due_at > "+after(0))
	for _, pause := range params.Tries {
		add(lyceum.PaymentDue, pause, unpaid()+after(pause))
	}
	if params.Grace.Present {
		add(lyceum.Lapse, params.Grace.Value, unpaid()+after(params.Grace.Value))
	}
	add(lyceum.OrderAbandonment, 0, "SELECT min(abandons_at) FROM orders WHERE "+own()+
		" AND state = 'open' AND abandons_at > "+after(0))
	add(lyceum.WebhookAttempt, 0, "SELECT min(next_attempt_at) FROM webhook_events WHERE "+own()+
		" AND next_attempt_at IS NOT NULL AND next_attempt_at > "+after(0))
	for i := range moments {
		into = append(into, scanOptTime(&moments[i].at))
	}
	next := lyceum.NextDue{At: map[lyceum.Waiting]time.Time{}}
	_, err := s.reads.single(ctx).one("SELECT "+strings.Join(columns, ", "), w.args, into...)
	for _, m := range moments {
		at := m.at.Value.Add(m.pause)
		if before, found := next.At[m.what]; m.at.Present && (!found || at.Before(before)) {
			next.At[m.what] = at
		}
	}
	next.Unsettled, next.Webhooks, next.Limited = unsettled > 0, live > 0, limited > 0
	return next, s.public(err)
}

// moment is the earliest time in a column. What it concerns is due a pause after it.
type moment struct {
	what  lyceum.Waiting
	pause time.Duration
	at    lyceum.Opt[time.Time]
}

func (s *Store) CountEvents(
	ctx context.Context, school lyceum.SchoolID, after int64,
) (map[lyceum.EventName]int64, error) {
	counts := map[lyceum.EventName]int64{}
	var name lyceum.EventName
	var n int64
	err := s.reads.single(ctx).each("SELECT event, count(*) FROM journal "+
		"WHERE school_id = $1 AND event IS NOT NULL AND number > $2 GROUP BY event",
		[]any{int64(school), after}, []any{scanText(&name), scanInt(&n)},
		func() error { counts[name] = n; return nil })
	return counts, s.public(err)
}
