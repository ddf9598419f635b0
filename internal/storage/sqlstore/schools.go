package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

func bindPolicy(p lyceum.SalePolicy) []any {
	return []any{
		string(p.OnRefund), string(p.OnChargeback), string(p.OnCancellation), int64(p.AbandonAfter / time.Minute),
		string(p.OnLapse), int64(p.GraceDays),
	}
}

func scanPolicy(p *lyceum.SalePolicy) []any {
	return []any{
		scanText(&p.OnRefund), scanText(&p.OnChargeback), scanText(&p.OnCancellation),
		scanFunc(func(src any) error {
			minutes, ok := src.(int64)
			if !ok {
				return wrong(src, "minutes")
			}
			p.AbandonAfter = time.Duration(minutes) * time.Minute
			return nil
		}),
		scanText(&p.OnLapse), scanInt(&p.GraceDays),
	}
}

const retentionColumns = "keep_events, keep_attempts, keep_answers, keep_sessions, keep_links, keep_emails"

func bindRetention(r lyceum.Retention) []any {
	return []any{
		int64(r.Events), int64(r.Attempts), int64(r.Answers), int64(r.Sessions), int64(r.Links), int64(r.Emails),
	}
}

func scanRetention(r *lyceum.Retention) []any {
	return []any{
		scanInt(&r.Events), scanInt(&r.Attempts), scanInt(&r.Answers), scanInt(&r.Sessions), scanInt(&r.Links),
		scanInt(&r.Emails),
	}
}

func (t *tx) ChangeSchool(change func(*lyceum.School)) error {
	school, err := t.GetSchool()
	if err != nil {
		return err
	}
	before := school
	if change(&school); school == before {
		return nil
	}
	err = t.q.exec(`UPDATE schools SET v2_disabled = $2, on_refund = $3, on_chargeback = $4, on_cancellation = $5,
		abandon_after = $6, on_lapse = $7, grace_days = $8, time_zone = $9, review_comments = $10,
		keep_events = $11, keep_attempts = $12, keep_answers = $13, keep_sessions = $14, keep_links = $15,
		keep_emails = $16, owners_second_factor = $17, emails_on = $18, name = $19
		WHERE school_id = $1`,
		slices.Concat([]any{int64(t.stamp.School), flag(school.V2Disabled)}, bindPolicy(school.Policy),
			[]any{string(school.TimeZone), flag(school.ReviewsComments)}, bindRetention(school.Retention),
			[]any{flag(school.OwnersSecondFactor), int64(school.Emails), school.Name})...)
	if err != nil {
		return fmt.Errorf("update school: %w", err)
	}
	t.Note(lyceum.SchoolUpdated, int32(t.stamp.School))
	return nil
}

func (s *Store) CreateSchool(ctx context.Context, school lyceum.School, actor string) (lyceum.School, error) {
	if school.ID < 0 {
		return lyceum.School{}, lyceum.Invalidf("a school's id must be from 1 to %d", lyceum.MaxID)
	}
	requested := school.ID
	if school.Policy == (lyceum.SalePolicy{}) {
		school.Policy = lyceum.DefaultSalePolicy()
	}
	if school.Retention == (lyceum.Retention{}) {
		school.Retention = lyceum.DefaultRetention()
	}
	if school.TimeZone == "" {
		school.TimeZone = lyceum.UTC
	}
	err := s.write(ctx, 0, func(q *session) error { // school 0 locks the number of schools
		school.ID = requested
		all := s.newTx(q, lyceum.Stamp{})
		if school.ID == 0 {
			id, err := all.nextID(schoolSequence)
			if err != nil {
				return err
			}
			school.ID = lyceum.SchoolID(id)
		} else if err := all.raise(schoolSequence, int32(school.ID)); err != nil {
			return err
		}
		values := bindSchool(&school)
		err := q.exec("INSERT INTO schools (school_id, "+schoolColumns+") VALUES "+placeholders(1, len(values)), values...)
		if err != nil {
			if s.dialect.fault(err) == faultConflict {
				return lyceum.Errorf(lyceum.Conflict, "school %d already exists", school.ID)
			}
			return fmt.Errorf("insert school: %w", err)
		}
		t := s.newTx(q, lyceum.Stamp{School: school.ID, At: school.CreatedAt, Actor: actor})
		t.Note(lyceum.SchoolCreated, int32(school.ID))
		var last int64 // unused
		if err := t.finish(&last); err != nil {
			return err
		}
		return all.finish(&last) // it has no entries and so cannot fail
	})
	if err != nil {
		return lyceum.School{}, err
	}
	return school, nil
}
