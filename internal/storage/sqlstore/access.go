package sqlstore

import (
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// revokeGrant does not touch last_used_at, which may be written at the same time.
const revokeGrant = "UPDATE grants SET revoked_at = $3 WHERE school_id = $1 AND grant_id = $2"

func (t *tx) RevokeGrants(f lyceum.GrantFilter, most int, at time.Time) (revoked int, err error) {
	f.Unrevoked = true
	some, err := grants.some(&t.view, f, 1+maxCleared)
	if err != nil {
		return 0, fmt.Errorf("find grants to revoke: %w", err)
	}
	if len(some) > maxCleared || most > 0 && len(some) > most {
		return t.revokeMany(grants.where(&t.view, f), most, at)
	}
	for i := range some {
		w := edit{before: grants.bind(&some[i]), update: revokeGrant, takes: 2}
		some[i].RevokedAt = lyceum.Some(at)
		w.values = grants.bind(&some[i])
		if err := update(t, &grants.table, &some[i], w); err != nil {
			return i, err
		}
	}
	return len(some), nil
}

// revokeMany revokes grants with a single statement.
func (t *tx) revokeMany(w *where, most int, at time.Time) (revoked int, err error) {
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

// SpendCode reads the code before it changes it, which is safe because a school's changes run
// one after the other, whether on one server or on several.
func (t *tx) SpendCode(hash lyceum.KeyHash, at, remember time.Time) (bool, error) {
	code, found, err := codes.get(&t.view, hash)
	if err != nil || !found || code.UsedAt.Present {
		return false, err
	}
	code.UsedAt, code.ExpiresAt = lyceum.Some(at), remember
	_, err = codes.Save(lyceum.Tx{Tables: &tables, Changes: t}, code)
	return true, err
}

func (t *tx) SignedIn(user lyceum.UserID, from string, at time.Time) error {
	row, found, err := users.get(&t.view, user)
	if err != nil || !found {
		return err
	}
	before := users.bind(&row)
	row.LastSignInAt, row.LastSignInIP = lyceum.Some(at), lyceum.Some(from)
	return put(t, &users.table, users.change(before, &row))
}
