package people_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestUsersGoTogether: of users who are created at the same time, none needs to be in the database
// before the others are. One that did would have a savepoint. An address is still one person's.
func TestUsersGoTogether(t *testing.T) {
	t.Parallel()
	const n = 64
	var savepoints atomic.Int64
	o := sqlstore.Options{Trace: func(text string) {
		if strings.HasPrefix(text, "SAVEPOINT") {
			savepoints.Add(1)
		}
	}}
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
		create := func(email func(int) string) {
			var all sync.WaitGroup
			for i := range n {
				all.Go(func() {
					made, err := service.Create(t.Context(), lyceum.By{School: school, Actor: "test"}, people.NewUser{Email: email(i)}, nil)
					if err != nil || !strings.EqualFold(made.Email, email(i)) {
						t.Errorf("%s: create %s: %s, %v", name, email(i), made.Email, err)
					}
				})
			}
			all.Wait()
		}
		savepoints.Store(0)
		create(func(i int) string { return fmt.Sprintf("user%d@example.com", i) })
		if got := savepoints.Load(); got > 0 {
			t.Errorf("%s: %d of %d users had a savepoint", name, got, n)
		}
		create(func(i int) string { return []string{"one@example.com", "One@Example.com"}[i%2] })
		v := store.In(t.Context(), school)
		all, err := lyceum.All(v.Users, v, lyceum.UserFilter{})
		if err != nil || len(all) != n+1 {
			t.Errorf("%s: %d users, %v; want %d", name, len(all), err, n+1)
		}
	}
}
