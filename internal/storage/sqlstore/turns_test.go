package sqlstore_test

import (
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestTurns has two stores of one database, like two processes, each add to what they read, and
// checks that no addition is lost.
func TestTurns(t *testing.T) {
	const writers, additions = 4, 25
	for engine, open := range map[string]func(t *testing.T) func() (*sqlstore.Store, error){
		"sqlite": func(t *testing.T) func() (*sqlstore.Store, error) {
			path := filepath.Join(t.TempDir(), sqlstore.FileName)
			return func() (*sqlstore.Store, error) { return sqlstore.OpenFile(t.Context(), path, sqlstore.Options{}) }
		},
		"postgres": func(t *testing.T) func() (*sqlstore.Store, error) {
			address := storetest.Postgres(t)
			return func() (*sqlstore.Store, error) {
				return sqlstore.OpenPostgres(t.Context(), address, sqlstore.Options{})
			}
		},
	} {
		t.Run(engine, func(t *testing.T) {
			again := open(t)
			var stores [2]*sqlstore.Store
			for i := range stores {
				store, err := again()
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = store.Close() })
				stores[i] = store
			}
			school, err := stores[0].CreateSchool(t.Context(), lyceum.School{Name: "Fernwood"}, "test")
			if err != nil {
				t.Fatal(err)
			}
			stamp := lyceum.Stamp{School: school.ID, At: time.Unix(1e9, 0), Actor: "test"}
			write := func(store *sqlstore.Store, name func(lyceum.Tx) (string, error)) error {
				return store.Write(t.Context(), stamp, func(tx lyceum.Tx) error {
					to, err := name(tx)
					if err != nil {
						return err
					}
					_, err = tx.Users.Save(tx, lyceum.User{ID: 1, Email: "ann@example.com", Name: lyceum.Some(to), CreatedAt: stamp.At})
					return err
				})
			}
			if err := write(stores[0], func(lyceum.Tx) (string, error) { return "0", nil }); err != nil {
				t.Fatal(err)
			}
			var group sync.WaitGroup
			for n := range writers {
				group.Go(func() {
					for range additions {
						err := write(stores[n%len(stores)], func(tx lyceum.Tx) (string, error) {
							u, err := tx.Users.Get(tx, 1)
							if err != nil {
								return "", err
							}
							sum, err := strconv.Atoi(u.Name.Value)
							return strconv.Itoa(sum + 1), err
						})
						if err != nil {
							t.Error(err)
						}
					}
				})
			}
			group.Wait()
			v := stores[1].In(t.Context(), school.ID)
			u, err := v.Users.Get(v, 1)
			if want := strconv.Itoa(writers * additions); err != nil || u.Name.Value != want {
				t.Errorf("the sum is %q, %v; want %s", u.Name.Value, err, want)
			}
		})
	}
}
