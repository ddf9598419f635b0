package sqlstore

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
)

func addSecret[T any](t *tx, s *table[T], row *T) error {
	args := append([]any{int64(t.stamp.School)}, s.bind(row)...)
	if err := t.q.exec(insertText(s.name, s.list(), len(args), 1), args...); err != nil {
		return fmt.Errorf("insert %s: %w", s.name, err)
	}
	return nil
}

// getSecret finds a row by its hash; what names the thing in a refusal.
func getSecret[T any](q *session, s *table[T], school lyceum.SchoolID, hash lyceum.KeyHash, what string) (T, error) {
	var row T
	there, err := q.one("SELECT "+s.list()+" FROM "+s.name+" WHERE school_id = $1 AND hash = $2", []any{int64(school), hash[:]}, s.scan(&row)...)
	if err != nil {
		return row, fmt.Errorf("get %s: %w", what, err)
	}
	if !there {
		return row, lyceum.Errorf(lyceum.NotFound, "there is no such %s", what)
	}
	return row, nil
}

// changed runs an update and tells whether a row was changed.
func (t *tx) changed(text string, args ...any) (bool, error) {
	var one int64
	return t.q.one(text+" RETURNING 1", args, scanInt(&one))
}

// GetOAuthAppByClientID implements lyceum.Reader.
func (s *Store) GetOAuthAppByClientID(ctx context.Context, school lyceum.SchoolID, clientID string) (lyceum.OAuthApp, error) {
	var app lyceum.OAuthApp
	there, err := s.reads.single(ctx).one("SELECT "+oauthApps.list()+" FROM oauth_apps WHERE school_id = $1 AND client_id = $2 AND deleted_at IS NULL",
		[]any{int64(school), clientID}, oauthApps.scan(&app)...)
	if err != nil {
		return lyceum.OAuthApp{}, s.public(fmt.Errorf("get OAuth app: %w", err))
	}
	if !there {
		return lyceum.OAuthApp{}, lyceum.Errorf(lyceum.NotFound, "there is no such app")
	}
	return app, nil
}

// GetUser implements lyceum.Reader.
func (s *Store) GetUser(ctx context.Context, school lyceum.SchoolID, id lyceum.UserID) (lyceum.User, error) {
	row, err := getByID(s.reads.single(ctx), school, &users.table, id, "user")
	return row, s.public(err)
}

// GetUserByEmail implements lyceum.Reader.
func (s *Store) GetUserByEmail(ctx context.Context, school lyceum.SchoolID, email string) (lyceum.User, error) {
	row, err := getUserByEmail(s.reads.single(ctx), school, email)
	return row, s.public(err)
}

func getUserByEmail(q *session, school lyceum.SchoolID, email string) (lyceum.User, error) {
	found, err := rows(q, &users.table, " WHERE school_id = $1 AND email_key = $2", int64(school), emailKey(email))
	if err == nil && len(found) == 0 {
		err = lyceum.Errorf(lyceum.NotFound, "there is no such user")
	}
	if err != nil {
		return lyceum.User{}, err
	}
	return found[0], nil
}

// GetSession implements lyceum.Reader.
func (s *Store) GetSession(ctx context.Context, school lyceum.SchoolID, hash lyceum.KeyHash) (lyceum.Session, error) {
	row, err := getSecret(s.reads.single(ctx), &sessions.table, school, hash, "session")
	return row, s.public(err)
}

// GetLink implements lyceum.Reader.
func (s *Store) GetLink(ctx context.Context, school lyceum.SchoolID, hash lyceum.KeyHash) (lyceum.Link, error) {
	row, err := getSecret(s.reads.single(ctx), &links.table, school, hash, "link")
	return row, s.public(err)
}

// GetCode implements lyceum.Reader.
func (s *Store) GetCode(ctx context.Context, school lyceum.SchoolID, hash lyceum.KeyHash) (lyceum.AuthorizationCode, error) {
	row, err := getSecret(s.reads.single(ctx), &codes.table, school, hash, "code")
	return row, s.public(err)
}

// GetAccessToken implements lyceum.Reader.
func (s *Store) GetAccessToken(ctx context.Context, school lyceum.SchoolID, hash lyceum.KeyHash) (lyceum.AccessToken, error) {
	row, err := getSecret(s.reads.single(ctx), &accessTokens.table, school, hash, "access token")
	return row, s.public(err)
}

