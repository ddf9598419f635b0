package sqlstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// secrets says how rows that are found by the hash of a secret are kept: the
// columns after school_id, the first of which is the hash.
type secrets[T any] struct {
	name    string
	columns []string
	bind    func(*T) []any
	scan    func(*T) []any
}

func (s *secrets[T]) list() string { return strings.Join(s.columns, ", ") }

func addSecret[T any](t *tx, s *secrets[T], row *T) error {
	args := append([]any{int64(t.stamp.School)}, s.bind(row)...)
	if err := t.session.exec(insertText(s.name, s.list(), len(args), 1), args...); err != nil {
		return fmt.Errorf("insert %s: %w", s.name, err)
	}
	return nil
}

// getSecret finds a row by its hash; what names the thing in a refusal.
func getSecret[T any](q *session, s *secrets[T], school lyceum.SchoolID, hash lyceum.KeyHash, what string) (T, error) {
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
	return t.session.one(text+" RETURNING 1", args, scanInt(&one))
}

var codes = secrets[lyceum.AuthorizationCode]{
	name:    "authorization_codes",
	columns: []string{"hash", "grant_id", "redirect_url", "challenge", "created_at", "expires_at", "used_at"},
	bind: func(c *lyceum.AuthorizationCode) []any {
		return []any{c.Hash[:], int64(c.Grant), c.RedirectURL, optText(c.Challenge), micros(c.CreatedAt), micros(c.ExpiresAt), optMicros(c.UsedAt)}
	},
	scan: func(c *lyceum.AuthorizationCode) []any {
		return []any{scanHash(&c.Hash), scanInt(&c.Grant), scanText(&c.RedirectURL), scanOptText(&c.Challenge), scanTime(&c.CreatedAt), scanTime(&c.ExpiresAt), scanOptTime(&c.UsedAt)}
	},
}

var accessTokens = secrets[lyceum.AccessToken]{
	name:    "access_tokens",
	columns: []string{"hash", "grant_id", "scopes", "created_at", "expires_at", "revoked_at"},
	bind: func(a *lyceum.AccessToken) []any {
		return []any{a.Hash[:], int64(a.Grant), a.Scopes.String(), micros(a.CreatedAt), micros(a.ExpiresAt), optMicros(a.RevokedAt)}
	},
	scan: func(a *lyceum.AccessToken) []any {
		return []any{scanHash(&a.Hash), scanInt(&a.Grant), scanScopes(&a.Scopes), scanTime(&a.CreatedAt), scanTime(&a.ExpiresAt), scanOptTime(&a.RevokedAt)}
	},
}

var refreshTokens = secrets[lyceum.RefreshToken]{
	name:    "refresh_tokens",
	columns: []string{"hash", "grant_id", "scopes", "created_at", "used_at", "replaced_at", "replaced_by", "parent", "family"},
	bind: func(r *lyceum.RefreshToken) []any {
		return []any{r.Hash[:], int64(r.Grant), r.Scopes.String(), micros(r.CreatedAt), micros(r.UsedAt), optMicros(r.ReplacedAt), optHash(r.ReplacedBy), optHash(r.Parent), micros(r.Family)}
	},
	scan: func(r *lyceum.RefreshToken) []any {
		return []any{scanHash(&r.Hash), scanInt(&r.Grant), scanScopes(&r.Scopes), scanTime(&r.CreatedAt), scanTime(&r.UsedAt), scanOptTime(&r.ReplacedAt), scanOptHash(&r.ReplacedBy), scanOptHash(&r.Parent), scanTime(&r.Family)}
	},
}

var sessions = secrets[lyceum.Session]{
	name:    "sessions",
	columns: []string{"hash", "user_id", "created_at", "seen_at", "address", "browser"},
	bind: func(s *lyceum.Session) []any {
		return []any{s.Hash[:], int64(s.User), micros(s.CreatedAt), micros(s.SeenAt), s.Address, s.Browser}
	},
	scan: func(s *lyceum.Session) []any {
		return []any{scanHash(&s.Hash), scanInt(&s.User), scanTime(&s.CreatedAt), scanTime(&s.SeenAt), scanText(&s.Address), scanText(&s.Browser)}
	},
}

