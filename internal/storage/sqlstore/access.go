package sqlstore

import (
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

func (t *tx) RevokeGrants(f lyceum.GrantFilter, most int, at time.Time) (revoked int, err error) {
	f.Unrevoked = true
	w := grants.where(&t.view, f)
	if most > 0 {
		some := "SELECT grant_id FROM grants" + w.String() + " ORDER BY grant_id LIMIT " + w.arg(int64(most))
		w.conds = nil
		w.and("school_id = ?", int64(t.school))
		w.and("grant_id IN (" + some + ")")
	}
	set := w.arg(micros(at))
	text := "UPDATE grants SET revoked_at = " + set + w.String() + " RETURNING grant_id"
	if revoked, err = t.noteEach(lyceum.GrantRevoked, text, w.args); err != nil {
		return 0, fmt.Errorf("revoke grants: %w", err)
	}
	return revoked, nil
}

// SpendCode is decided by its condition between two who present one code at
// once, on one server or on several.
func (t *tx) SpendCode(hash lyceum.KeyHash, at, remember time.Time) (bool, error) {
	return t.changed(`UPDATE authorization_codes SET used_at = $3, expires_at = $4
		WHERE school_id = $1 AND hash = $2 AND used_at IS NULL`, int64(t.school), hash[:], micros(at), micros(remember))
}

// changed runs an update and reports whether a row was changed.
func (t *tx) changed(text string, args ...any) (bool, error) {
	var one int64
	return t.q.one(text+" RETURNING 1", args, scanInt(&one))
}

func (t *tx) SignedIn(user lyceum.UserID, from string, at time.Time) error {
	return t.q.exec("UPDATE users SET last_sign_in_at = $3, last_sign_in_ip = $4 WHERE school_id = $1 AND user_id = $2",
		int64(t.school), int64(user), micros(at), from)
}
