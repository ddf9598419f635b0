package sqlstore

import (
	"context"
	"fmt"
	"strconv"

	"github.com/lyceum-school/lyceum"
)

// Sweep deletes a few rows at a time, so that no writer waits for long.
func (s *Store) Sweep(ctx context.Context, school lyceum.SchoolID, e lyceum.Expired) error {
	for _, sweep := range []struct {
		table, cond string
		args        []any
	}{
		{"authorization_codes", "expires_at < $2", []any{micros(e.Until)}},
		{"access_tokens", "expires_at < $2", []any{micros(e.Until)}},
		{"refresh_tokens", "used_at < $2", []any{micros(e.UsedUntil)}},
		{"refresh_tokens", "family < $2", []any{micros(e.FamilyUntil)}},
		{"sessions", "seen_at < $2", []any{micros(e.SeenUntil)}},
		{"sessions", "created_at < $2", []any{micros(e.BegunUntil)}},
		{"links", "expires_at < $2", []any{micros(e.Until)}},
		{"answers", "created_at < $2", []any{micros(e.AnswerUntil)}},
	} {
		text := "DELETE FROM " + sweep.table + " WHERE school_id = $1 AND hash IN (SELECT hash FROM " + sweep.table +
			" WHERE school_id = $1 AND " + sweep.cond + " LIMIT " + strconv.Itoa(sweepSize) + ") RETURNING 1"
		for more := true; more; {
			err := s.write(ctx, school, func(q *session) error {
				n := 0
				var one int64
				err := q.each(text, append([]any{int64(school)}, sweep.args...), []any{scanInt(&one)},
					func() error { n++; return nil })
				more = n == sweepSize
				return err
			})
			if err != nil {
				return fmt.Errorf("sweep %s: %w", sweep.table, err)
			}
		}
	}
	return nil
}

const sweepSize = 500
