package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

const schoolColumns = "name, created_at, v2_disabled, on_refund, on_chargeback, on_cancellation, abandon_after, " +
	"on_lapse, grace_days, time_zone, review_comments, owners_second_factor, emails_on, " + retentionColumns

func scanSchool(s *lyceum.School) []any {
	policy := append([]any{scanText(&s.Name), scanTime(&s.CreatedAt), scanBool(&s.V2Disabled)}, scanPolicy(&s.Policy)...)
	policy = append(policy, scanText(&s.TimeZone), scanBool(&s.ReviewsComments), scanBool(&s.OwnersSecondFactor),
		scanInt(&s.Emails))
	return append(policy, scanRetention(&s.Retention)...)
}

func bindSchool(s *lyceum.School) []any {
	policy := append([]any{int64(s.ID), s.Name, micros(s.CreatedAt), flag(s.V2Disabled)}, bindPolicy(s.Policy)...)
	policy = append(policy, string(s.TimeZone), flag(s.ReviewsComments), flag(s.OwnersSecondFactor), int64(s.Emails))
	return append(policy, bindRetention(s.Retention)...)
}

func (s *Store) FindSchools(ctx context.Context) ([]lyceum.School, error) {
	var found []lyceum.School
	var school lyceum.School
	err := s.reads.single(ctx).each("SELECT school_id, "+schoolColumns+" FROM schools ORDER BY school_id", nil,
		append([]any{scanInt(&school.ID)}, scanSchool(&school)...),
		func() error { found = append(found, school); return nil })
	return found, s.public(err)
}

func (v *view) GetSchool() (lyceum.School, error) {
	school := lyceum.School{ID: v.school}
	args := []any{int64(v.school)}
	there, err := v.q.oneIn(scope{likely: likely{by: args}}, "SELECT "+schoolColumns+" FROM schools WHERE school_id = $1",
		args, scanSchool(&school)...)
	if err != nil {
		return lyceum.School{}, v.public(fmt.Errorf("get school: %w", err))
	}
	if !there {
		return lyceum.School{}, lyceum.Errorf(lyceum.NotFound, "there is no school %d", v.school)
	}
	return school, nil
}

func (s *Store) FindRateWindows(ctx context.Context, start time.Time) ([]lyceum.RateWindow, error) {
	var found []lyceum.RateWindow
	var w lyceum.RateWindow
	err := s.reads.single(ctx).each("SELECT school_id, start, used FROM rate_windows WHERE school_id > 0 AND start = $1",
		[]any{micros(start)}, []any{scanInt(&w.School), scanTime(&w.Start), scanInt(&w.Used)},
		func() error { found = append(found, w); return nil })
	return found, s.public(err)
}

func (v *view) Known(seq lyceum.Sequence, ids []int32) ([]int32, error) {
	name, ok := tableOf()[seq]
	if !ok {
		return nil, fmt.Errorf("no table is numbered by %s", seq)
	}
	var found []int32
	var id int32
	wanted := int32Args(ids)
	in := scope{tables: []string{name}, equals: []equal{{string(seq), wanted}}}
	err := findKeys(v.q, in, string(seq), v.school, wanted, []any{scanInt(&id)}, func() { found = append(found, id) })
	if err != nil {
		return nil, v.public(fmt.Errorf("find known %s: %w", name, err))
	}
	return found, nil
}

// rows returns all rows of a query that selects the columns of a table.
func rows[T any](q *session, table *table[T], tail string, args ...any) ([]T, error) {
	var found []T
	r := table.reader()
	defer table.done(r)
	err := q.each("SELECT "+table.list()+" FROM "+table.name+tail, args, r.dest, func() error {
		found = append(found, r.row)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", table.name, err)
	}
	return found, nil
}
