package storetest

import (
	"testing"

	"github.com/lyceum-school/lyceum"
)

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
