package sqlstore

import (
	"errors"
	"math"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestAnyDefaultIsolation checks that processes that start, change and count at the same time do not
// hinder each other, whatever the default isolation of their database.
func TestAnyDefaultIsolation(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(storetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	parameters := address.Query()
	parameters.Set("default_transaction_isolation", "serializable")
	address.RawQuery = parameters.Encode()
	const processes, each = 2, 50
	stores := make([]*Store, processes)
	together := func(do func(i int) error) {
		t.Helper()
		var work sync.WaitGroup
		for i := range processes {
			work.Go(func() {
				if err := do(i); err != nil {
					t.Error(err)
				}
			})
		}
		if work.Wait(); t.Failed() {
			t.FailNow()
		}
	}
	together(func(i int) (err error) {
		if stores[i], err = OpenPostgres(t.Context(), address.String(), Options{Patience: 4 * storetest.Patience}); err == nil {
			t.Cleanup(func() { _ = stores[i].Close() })
		}
		return err
	})
	one := lyceum.Tally{School: 1, Length: time.Minute, Begin: storetest.Begin, Add: 1}
	together(func(i int) error {
		for range each {
			if _, err := stores[i].Tallies().Count(t.Context(), math.MaxInt64, []lyceum.Tally{one}); err != nil {
				return err
			}
		}
		return nil
	})
	found, err := stores[0].Tallies().Look(t.Context(), []lyceum.Tally{one})
	if err != nil || found[0].Used != processes*each {
		t.Errorf("%+v, %v; want %d", found, err, processes*each)
	}
	var isolation string
	err = stores[0].write(t.Context(), 0, func(q *session) error {
		_, err := q.one("SELECT current_setting('transaction_isolation')", nil, scanText(&isolation))
		return err
	})
	if err != nil || isolation != "read committed" {
		t.Errorf("the isolation of changes is %q, %v", isolation, err)
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
