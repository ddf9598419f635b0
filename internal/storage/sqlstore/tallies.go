package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

const (
	// tallyConnections is how many connections count. They are separate from those that read and
	// write, so that requests are counted while the database is busy.
	tallyConnections = 2
	// tallyPatience is how long a counting statement may take.
	tallyPatience = 2 * time.Second
	// sweptTallies is how many tallies one statement deletes at most.
	sweptTallies = 1000
)

// tallies implements lyceum.Tallies on PostgreSQL.
type tallies struct {
	store *Store
	pool  *pool
}

func (s *Store) Tallies() lyceum.Tallies {
	if s.tallies == nil {
		return nil
	}
	return s.tallies
}

// tallyRows are the arguments of a statement about tallies. Rows are always locked in the order
// of their keys, so that two processes cannot deadlock.
const tallyRows = `unnest($1::INTEGER[], $2::BYTEA[], $3::BYTEA[], $4::BIGINT[], $5::BIGINT[], $6::BIGINT[],
	$7::BIGINT[]) WITH ORDINALITY v (school_id, topic, name, length, begin, added, wanted, n)`

// tallyOver is true if the window of a row has ended before one that begins at w.begin. It has
// also ended if it is far in the future, because then the database's clock was set back.
const tallyOver = "(w.begin >= t.begin + t.length OR w.begin < t.begin - t.length)"

// givenOf returns how much of wanted is granted if used were counted before.
func givenOf(used, added, wanted string) string {
	left := "$8::BIGINT - (" + used + ") - " + added
	return "GREATEST(0, LEAST(" + wanted + ", GREATEST(1, (" + left + ") / 8), " + left + "))"
}

// countTallies stores in given what the last caller was granted, because a statement can return
// only what it stores. For a conflicting row, excluded.given is what a new row would have been
// granted, which is never less than what is granted.
var countTallies = `INSERT INTO tallies AS t (school_id, topic, name, length, begin, used, given)
	SELECT school_id, topic, name, length, begin, added + ` + givenOf("0", "added", "wanted") + ", " +
	givenOf("0", "added", "wanted") + ` FROM ` + tallyRows + ` ORDER BY n
	ON CONFLICT (school_id, topic, name, length) DO UPDATE SET (begin, used, given) = (
		SELECT o.begin, o.used + o.added + g.given, g.given
		FROM (SELECT CASE WHEN ` + tallyOver + ` THEN w.begin ELSE t.begin END AS begin,
			CASE WHEN ` + tallyOver + ` THEN 0 ELSE t.used END AS used, w.used - w.given AS added, w.given AS wanted
			FROM (SELECT excluded.begin, excluded.used, excluded.given) w (begin, used, given)) o,
		LATERAL (SELECT ` + givenOf("o.used", "o.added", "o.wanted") + `) g (given))
	RETURNING begin, used, given`

const lookTallies = `SELECT COALESCE(t.begin, 0), COALESCE(t.used, 0) FROM ` + tallyRows + `
	LEFT JOIN LATERAL (SELECT t.begin, t.used FROM tallies t, (SELECT v.begin) w (begin) WHERE t.school_id = v.school_id
		AND t.topic = v.topic AND t.name = v.name AND t.length = v.length AND NOT ` + tallyOver + `) t ON TRUE
	WHERE $8::BIGINT IS NOT NULL ORDER BY v.n`

const giveBackTallies = `UPDATE tallies t SET used = GREATEST(0, t.used - l.added)
	FROM (SELECT t.school_id, t.topic, t.name, t.length, v.added FROM ` + tallyRows + ` JOIN tallies t
		ON t.school_id = v.school_id AND t.topic = v.topic AND t.name = v.name AND t.length = v.length AND t.begin = v.begin
		WHERE $8::BIGINT IS NOT NULL ORDER BY t.school_id, t.topic, t.name, t.length FOR UPDATE OF t) l
	WHERE t.school_id = l.school_id AND t.topic = l.topic AND t.name = l.name AND t.length = l.length`

const forgetTallies = `DELETE FROM tallies t USING (SELECT name, length FROM tallies
		WHERE school_id = $1 AND topic = $2 ORDER BY name, length FOR UPDATE) l
	WHERE t.school_id = $1 AND t.topic = $2 AND t.name = l.name AND t.length = l.length`

// tallyArgs returns the arguments of a statement, and the order in which it returns rows.
func tallyArgs(most int64, rows []lyceum.Tally) (args []any, order []int) {
	order = make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, k int) int {
		a, b := &rows[i], &rows[k]
		return cmp.Or(cmp.Compare(a.School, b.School), slices.Compare(a.Topic[:], b.Topic[:]),
			slices.Compare(a.Name[:], b.Name[:]), cmp.Compare(a.Length, b.Length))
	})
	var schools []int32
	var topics, names [][]byte
	var lengths, begins, added, wanted []int64
	for _, i := range order {
		t := &rows[i]
		schools = append(schools, int32(t.School))
		topics, names = append(topics, t.Topic[:]), append(names, t.Name[:])
		lengths, begins = append(lengths, t.Length.Microseconds()), append(begins, micros(t.Begin))
		added, wanted = append(added, t.Add), append(wanted, t.Want)
	}
	return []any{schools, topics, names, lengths, begins, added, wanted, most}, order
}

func (t *tallies) Count(ctx context.Context, most int64, rows []lyceum.Tally) ([]lyceum.Tallied, error) {
	args, order := tallyArgs(most, rows)
	var one lyceum.Tallied
	found, n := make([]lyceum.Tallied, len(rows)), 0
	err := t.pool.single(ctx).each(countTallies, args,
		[]any{scanTime(&one.Begin), scanInt(&one.Used), scanInt(&one.Given)},
		func() error { found[order[n]] = one; n++; return nil })
	return found, t.failed("count", err)
}

func (t *tallies) Look(ctx context.Context, rows []lyceum.Tally) ([]lyceum.Tallied, error) {
	args, order := tallyArgs(0, rows)
	var one lyceum.Tallied
	found, n := make([]lyceum.Tallied, len(rows)), 0
	err := t.pool.single(ctx).each(lookTallies, args, []any{scanTime(&one.Begin), scanInt(&one.Used)},
		func() error { found[order[n]] = one; n++; return nil })
	return found, t.failed("look up", err)
}

func (t *tallies) GiveBack(ctx context.Context, rows []lyceum.Tally) error {
	args, _ := tallyArgs(0, rows)
	return t.failed("give back", t.pool.single(ctx).exec(giveBackTallies, args...))
}

func (t *tallies) Forget(ctx context.Context, school lyceum.SchoolID, topic lyceum.TallyName) error {
	return t.failed("forget", t.pool.single(ctx).exec(forgetTallies, int64(school), topic[:]))
}

// Sweep skips rows that are being counted.
func (t *tallies) Sweep(ctx context.Context, at time.Time) error {
	for more := true; more; {
		var n int64
		_, err := t.pool.single(ctx).one(`WITH gone AS (DELETE FROM tallies WHERE ctid = ANY (ARRAY(SELECT ctid FROM tallies
			WHERE begin + length <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING 1) SELECT count(*) FROM gone`,
			[]any{micros(at), sweptTallies}, scanInt(&n))
		if err != nil {
			return t.failed("sweep", err)
		}
		more = n == sweptTallies
	}
	return nil
}

func (t *tallies) failed(what string, err error) error {
	if err != nil {
		err = t.store.public(fmt.Errorf("%s tallies: %w", what, err))
	}
	return err
}
