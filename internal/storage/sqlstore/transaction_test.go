package sqlstore

import (
	"errors"
	"net/url"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestChangesReadWhatIsCommitted checks that the isolation of changes does not depend on the
// default of a database.
func TestChangesReadWhatIsCommitted(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(storetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	parameters := address.Query()
	parameters.Set("default_transaction_isolation", "serializable")
	address.RawQuery = parameters.Encode()
	store, err := OpenPostgres(t.Context(), address.String(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var inherited, isolation string
	err = store.write(t.Context(), 0, func(q *session) error {
		_, err := q.one("SELECT current_setting('default_transaction_isolation'), current_setting('transaction_isolation')",
			nil, scanText(&inherited), scanText(&isolation))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if inherited != "serializable" || isolation != "read committed" {
		t.Errorf("the isolation is %q by default, and %q for changes", inherited, isolation)
	}
}

// TestChangesAfterAFailedRollback checks that a connection that cannot roll back is replaced, and
// that nothing of its transaction remains.
func TestChangesAfterAFailedRollback(t *testing.T) {
	t.Parallel()
	store := openTest(t)
	school := storetest.MakeSchool(t, store)
	interrupted, refused := make(chan struct{}), errors.New("refused")
	close(interrupted)
	err := store.writes.change(t.Context(), false, func(q *session) (bool, error) {
		if err := q.exec("UPDATE schools SET name = 'Nobody'"); err != nil {
			t.Error(err)
		}
		q.link.(*direct).conn.SetInterrupt(interrupted)
		return false, refused
	})
	if !errors.Is(err, refused) || err.Error() == refused.Error() {
		t.Fatalf("the change failed with %v, want also the reason why it was not rolled back", err)
	}
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		found, err := tx.GetSchool()
		if err == nil && found.Name == "Nobody" {
			t.Error("what was not committed is stored")
		}
		_, saved := tx.Users.Save(tx, lyceum.User{ID: 1, Email: "ann@example.com", Role: lyceum.Student, CreatedAt: storetest.Begin})
		return errors.Join(err, saved)
	})
}
