package sqlstore

import (
	"fmt"

	"github.com/lyceum-school/lyceum"
)

// standings finds the secrets of a noun with their grant, app and user.
type standings[T, F any] struct {
	secrets *noun[lyceum.KeyHash, T, F]
	text    string
}

var (
	_ = standingsOf(&tables.AccessStandings, accessTokens)
	_ = standingsOf(&tables.CodeStandings, codes)
	_ = standingsOf(&tables.RefreshStandings, refreshTokens)
)

// standingsOf puts the standings of a noun in their place in tables.
func standingsOf[T, F any](place *lyceum.Standings[T], secrets *noun[lyceum.KeyHash, T, F]) *standings[T, F] {
	s := &standings[T, F]{secrets, "SELECT " + secrets.of("s") + ", " + grants.of("g") + ", " + oauthApps.of("a") +
		", " + users.of("u") +
		" FROM " + secrets.name + ` s
		JOIN grants g ON g.school_id = s.school_id AND g.grant_id = s.grant_id
		JOIN oauth_apps a ON a.school_id = g.school_id AND a.oauth_app_id = g.oauth_app_id
		JOIN users u ON u.school_id = g.school_id AND u.user_id = g.user_id
		WHERE s.school_id = $1 AND s.hash = $2`}
	*place = s
	return s
}

func (s *standings[T, F]) Get(from lyceum.Source, hash lyceum.KeyHash) (row T, st lyceum.Standing, err error) {
	v := viewOf(from)
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
