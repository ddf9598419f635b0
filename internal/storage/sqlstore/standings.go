package sqlstore

import (
	"fmt"

	"github.com/lyceum-school/lyceum"
)

// standings finds secrets of a noun with what they stand for.
type standings[T, F any] struct {
	secrets *noun[lyceum.KeyHash, T, F]
	text    string
}

var (
	codeStandings    = standingsOf(codes)
	accessStandings  = standingsOf(accessTokens)
	refreshStandings = standingsOf(refreshTokens)
)

func standingsOf[T, F any](secrets *noun[lyceum.KeyHash, T, F]) *standings[T, F] {
	return &standings[T, F]{secrets, "SELECT " + secrets.of("s") + ", " + grants.of("g") + ", " + oauthApps.of("a") +
		", " + users.of("u") +
		" FROM " + secrets.name + ` s
		JOIN grants g ON g.school_id = s.school_id AND g.grant_id = s.grant_id
		JOIN oauth_apps a ON a.school_id = g.school_id AND a.oauth_app_id = g.oauth_app_id
		JOIN users u ON u.school_id = g.school_id AND u.user_id = g.user_id
		WHERE s.school_id = $1 AND s.hash = $2`}
}

func (s *standings[T, F]) get(v *view, hash lyceum.KeyHash) (row T, st lyceum.Standing, err error) {
	dest := append(s.secrets.scan(&row), grants.scan(&st.Grant)...)
	dest = append(append(dest, oauthApps.scan(&st.App)...), users.scan(&st.User)...)
	found, err := v.q.one(s.text, []any{int64(v.school), hash[:]}, dest...)
	switch {
	case err != nil:
		err = v.public(fmt.Errorf("get standing of %s: %w", s.secrets.what, err))
	case !found:
		err = s.secrets.missing(hash)
	}
	return row, st, err
}

func (v *view) GetCodeStanding(hash lyceum.KeyHash) (lyceum.AuthorizationCode, lyceum.Standing, error) {
	return codeStandings.get(v, hash)
}

func (v *view) GetAccessStanding(hash lyceum.KeyHash) (lyceum.AccessToken, lyceum.Standing, error) {
	return accessStandings.get(v, hash)
}

func (v *view) GetRefreshStanding(hash lyceum.KeyHash) (lyceum.RefreshToken, lyceum.Standing, error) {
	return refreshStandings.get(v, hash)
}
