package sqlstore_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestErasedInAKilledDatabase checks that people are found whose erasure is only in the log of a
// server that was killed.
func TestErasedInAKilledDatabase(t *testing.T) {
	dir, killed := t.TempDir(), t.TempDir()
	store, err := sqlstore.Open(t.Context(), dir, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	school := storetest.MakeSchool(t, store)
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, lyceum.User{ID: 7, Email: lyceum.ErasedEmail(7), Role: lyceum.Student, CreatedAt: storetest.Begin})
		return err
	})
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(filepath.Join(dir, sqlstore.FileName+suffix))
		if err == nil {
			err = os.WriteFile(filepath.Join(killed, sqlstore.FileName+suffix), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	found, err := sqlstore.ErasedIn(t.Context(), filepath.Join(killed, sqlstore.FileName))
	if err != nil || len(found[school]) != 1 || found[school][0] != 7 {
		t.Errorf("found %v, %v", found, err)
	}
}