var links = secrets[lyceum.Link]{
	name:    "links",
	columns: []string{"hash", "user_id", "purpose", "created_at", "expires_at", "used_at"},
	bind: func(l *lyceum.Link) []any {
		return []any{l.Hash[:], int64(l.User), string(l.Purpose), micros(l.CreatedAt), micros(l.ExpiresAt), optMicros(l.UsedAt)}
	},
	scan: func(l *lyceum.Link) []any {
		return []any{scanHash(&l.Hash), scanInt(&l.User), scanText(&l.Purpose), scanTime(&l.CreatedAt), scanTime(&l.ExpiresAt), scanOptTime(&l.UsedAt)}
	},
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
	row, err := getByID(s.reads.single(ctx), school, &users, id, "user")
	return row, s.public(err)
}

// GetUserByEmail implements lyceum.Reader.
func (s *Store) GetUserByEmail(ctx context.Context, school lyceum.SchoolID, email string) (lyceum.User, error) {
	row, err := getUserByEmail(s.reads.single(ctx), school, email)
	return row, s.public(err)
}

func getUserByEmail(q *session, school lyceum.SchoolID, email string) (lyceum.User, error) {
	found, err := rows(q, &users, " WHERE school_id = $1 AND email_key = $2", int64(school), emailKey(email))
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
	row, err := getSecret(s.reads.single(ctx), &sessions, school, hash, "session")
	return row, s.public(err)
}

// GetLink implements lyceum.Reader.
func (s *Store) GetLink(ctx context.Context, school lyceum.SchoolID, hash lyceum.KeyHash) (lyceum.Link, error) {
	row, err := getSecret(s.reads.single(ctx), &links, school, hash, "link")
	return row, s.public(err)
}

// GetCode implements lyceum.Reader.
func (s *Store) GetCode(ctx context.Context, school lyceum.SchoolID, hash lyceum.KeyHash) (lyceum.AuthorizationCode, error) {
	row, err := getSecret(s.reads.single(ctx), &codes, school, hash, "code")
	return row, s.public(err)
}

// GetAccessToken implements lyceum.Reader.
func (s *Store) GetAccessToken(ctx context.Context, school lyceum.SchoolID, hash lyceum.KeyHash) (lyceum.AccessToken, error) {
	row, err := getSecret(s.reads.single(ctx), &accessTokens, school, hash, "access token")
	return row, s.public(err)
}

