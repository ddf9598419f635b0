package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

func (v *view) GetCursor(name string) (number int64, err error) {
	_, err = v.q.one("SELECT number FROM cursors WHERE school_id = $1 AND name = $2", []any{int64(v.school), name},
		scanInt(&number))
	return number, v.public(err)
}

func (t *tx) MoveCursor(name string, from, to int64) (bool, error) {
	if from == 0 {
		err := t.q.exec("INSERT INTO cursors (school_id, name, number) VALUES ($1, $2, 0) ON CONFLICT (school_id, name) DO "+
			"NOTHING", int64(t.stamp.School), name)
		if err != nil {
			return false, fmt.Errorf("begin cursor: %w", err)
		}
	}
	var moved int64
	return t.q.one("UPDATE cursors SET number = $3 WHERE school_id = $1 AND name = $2 AND number = $4 RETURNING number",
		[]any{int64(t.stamp.School), name, to, from}, scanInt(&moved))
}

// undispatchedEntries is how many entries without an event a cursor may lag behind, and so how
// many FindUndispatched looks at in a school that has no events.
const undispatchedEntries = 100

// findUndispatched reads the first entries after the cursor in their order: asked for any entry
// after it, PostgreSQL would search the whole journal from its beginning.
const findUndispatched = `SELECT s.school_id FROM schools s
	JOIN counters n ON n.school_id = s.school_id AND n.name = '` + journalCounter + `'
	LEFT JOIN cursors c ON c.school_id = s.school_id AND c.name = $1
	WHERE n.value > COALESCE(c.number, 0) AND (n.value > COALESCE(c.number, 0) + $2
	OR EXISTS (SELECT 1 FROM (SELECT j.event FROM journal j WHERE j.school_id = s.school_id
	AND j.number > COALESCE(c.number, 0) ORDER BY j.number LIMIT $2) w WHERE w.event IS NOT NULL)) ORDER BY s.school_id`

func (s *Store) FindUndispatched(ctx context.Context, cursor string) ([]lyceum.SchoolID, error) {
	var found []lyceum.SchoolID
	var id lyceum.SchoolID
	err := s.reads.single(ctx).each(findUndispatched, []any{cursor, int64(undispatchedEntries)}, []any{scanInt(&id)},
		func() error { found = append(found, id); return nil })
	return found, s.public(err)
}

// dayMicros is a day in microseconds.
const dayMicros = "86400000000"

// findOverdue compares the first time of each index: asked whether any time has come, PostgreSQL
// would search all rows of a table.
const findOverdue = `SELECT s.school_id FROM schools s
	LEFT JOIN cursors c ON c.school_id = s.school_id AND c.name = '` + lyceum.ExpiredCursor + `' WHERE c.number IS NULL
	OR c.number > $1 OR (SELECT min(e.ends_at) FROM entitlements e WHERE e.school_id = s.school_id AND e.ended_at IS NULL
	AND e.ends_at IS NOT NULL AND e.ends_at > c.number) <= $1
	OR EXISTS (SELECT 1 FROM collection_products p WHERE p.school_id = s.school_id AND p.settled IS NOT NULL)
	OR EXISTS (SELECT 1 FROM tier_products p WHERE p.school_id = s.school_id AND p.settled IS NOT NULL)
	OR EXISTS (SELECT 1 FROM relinkings r WHERE r.school_id = s.school_id)
	OR EXISTS (SELECT 1 FROM recountings n WHERE n.school_id = s.school_id)
	OR (SELECT min(d.due_at) FROM sales d WHERE d.school_id = s.school_id AND d.due_at IS NOT NULL) <= $1
	OR (SELECT min(o.abandons_at) FROM orders o WHERE o.school_id = s.school_id AND o.state = 'open') <= $1
	OR EXISTS (SELECT 1 FROM planned_erasures f WHERE f.school_id = s.school_id AND f.due_at <= $1)
	OR s.on_lapse = 'end' AND (SELECT min(l.grace_from) FROM sales l WHERE l.school_id = s.school_id
	AND l.grace_from IS NOT NULL) <= $1 - s.grace_days * ` + dayMicros + ` ORDER BY s.school_id`

func (s *Store) FindOverdue(ctx context.Context, now time.Time) ([]lyceum.SchoolID, error) {
	var found []lyceum.SchoolID
	var id lyceum.SchoolID
	err := s.reads.single(ctx).each(findOverdue, []any{micros(now)}, []any{scanInt(&id)},
		func() error { found = append(found, id); return nil })
	return found, s.public(err)
}

func (s *Store) FindBulkSchools(ctx context.Context, unstarted, others time.Time) ([]lyceum.SchoolID, error) {
	var found []lyceum.SchoolID
	var id lyceum.SchoolID
	err := s.reads.single(ctx).each(`SELECT DISTINCT b.school_id FROM bulk_jobs b WHERE b.state IN ('preparing', 'running')
		OR b.state = 'draft' AND b.created_at < $1 OR b.state <> 'running' AND b.created_at < $2 ORDER BY b.school_id`,
		[]any{micros(unstarted), micros(others)}, []any{scanInt(&id)},
		func() error { found = append(found, id); return nil })
	return found, s.public(err)
}
