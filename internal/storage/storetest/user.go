package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lyceum-school/lyceum"
)

// SetByStore ignores the fields of users that a store sets.
var SetByStore = cmpopts.IgnoreFields(lyceum.User{}, "UpdatedAt")

// User returns a user of a school.
func User(t testing.TB, store lyceum.Store, school lyceum.SchoolID, id lyceum.UserID) lyceum.User {
	t.Helper()
	v := store.In(t.Context(), school)
	user, err := v.Users.Get(v, id)
	if err != nil {
		t.Fatal(err)
	}
	return user
}