// GetRefreshToken implements lyceum.Reader.
func (s *Store) GetRefreshToken(ctx context.Context, school lyceum.SchoolID, hash lyceum.KeyHash) (lyceum.RefreshToken, error) {
	row, err := getSecret(s.reads.single(ctx), &refreshTokens, school, hash, "refresh token")
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
	found, err := findByID(t.session, t.stamp.School, &oauthApps, []int32{int32(id)})
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
	if err := insert(t, &grants, []lyceum.Grant{g}); err != nil {
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
	err := t.session.each("UPDATE grants SET revoked_at = "+set+w.String()+" RETURNING grant_id", w.args, []any{scanInt(&id)}, func() error {
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
	return getStanding(t.session, t.stamp.School, grant)
}

// CreateCode implements lyceum.Tx.
func (t *tx) CreateCode(c lyceum.AuthorizationCode) error { return addSecret(t, &codes, &c) }

// SpendCode implements lyceum.Tx. Its condition decides between two who
// present one code at once, on one server or on several.
func (t *tx) SpendCode(hash lyceum.KeyHash, at, remember time.Time) (bool, error) {
	return t.changed("UPDATE authorization_codes SET used_at = $3, expires_at = $4 WHERE school_id = $1 AND hash = $2 AND used_at IS NULL",
		int64(t.stamp.School), hash[:], micros(at), micros(remember))
}

// CreateAccessToken implements lyceum.Tx.
func (t *tx) CreateAccessToken(a lyceum.AccessToken) error { return addSecret(t, &accessTokens, &a) }

// RevokeAccessToken implements lyceum.Tx.
func (t *tx) RevokeAccessToken(hash lyceum.KeyHash, at time.Time) error {
	_, err := t.changed("UPDATE access_tokens SET revoked_at = $3 WHERE school_id = $1 AND hash = $2 AND revoked_at IS NULL",
		int64(t.stamp.School), hash[:], micros(at))
	return err
}

// CreateRefreshToken implements lyceum.Tx.
func (t *tx) CreateRefreshToken(r lyceum.RefreshToken) error { return addSecret(t, &refreshTokens, &r) }

// GetRefreshToken implements lyceum.Tx.
func (t *tx) GetRefreshToken(hash lyceum.KeyHash) (lyceum.RefreshToken, error) {
	return getSecret(t.session, &refreshTokens, t.stamp.School, hash, "refresh token")
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
	return t.session.exec("UPDATE refresh_tokens SET replaced_at = $4 WHERE school_id = $1 AND parent = $2 AND hash <> $3 AND replaced_at IS NULL",
		int64(t.stamp.School), optHash(of.Parent), of.Hash[:], micros(at))
}

// CreateSession implements lyceum.Tx.
func (t *tx) CreateSession(s lyceum.Session) error { return addSecret(t, &sessions, &s) }

// SeeSession implements lyceum.Tx.
func (t *tx) SeeSession(hash lyceum.KeyHash, at time.Time) error {
	_, err := t.changed("UPDATE sessions SET seen_at = $3 WHERE school_id = $1 AND hash = $2", int64(t.stamp.School), hash[:], micros(at))
	return err
}

// EndSession implements lyceum.Tx.
func (t *tx) EndSession(hash lyceum.KeyHash) error {
	return t.session.exec("DELETE FROM sessions WHERE school_id = $1 AND hash = $2", int64(t.stamp.School), hash[:])
}

// EndSessions implements lyceum.Tx.
func (t *tx) EndSessions(user lyceum.UserID) error {
	return t.session.exec("DELETE FROM sessions WHERE school_id = $1 AND user_id = $2", int64(t.stamp.School), int64(user))
}

// HasOtherOwner implements lyceum.Tx.
func (t *tx) HasOtherOwner(than lyceum.UserID) (bool, error) {
	var one int64
	return t.session.one("SELECT 1 FROM users WHERE school_id = $1 AND role = 'owner' AND disabled_at IS NULL AND user_id <> $2 LIMIT 1",
		[]any{int64(t.stamp.School), int64(than)}, scanInt(&one))
}

// EndAllStays implements lyceum.Tx.
func (t *tx) EndAllStays() error {
	for _, text := range []string{
		"DELETE FROM sessions WHERE school_id = $1", "DELETE FROM links WHERE school_id = $1 AND used_at IS NULL",
		"DELETE FROM authorization_codes WHERE school_id = $1 AND used_at IS NULL",
	} {
		if err := t.session.exec(text, int64(t.stamp.School)); err != nil {
			return err
		}
	}
	return nil
}

// CreateLink implements lyceum.Tx.
func (t *tx) CreateLink(l lyceum.Link) error {
	t.entry(lyceum.LinkCreated, int32(l.User))
	return addSecret(t, &links, &l)
}

// SpendLink implements lyceum.Tx.
func (t *tx) SpendLink(hash lyceum.KeyHash, at time.Time) (bool, error) {
	return t.changed("UPDATE links SET used_at = $3 WHERE school_id = $1 AND hash = $2 AND used_at IS NULL", int64(t.stamp.School), hash[:], micros(at))
}

// EndLinks implements lyceum.Tx.
func (t *tx) EndLinks(user lyceum.UserID) error {
	return t.session.exec("DELETE FROM links WHERE school_id = $1 AND user_id = $2 AND used_at IS NULL", int64(t.stamp.School), int64(user))
}

// TrimLinks implements lyceum.Tx.
func (t *tx) TrimLinks(user lyceum.UserID, purpose lyceum.LinkPurpose, newest int) error {
	return t.session.exec(`DELETE FROM links WHERE school_id = $1 AND hash IN (SELECT hash FROM links
		WHERE school_id = $1 AND user_id = $2 AND purpose = $3 AND used_at IS NULL ORDER BY created_at DESC, hash LIMIT `+
		strconv.Itoa(maxTrimmed)+` OFFSET $4)`, int64(t.stamp.School), int64(user), string(purpose), int64(newest))
}

// maxTrimmed is how many links one trim ends at most: a link that is made
// ends one.
const maxTrimmed = 1000
