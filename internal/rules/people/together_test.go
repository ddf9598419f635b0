package people_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestUsersGoTogether checks that of users who are created at the same time, none needs to be in
// the database before the others, and that an address still belongs to one user.
func TestUsersGoTogether(t *testing.T) {
	t.Parallel()
	const n = 64
	var savepoints storetest.Savepoints
	o := sqlstore.Options{Trace: savepoints.Trace}
	sqlite, err := sqlstore.Open(t.Context(), t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sqlite.Close() })
	postgres, err := sqlstore.OpenPostgres(t.Context(), storetest.Postgres(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = postgres.Close() })
	for name, store := range map[string]*sqlstore.Store{"SQLite": sqlite, "PostgreSQL": postgres} {
		school, service := storetest.MakeSchool(t, store), people.New(store, time.Now)
		create := func(email string) error {
			made, err := service.Create(t.Context(), lyceum.By{School: school, Actor: "test"}, people.NewUser{Email: email}, nil)
			if err == nil && !strings.EqualFold(made.Email, email) {
				t.Errorf("%s: %s was created as %s", name, email, made.Email)
			}
			return err
		}
		savepoints.Together(t, name, n, func(i int) error { return create(fmt.Sprintf("user%d@example.com", i)) })
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				if err := create([]string{"one@example.com", "One@Example.com"}[i%2]); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		all.Wait()
		v := store.In(t.Context(), school)
		kept, err := lyceum.All(v.Users, v, lyceum.UserFilter{})
		if err != nil || len(kept) != n+1 {
			t.Errorf("%s: %d users, %v; want %d", name, len(kept), err, n+1)
		}
	}
}