// GetRefreshToken implements lyceum.Reader.
func (s *Store) GetRefreshToken(ctx context.Context, school lyceum.SchoolID, hash lyceum.KeyHash) (lyceum.RefreshToken, error) {
	row, err := getSecret(s.reads.single(ctx), &refreshTokens.table, school, hash, "refresh token")
	return row, s.public(err)
}

// GetStanding implements lyceum.Reader: one statement, because every request
// of an app asks for it.
func (s *Store) GetStanding(ctx context.Context, school lyceum.SchoolID, grant lyceum.GrantID) (lyceum.Standing, error) {
	standing, err := getStanding(s.reads.single(ctx), school, grant)
	return standing, s.public(err)
}

func getStanding(q *session, school lyceum.SchoolID, grant lyceum.GrantID) (lyceum.Standing, error) {
	var st lyceum.Standing
	dest := append(grants.scan(&st.Grant), oauthApps.scan(&st.App)...)
	dest = append(dest, users.scan(&st.User)...)
	there, err := q.one("SELECT "+grants.of("g")+", "+oauthApps.of("a")+", "+users.of("u")+` FROM grants g
		JOIN oauth_apps a ON a.school_id = g.school_id AND a.oauth_app_id = g.oauth_app_id
		JOIN users u ON u.school_id = g.school_id AND u.user_id = g.user_id
		WHERE g.school_id = $1 AND g.grant_id = $2`, []any{int64(school), int64(grant)}, dest...)
	if err != nil {
		return lyceum.Standing{}, fmt.Errorf("get grant: %w", err)
	}
	if !there {
		return lyceum.Standing{}, lyceum.Errorf(lyceum.NotFound, "there is no grant %d", grant)
	}
	return st, nil
}

// FindGrants implements lyceum.Reader.
func (s *Store) FindGrants(ctx context.Context, school lyceum.SchoolID, user lyceum.UserID) ([]lyceum.Grant, error) {
	var found []lyceum.Grant
	var g lyceum.Grant
	err := s.reads.single(ctx).each("SELECT "+grants.list()+" FROM grants WHERE school_id = $1 AND user_id = $2 AND revoked_at IS NULL ORDER BY grant_id",
		[]any{int64(school), int64(user)}, grants.scan(&g), func() error { found = append(found, g); return nil })
	return found, s.public(err)
}

// FindSessions implements lyceum.Reader.
func (s *Store) FindSessions(ctx context.Context, school lyceum.SchoolID, user lyceum.UserID) ([]lyceum.Session, error) {
	var found []lyceum.Session
	var one lyceum.Session
	err := s.reads.single(ctx).each("SELECT "+sessions.list()+" FROM sessions WHERE school_id = $1 AND user_id = $2 ORDER BY created_at, hash",
		[]any{int64(school), int64(user)}, sessions.scan(&one), func() error { found = append(found, one); return nil })
	return found, s.public(err)
}

// CountGrants implements lyceum.Reader.
func (s *Store) CountGrants(ctx context.Context, school lyceum.SchoolID) (map[lyceum.OAuthAppID]int, error) {
	counts := map[lyceum.OAuthAppID]int{}
	var app lyceum.OAuthAppID
	var n int64
	err := s.reads.single(ctx).each("SELECT oauth_app_id, count(*) FROM grants WHERE school_id = $1 AND revoked_at IS NULL GROUP BY oauth_app_id",
		[]any{int64(school)}, []any{scanInt(&app), scanInt(&n)}, func() error { counts[app] = int(n); return nil })
	return counts, s.public(err)
}

// Sweep implements lyceum.Store: a few rows at a time, so that no writer waits
// for long.
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
				err := q.each(text, append([]any{int64(school)}, sweep.args...), []any{scanInt(&one)}, func() error { n++; return nil })
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

