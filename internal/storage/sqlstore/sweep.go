package sqlstore

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// sweep is a condition for deleting expired rows of a table.
type sweep struct {
	kept  lyceum.Kept
	table string
	cond  string // ? is the time
	until time.Time
	// at is the column of the time, and key the columns, after the school, of a key that grows
	// with it; least sorts before all keys. Without them the key is hash.
	at    string
	key   []string
	least []int64
	spare string // condition on expired rows that are left to a later sweep, if any
	// swept is called for each deleted row with the first column of its key, if it is not nil.
	swept func(g *group, school lyceum.SchoolID, at time.Time, id int32)
}

// sweeps returns what Sweep deletes and CountKept counts.
func (d *dialect) sweeps(e lyceum.Expired) []sweep {
	waitedFor := "EXISTS (SELECT 1 FROM webhook_events w WHERE w.school_id = event_payloads.school_id " +
		"AND w.number = event_payloads.number AND w.next_attempt_at IS NOT NULL)"
	return []sweep{
		{kept: lyceum.KeptSessions, table: "authorization_codes", cond: "expires_at < ?", until: e.Until},
		{kept: lyceum.KeptSessions, table: "access_tokens", cond: "expires_at < ?", until: e.Until},
		{kept: lyceum.KeptSessions, table: "refresh_tokens", cond: "used_at < ?", until: e.UsedUntil},
		{kept: lyceum.KeptSessions, table: "refresh_tokens", cond: "family < ?", until: e.FamilyUntil},
		{kept: lyceum.KeptSessions, table: "sessions", cond: "seen_at < ?", until: e.SeenUntil},
		{kept: lyceum.KeptSessions, table: "sessions", cond: "created_at < ?", until: e.BegunUntil},
		{kept: lyceum.KeptLinks, table: "links", cond: "expires_at < ?", until: e.LinkUntil},
		{kept: lyceum.KeptAnswers, table: "answers", cond: "created_at < ?", until: e.AnswerUntil},
		{
			kept: lyceum.KeptEmails, table: "emails", cond: "created_at < ? AND next_attempt_at IS NULL", until: e.EmailUntil,
			at: "created_at", key: []string{"email_id"}, least: []int64{0},
		},
		{
			kept: lyceum.KeptRequests, table: "failed_requests", cond: "at < ?", until: e.RequestUntil,
			at: "at", key: []string{"failed_request_id"}, least: []int64{0},
		},
		{
			kept: lyceum.KeptEvents, table: "event_payloads", cond: "at < ? AND NOT " + waitedFor, until: e.EventUntil,
			at: "at", key: []string{"number"}, least: []int64{math.MinInt64},
		},
		{
			kept: lyceum.KeptAttempts, table: "webhook_attempts", cond: "at < ?", until: e.AttemptUntil,
			at: "at", key: []string{"webhook_event_id", "attempt"}, least: []int64{0, 0},
		},
		{
			kept: lyceum.KeptDeliveries, table: "webhook_events", until: e.DeliveryUntil,
			cond: "created_at < ? AND next_attempt_at IS NULL AND number IS NOT NULL",
			at:   "created_at", key: []string{"webhook_event_id"}, least: []int64{0},
			spare: "EXISTS (SELECT 1 FROM webhook_attempts a WHERE a.school_id = webhook_events.school_id " +
				"AND a.webhook_event_id = webhook_events.webhook_event_id)",
			swept: func(g *group, school lyceum.SchoolID, at time.Time, id int32) {
				g.touch(school, at, lyceum.WebhookEventID(id), deliveryMoved)
			},
		},
	}
}

const (
	// sweepSize is how many rows one write deletes at most.
	sweepSize = 200
	// sweepRest is how long to wait before the next write, as a multiple of the time of the last
	// one.
	sweepRest = 4
)

