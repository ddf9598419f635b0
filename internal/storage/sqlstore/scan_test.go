package sqlstore

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// Times after the year 9999 that an older lyceum stored are capped, so that responses can contain
// them.
func TestStoredTimesAreBounded(t *testing.T) {
	t.Parallel()
	store := openTest(t)
	school := storetest.MakeSchool(t, store)
	later := lyceum.Latest.Add(time.Second)
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, lyceum.User{ID: 1, Email: "ann@example.com", Role: lyceum.Student, CreatedAt: later, LastSignInAt: lyceum.Some(later)})
		return err
	})
	v := store.In(t.Context(), school)
	if u, err := v.Users.Get(v, 1); err != nil || !u.CreatedAt.Equal(lyceum.Latest) || !u.LastSignInAt.Value.Equal(lyceum.Latest) {
		t.Errorf("%v, %v, %v", u.CreatedAt, u.LastSignInAt, err)
	}
}
