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
	return stillMay(tx, actor, "POST /admin/bulk/{id}/start", "started it")
}

// StillErases is StillStartsBulk for the actor who asked for the erasure of a person.
func StillErases(tx lyceum.Tx, actor string) error {
	return stillMay(tx, actor, "POST /admin/people/{id}/erase", "asked for it")
}

func stillMay(tx lyceum.Tx, actor, door, did string) error {
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
			return lyceum.Errorf(lyceum.Forbidden, "the person who %s is disabled or no longer works for the school", did)
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
			return lyceum.Errorf(lyceum.Forbidden, "the API key that %s no longer works", did)
		}
	}
	if role == "" || May(role, door) {
		return nil
	}
	return lyceum.Errorf(lyceum.Forbidden, "the role of the person who %s no longer allows it", did)
}

// numberOf returns the id in the name of an actor.
func numberOf[ID ~int32](actor string, name func(ID) string) (ID, bool) {
	_, text, _ := strings.Cut(actor, ":")
	n, err := strconv.ParseInt(text, 10, 32)
	return ID(n), err == nil && name(ID(n)) == actor
}