// Sweep deletes a few rows at a time, so that no writer waits for long.
func (s *Store) Sweep(ctx context.Context, school lyceum.SchoolID, e lyceum.Expired) error {
	for _, of := range s.dialect.sweeps(e) {
		if of.until.IsZero() {
			continue
		}
		next := s.sweepHashes(ctx, school, &of)
		if of.key != nil {
			next = s.sweepKeys(ctx, school, &of)
		}
		for more := true; more; {
			begin := time.Now()
			var err error
			if more, err = next(); err != nil {
				return fmt.Errorf("sweep %s: %w", of.table, err)
			}
			select {
			case <-time.After(sweepRest * time.Since(begin)):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// sweepHashes returns a function that deletes the next rows of a table whose key is a hash.
func (s *Store) sweepHashes(ctx context.Context, school lyceum.SchoolID, of *sweep) func() (more bool, err error) {
	w := &where{}
	w.and("school_id = ?", int64(school))
	w.and(of.cond, micros(of.until))
	text := "DELETE FROM " + of.table + " WHERE school_id = $1 AND hash IN (SELECT hash FROM " + of.table + w.String() +
		" LIMIT " + strconv.Itoa(sweepSize) + ") RETURNING 1"
	return func() (more bool, err error) {
		err = s.write(ctx, school, func(q *session) error {
			n := 0
			var one int64
			err := q.each(text, w.args, []any{scanInt(&one)}, func() error { n++; return nil })
			more = n == sweepSize
			return err
		})
		return more, err
	}
}

// sweepKeys returns a function that deletes the next rows of a table whose key grows with time.
// It starts at the lowest key and stops after a batch without expired rows. Expired rows with
// higher keys are left to a later sweep.
func (s *Store) sweepKeys(ctx context.Context, school lyceum.SchoolID, of *sweep) func() (more bool, err error) {
	last, until := slices.Clone(of.least), micros(of.until)
	columns := strings.Join(of.key, ", ")
	bound := func(w *where, is string, key []int64) {
		args := make([]any, len(key))
		for i := range key {
			args[i] = key[i]
		}
		w.and("("+columns+") "+is+" ("+strings.Repeat("?, ", len(key)-1)+"?)", args...)
	}
	return func() (more bool, err error) {
		between := &where{}
		between.and("school_id = ?", int64(school))
		bound(between, ">", last)
		var at int64
		dest := []any{scanInt(&at)}
		for i := range last {
			dest = append(dest, scanInt(&last[i]))
		}
		read := "SELECT " + of.at + ", " + columns + " FROM " + of.table + between.String() + " ORDER BY " + columns +
			" LIMIT " + strconv.Itoa(sweepSize)
		n, expired := 0, false
		err = s.reads.single(ctx).each(read, slices.Clone(between.args), dest, func() error {
			n++
			expired = expired || at < until
			return nil
		})
		if err != nil || n == 0 {
			return false, s.public(err)
		}
		if expired {
			bound(between, "<=", last)
			between.and(of.cond, until)
			if of.spare != "" {
				between.and("NOT " + of.spare)
			}
			err = s.write(ctx, school, func(q *session) error {
				text := "DELETE FROM " + of.table + between.String()
				if of.swept == nil {
					return q.exec(text, between.args...)
				}
				var id int32
				return q.each(text+" RETURNING "+of.key[0], between.args, []any{scanInt(&id)},
					func() error { of.swept(q.group, school, s.clock(), id); return nil })
			})
		}
		return n == sweepSize && (expired || last[0] < 0), err // tests have decreasing negative numbers
	}
}

// CountKept counts with the conditions of Sweep.
func (s *Store) CountKept(
	ctx context.Context, school lyceum.SchoolID, e lyceum.Expired,
) (all, expired map[lyceum.Kept]int64, err error) {
	all, expired = map[lyceum.Kept]int64{}, map[lyceum.Kept]int64{}
	conds := map[string][]sweep{}
	for _, of := range s.dialect.sweeps(e) {
		conds[of.table] = append(conds[of.table], of)
	}
	for table, list := range conds {
		w := &where{}
		of := w.arg(int64(school))
		w.conds = []string{"1 = 0"}
		for _, part := range list {
			if !part.until.IsZero() {
				w.and("("+part.cond+")", micros(part.until))
			}
		}
		var rows, over int64
		_, err := s.reads.single(ctx).one("SELECT count(*), coalesce(sum(CASE WHEN "+strings.Join(w.conds, " OR ")+
			" THEN 1 ELSE 0 END), 0) FROM "+table+" WHERE school_id = "+of, w.args, scanInt(&rows), scanInt(&over))
		if err != nil {
			return nil, nil, s.public(fmt.Errorf("count %s: %w", table, err))
		}
		all[list[0].kept] += rows
		expired[list[0].kept] += over
	}
	return all, expired, nil
}

// FindSizes adds up the pages of a SQLite file; PostgreSQL reports what it already knows.
func (s *Store) FindSizes(ctx context.Context) (lyceum.Sizes, error) {
	var sizes lyceum.Sizes
	var t lyceum.TableSize
	err := s.reads.snapshot(ctx, func(q *session) error {
		err := q.each(s.dialect.tableSizes, nil, []any{scanText(&t.Table), scanInt(&t.Bytes), scanInt(&t.Indexes)},
			func() error { sizes.Tables = append(sizes.Tables, t); return nil })
		if err != nil {
			return err
		}
		_, err = q.one(s.dialect.fileSize, nil, scanInt(&sizes.Bytes), scanInt(&sizes.Free))
		return err
	})
	return sizes, s.public(err)
}