// GetOAuthApp implements lyceum.Tx.
func (t *tx) GetOAuthApp(id lyceum.OAuthAppID) (lyceum.OAuthApp, error) {
	found, err := findByID(t.q, t.stamp.School, &oauthApps.table, []int32{int32(id)})
	if err != nil {
		return lyceum.OAuthApp{}, err
	}
	app, there := found[int32(id)]
	if !there {
		return lyceum.OAuthApp{}, lyceum.Errorf(lyceum.NotFound, "there is no OAuth app %d in school %d", id, t.stamp.School)
	}
	return app, nil
}

// CreateGrant implements lyceum.Tx.
func (t *tx) CreateGrant(g lyceum.Grant) error {
	if err := insert(t, &grants.table, []lyceum.Grant{g}); err != nil {
		return err
	}
	return t.raise(grants.seq, int32(g.ID))
}

// RevokeGrants implements lyceum.Tx.
func (t *tx) RevokeGrants(which lyceum.GrantFilter, at time.Time) (int, error) {
	w := &where{}
	w.and("school_id = ?", int64(t.stamp.School))
	w.and("revoked_at IS NULL")
	if which.Grant.Present {
		w.and("grant_id = ?", int64(which.Grant.Value))
	}
	if which.App.Present {
		w.and("oauth_app_id = ?", int64(which.App.Value))
	}
	if which.User.Present {
		w.and("user_id = ?", int64(which.User.Value))
	}
	n := 0
	var id int32
	if which.Limit > 0 {
		some := "SELECT grant_id FROM grants" + w.String() + " ORDER BY grant_id LIMIT " + w.arg(int64(which.Limit))
		w.conds = nil
		w.and("school_id = ?", int64(t.stamp.School))
		w.and("grant_id IN (" + some + ")")
	}
	set := w.arg(micros(at))
	err := t.q.each("UPDATE grants SET revoked_at = "+set+w.String()+" RETURNING grant_id", w.args, []any{scanInt(&id)}, func() error {
		n++
		t.entry(lyceum.GrantRevoked, id)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("revoke grants: %w", err)
	}
	return n, nil
}

// GetStanding implements lyceum.Tx.
func (t *tx) GetStanding(grant lyceum.GrantID) (lyceum.Standing, error) {
	return getStanding(t.q, t.stamp.School, grant)
}

// CreateCode implements lyceum.Tx.
func (t *tx) CreateCode(c lyceum.AuthorizationCode) error { return addSecret(t, &codes.table, &c) }

// SpendCode implements lyceum.Tx. Its condition decides between two who
// present one code at once, on one server or on several.
func (t *tx) SpendCode(hash lyceum.KeyHash, at, remember time.Time) (bool, error) {
	return t.changed("UPDATE authorization_codes SET used_at = $3, expires_at = $4 WHERE school_id = $1 AND hash = $2 AND used_at IS NULL",
		int64(t.stamp.School), hash[:], micros(at), micros(remember))
}

// CreateAccessToken implements lyceum.Tx.
func (t *tx) CreateAccessToken(a lyceum.AccessToken) error {
	return addSecret(t, &accessTokens.table, &a)
}

// RevokeAccessToken implements lyceum.Tx.
func (t *tx) RevokeAccessToken(hash lyceum.KeyHash, at time.Time) error {
	_, err := t.changed("UPDATE access_tokens SET revoked_at = $3 WHERE school_id = $1 AND hash = $2 AND revoked_at IS NULL",
		int64(t.stamp.School), hash[:], micros(at))
	return err
}

// CreateRefreshToken implements lyceum.Tx.
func (t *tx) CreateRefreshToken(r lyceum.RefreshToken) error {
	return addSecret(t, &refreshTokens.table, &r)
}

// GetRefreshToken implements lyceum.Tx.
func (t *tx) GetRefreshToken(hash lyceum.KeyHash) (lyceum.RefreshToken, error) {
	return getSecret(t.q, &refreshTokens.table, t.stamp.School, hash, "refresh token")
}

// ReplaceRefreshToken implements lyceum.Tx.
func (t *tx) ReplaceRefreshToken(old, by lyceum.KeyHash, at time.Time) (bool, error) {
	return t.changed("UPDATE refresh_tokens SET replaced_at = $3, replaced_by = $4, used_at = $3 WHERE school_id = $1 AND hash = $2 AND replaced_at IS NULL",
		int64(t.stamp.School), old[:], micros(at), by[:])
}

// UseRefreshToken implements lyceum.Tx.
func (t *tx) UseRefreshToken(hash lyceum.KeyHash, at time.Time) error {
	_, err := t.changed("UPDATE refresh_tokens SET used_at = $3 WHERE school_id = $1 AND hash = $2", int64(t.stamp.School), hash[:], micros(at))
	return err
}

// EndSiblings implements lyceum.Tx.
func (t *tx) EndSiblings(of lyceum.RefreshToken, at time.Time) error {
	return t.q.exec("UPDATE refresh_tokens SET replaced_at = $4 WHERE school_id = $1 AND parent = $2 AND hash <> $3 AND replaced_at IS NULL",
		int64(t.stamp.School), optHash(of.Parent), of.Hash[:], micros(at))
}

// CreateSession implements lyceum.Tx.
func (t *tx) CreateSession(s lyceum.Session) error { return addSecret(t, &sessions.table, &s) }

// SeeSession implements lyceum.Tx.
func (t *tx) SeeSession(hash lyceum.KeyHash, at time.Time) error {
	_, err := t.changed("UPDATE sessions SET seen_at = $3 WHERE school_id = $1 AND hash = $2", int64(t.stamp.School), hash[:], micros(at))
	return err
}

// EndSession implements lyceum.Tx.
func (t *tx) EndSession(hash lyceum.KeyHash) error {
	return t.q.exec("DELETE FROM sessions WHERE school_id = $1 AND hash = $2", int64(t.stamp.School), hash[:])
}

// EndSessions implements lyceum.Tx.
func (t *tx) EndSessions(user lyceum.UserID) error {
	return t.q.exec("DELETE FROM sessions WHERE school_id = $1 AND user_id = $2", int64(t.stamp.School), int64(user))
}

// HasOtherOwner implements lyceum.Tx.
func (t *tx) HasOtherOwner(than lyceum.UserID) (bool, error) {
	var one int64
	return t.q.one("SELECT 1 FROM users WHERE school_id = $1 AND role = 'owner' AND disabled_at IS NULL AND user_id <> $2 LIMIT 1",
		[]any{int64(t.stamp.School), int64(than)}, scanInt(&one))
}

// EndAllStays implements lyceum.Tx.
func (t *tx) EndAllStays() error {
	for _, text := range []string{
		"DELETE FROM sessions WHERE school_id = $1", "DELETE FROM links WHERE school_id = $1 AND used_at IS NULL",
		"DELETE FROM authorization_codes WHERE school_id = $1 AND used_at IS NULL",
	} {
		if err := t.q.exec(text, int64(t.stamp.School)); err != nil {
			return err
		}
	}
	return nil
}

// CreateLink implements lyceum.Tx.
func (t *tx) CreateLink(l lyceum.Link) error {
	t.entry(lyceum.LinkCreated, int32(l.User))
	return addSecret(t, &links.table, &l)
}

// SpendLink implements lyceum.Tx.
func (t *tx) SpendLink(hash lyceum.KeyHash, at time.Time) (bool, error) {
	return t.changed("UPDATE links SET used_at = $3 WHERE school_id = $1 AND hash = $2 AND used_at IS NULL", int64(t.stamp.School), hash[:], micros(at))
}

// EndLinks implements lyceum.Tx.
func (t *tx) EndLinks(user lyceum.UserID) error {
	return t.q.exec("DELETE FROM links WHERE school_id = $1 AND user_id = $2 AND used_at IS NULL", int64(t.stamp.School), int64(user))
}

// TrimLinks implements lyceum.Tx.
func (t *tx) TrimLinks(user lyceum.UserID, purpose lyceum.LinkPurpose, newest int) error {
	return t.q.exec(`DELETE FROM links WHERE school_id = $1 AND hash IN (SELECT hash FROM links
		WHERE school_id = $1 AND user_id = $2 AND purpose = $3 AND used_at IS NULL ORDER BY created_at DESC, hash LIMIT `+
		strconv.Itoa(maxTrimmed)+` OFFSET $4)`, int64(t.stamp.School), int64(user), string(purpose), int64(newest))
}

// maxTrimmed is how many links one trim ends at most: a link that is made
// ends one.
const maxTrimmed = 1000
