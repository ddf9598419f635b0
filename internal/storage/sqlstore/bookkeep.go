package sqlstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// keptAtOnce is how many uses or counts one write stores at most.
const keptAtOnce = 512

// use records when a row of some table was last used.
type use struct {
	school lyceum.SchoolID
	id     int32
	at     time.Time
}

func (s *Store) Bookkeep(ctx context.Context, b lyceum.Bookkeeping) error {
	var keys, grants, apps []use
	for _, u := range b.KeyUses {
		keys = append(keys, use{u.School, int32(u.Key), u.At})
	}
	for _, u := range b.GrantUses {
		grants = append(grants, use{u.School, int32(u.Grant), u.At})
	}
	for _, u := range b.AppUses {
		apps = append(apps, use{u.School, int32(u.App), u.At})
	}
	if err := keepUses(ctx, s, "api_keys", "api_key_id", keys); err != nil {
		return err
	}
	if err := keepUses(ctx, s, "grants", "grant_id", grants); err != nil {
		return err
	}
	if err := keepUses(ctx, s, "oauth_apps", "oauth_app_id", apps); err != nil {
		return err
	}
	return inParts(ctx, s, b.RateWindows, func(q *session, windows []lyceum.RateWindow) error {
		args := make([]any, 0, 3*len(windows))
		for _, w := range windows {
			args = append(args, int64(w.School), micros(w.Start), w.Used)
		}
		err := q.exec(insertText("rate_windows", "start, used", 3, len(windows))+
			" ON CONFLICT (school_id) DO UPDATE SET start = excluded.start, used = excluded.used", args...)
		if err != nil {
			return fmt.Errorf("keep rate windows: %w", err)
		}
		return nil
	})
}

// keepUses stores when rows were last used, unless a later use is stored already.
func keepUses(ctx context.Context, s *Store, table, id string, uses []use) error {
	return inParts(ctx, s, uses, func(q *session, uses []use) error {
		args := make([]any, 0, 3*len(uses))
		for _, u := range uses {
			args = append(args, int64(u.school), int64(u.id), micros(u.at))
		}
		err := q.exec("WITH used (school, id, at) AS (VALUES "+usedValues(len(uses))+") UPDATE "+table+
			" SET last_used_at = used.at FROM used WHERE "+table+".school_id = used.school AND "+table+"."+id+
			" = used.id AND (last_used_at IS NULL OR last_used_at < used.at)", args...)
		if err != nil {
			return fmt.Errorf("keep uses in %s: %w", table, err)
		}
		return nil
	})
}

// usedValues returns n rows of placeholders, cast to the types of a use.
func usedValues(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		for k, kind := range [...]string{"INTEGER", "INTEGER", "BIGINT"} {
			b.WriteString([...]string{"(", ",", ","}[k] + "CAST($" + strconv.Itoa(3*i+k+1) + " AS " + kind + ")")
		}
		b.WriteByte(')')
	}
	return b.String()
}

// inParts writes rows that belong to no school: keptAtOnce per write, and a chunk per
// statement.
func inParts[T any](ctx context.Context, s *Store, rows []T, do func(q *session, chunk []T) error) error {
	for len(rows) > 0 {
		part := rows[:min(keptAtOnce, len(rows))]
		err := s.write(ctx, 0, func(q *session) error {
			for rest := part; len(rest) > 0; {
				n := chunkOf(len(rest))
				if err := do(q, rest[:n]); err != nil {
					return err
				}
				rest = rest[n:]
			}
			return nil
		})
		if err != nil {
			return err
		}
		rows = rows[len(part):]
	}
	return nil
}
