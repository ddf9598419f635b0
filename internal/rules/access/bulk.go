package access

import (
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// StillStartsBulk fails with Forbidden if the actor who started a bulk job may no longer start
// one: a user without a role that allows it, or an API key that no longer works. Commands on the
// server always may.
func StillStartsBulk(tx lyceum.Tx, actor string) error {
	var role lyceum.StaffRole
	var good bool
	if id, ok := numberOf(actor, userActor); ok {
		user, err := tx.Users.Get(tx, id)
		if err == nil {
			role, err = lyceum.StaffRoleOf(tx.Tables, tx, &user)
		}
		if err != nil && lyceum.KindOf(err) != lyceum.NotFound {
			return err
		}
		if role == "" || user.DisabledAt.Present {
			return lyceum.Errorf(lyceum.Forbidden, "the person who started it is disabled or no longer works for the school")
		}
	} else if id, ok := numberOf(actor, keyActor); ok {
		key, err := tx.APIKeys.Get(tx, id)
		if err == nil {
			role, good, err = lyceum.RoleOfKey(tx.Tables, tx, &key)
		}
		if err != nil && lyceum.KindOf(err) != lyceum.NotFound {
			return err
		}
		if !good {
			return lyceum.Errorf(lyceum.Forbidden, "the API key that started it no longer works")
		}
	}
	if role == "" || May(role, "POST /admin/bulk/{id}/start") {
		return nil
	}
	return lyceum.Errorf(lyceum.Forbidden, "the role of the person who started it no longer allows it")
}

// numberOf returns the id in the name of an actor.
func numberOf[ID ~int32](actor string, name func(ID) string) (ID, bool) {
	_, text, _ := strings.Cut(actor, ":")
	n, err := strconv.ParseInt(text, 10, 32)
	return ID(n), err == nil && name(ID(n)) == actor
}
