package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

const schoolColumns = "name, created_at, v2_disabled, on_refund, on_chargeback, on_cancellation, abandon_after, time_zone"

func scanSchool(s *lyceum.School) []any {
	policy := append([]any{scanText(&s.Name), scanTime(&s.CreatedAt), scanBool(&s.V2Disabled)}, scanPolicy(&s.Policy)...)
	return append(policy, scanText(&s.TimeZone))
}

func bindSchool(s *lyceum.School) []any {
	policy := append([]any{int64(s.ID), s.Name, micros(s.CreatedAt), flag(s.V2Disabled)}, bindPolicy(s.Policy)...)
	return append(policy, string(s.TimeZone))
}

// FindSchools implements lyceum.Reader.
func (s *Store) FindSchools(ctx context.Context) ([]lyceum.School, error) {
	var found []lyceum.School
	var school lyceum.School
	err := s.reads.single(ctx).each("SELECT school_id, "+schoolColumns+" FROM schools ORDER BY school_id", nil,
		append([]any{scanInt(&school.ID)}, scanSchool(&school)...),
		func() error { found = append(found, school); return nil })
	return found, s.public(err)
}

// GetSchool implements lyceum.Reader.
func (s *Store) GetSchool(ctx context.Context, id lyceum.SchoolID) (lyceum.School, error) {
	school := lyceum.School{ID: id}
	there, err := s.reads.single(ctx).one("SELECT "+schoolColumns+" FROM schools WHERE school_id = $1", []any{int64(id)}, scanSchool(&school)...)
	if err != nil {
		return lyceum.School{}, s.public(fmt.Errorf("get school: %w", err))
	}
	if !there {
		return lyceum.School{}, lyceum.Errorf(lyceum.NotFound, "there is no school %d", id)
	}
	return school, nil
}

// FindAPIKeys implements lyceum.Reader.
func (s *Store) FindAPIKeys(ctx context.Context, school lyceum.SchoolID) ([]lyceum.APIKey, error) {
	found, err := all(s.reads.single(ctx), &apiKeys.table, school)
	return found, s.public(err)
}

// FindOAuthApps implements lyceum.Reader.
func (s *Store) FindOAuthApps(ctx context.Context, school lyceum.SchoolID) ([]lyceum.OAuthApp, error) {
	found, err := all(s.reads.single(ctx), &oauthApps.table, school)
	return found, s.public(err)
}

// GetAPIKeyByHash implements lyceum.Reader.
func (s *Store) GetAPIKeyByHash(ctx context.Context, school lyceum.SchoolID, hash lyceum.KeyHash) (lyceum.APIKey, error) {
	var key lyceum.APIKey
	there, err := s.reads.single(ctx).one("SELECT "+apiKeys.list()+" FROM api_keys WHERE school_id = $1 AND hash = $2",
		[]any{int64(school), hash[:]}, apiKeys.scan(&key)...)
	if err != nil {
		return lyceum.APIKey{}, s.public(fmt.Errorf("get API key: %w", err))
	}
	if !there {
		return lyceum.APIKey{}, lyceum.Errorf(lyceum.NotFound, "there is no such API key")
	}
	return key, nil
}

// FindRateWindows implements lyceum.Reader.
func (s *Store) FindRateWindows(ctx context.Context, start time.Time) ([]lyceum.RateWindow, error) {
	var found []lyceum.RateWindow
	var w lyceum.RateWindow
	err := s.reads.single(ctx).each("SELECT school_id, start, used FROM rate_windows WHERE school_id > 0 AND start = $1",
		[]any{micros(start)}, []any{scanInt(&w.School), scanTime(&w.Start), scanInt(&w.Used)},
		func() error { found = append(found, w); return nil })
	return found, s.public(err)
}

// EachUser implements lyceum.Reader.
func (s *Store) EachUser(ctx context.Context, school lyceum.SchoolID, visit func(*lyceum.User) error) error {
	return eachRow(ctx, s, &users.table, school, visit)
}

// Known implements lyceum.Reader.
func (s *Store) Known(ctx context.Context, school lyceum.SchoolID, seq lyceum.Sequence, ids []int32) ([]int32, error) {
	found, err := known(s.reads.single(ctx), school, seq, ids)
	return found, s.public(err)
}

// FindUsers implements lyceum.Reader.
func (s *Store) FindUsers(ctx context.Context, school lyceum.SchoolID, ids []lyceum.UserID) (map[lyceum.UserID]lyceum.User, error) {
	found, err := findKeyed(s.reads.single(ctx), school, &users.table, ids)
	return found, s.public(err)
}

// FindUserIDsByEmail implements lyceum.Reader.
func (s *Store) FindUserIDsByEmail(ctx context.Context, school lyceum.SchoolID, emails []string) (map[string]lyceum.UserID, error) {
	found, err := findUserIDsByEmail(s.reads.single(ctx), school, emails)
	return found, s.public(err)
}

// all gives every row of a small table of one school by ascending id.
func all[T any](q *session, table *table[T], school lyceum.SchoolID) ([]T, error) {
	var found []T
	var row T
	err := q.each("SELECT "+table.list()+" FROM "+table.name+" WHERE school_id = $1 ORDER BY "+table.columns[0],
		[]any{int64(school)}, table.scan(&row), func() error { found = append(found, row); return nil })
	return found, err
}

// eachRow streams a table of one school by ascending id.
func eachRow[T any](ctx context.Context, s *Store, table *table[T], school lyceum.SchoolID, visit func(*T) error) error {
	err := s.reads.snapshot(ctx, func(q *session) error {
		var row T
		return q.each("SELECT "+table.list()+" FROM "+table.name+" WHERE school_id = $1 ORDER BY "+table.columns[0],
			[]any{int64(school)}, table.scan(&row), func() error {
				if err := ctx.Err(); err != nil {
					return err
				}
				return visit(&row)
			})
	})
	return s.public(err)
}

func known(q *session, school lyceum.SchoolID, seq lyceum.Sequence, ids []int32) ([]int32, error) {
	name, ok := tableOf[seq]
	if !ok {
		return nil, fmt.Errorf("no table is numbered by %s", seq)
	}
	var found []int32
	var id int32
	err := inChunks(q, "SELECT "+string(seq)+" FROM "+name+" WHERE school_id = $1 AND "+string(seq)+" IN ",
		school, int32Args(ids), []any{scanInt(&id)}, func() { found = append(found, id) })
	if err != nil {
		return nil, fmt.Errorf("find known %s: %w", name, err)
	}
	return found, nil
}

func findUserIDsByEmail(q *session, school lyceum.SchoolID, emails []string) (map[string]lyceum.UserID, error) {
	found := map[string]lyceum.UserID{}
	keys := make([]any, len(emails))
	for i, email := range emails {
		keys[i] = emailKey(email)
	}
	var id lyceum.UserID
	var key string
	err := inChunks(q, "SELECT user_id, email_key FROM users WHERE school_id = $1 AND email_key IN ",
		school, keys, []any{scanInt(&id), scanText(&key)}, func() { found[key] = id })
	if err != nil {
		return nil, fmt.Errorf("find users by email: %w", err)
	}
	return found, nil
}
