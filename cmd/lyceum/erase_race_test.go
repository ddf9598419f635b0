package main

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestErasingWhileEnrolling erases people while others enroll them. Whichever comes first,
// nobody who was erased has access in the end.
func TestErasingWhileEnrolling(t *testing.T) {
	t.Parallel()
	for engine, place := range map[string]func(t *testing.T) string{
		"SQLite":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "data") },
		"PostgreSQL": func(t *testing.T) string { return storetest.Postgres(t) },
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			store, err := openStore(t.Context(), place(t), sqlstore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			const n = 20
			by := lyceum.By{School: storetest.MakeSchool(t, store), Actor: "test"}
			storetest.Write(t, store, by.School, func(tx lyceum.Tx) error {
				if _, err := tx.Courses.Save(tx, lyceum.Course{ID: 1, Name: "Pottery", CreatedAt: storetest.Begin, UpdatedAt: storetest.Begin}); err != nil {
					return err
				}
				for id := range lyceum.UserID(n) {
					if _, err := tx.Users.Save(tx, lyceum.User{ID: id + 1, Email: fmt.Sprintf("user%d@example.com", id+1), Role: lyceum.Student, CreatedAt: storetest.Begin}); err != nil {
						return err
					}
				}
				return nil
			})
			lessons, users := learning.New(store, time.Now), people.New(store, time.Now)
			accounts := access.NewAccounts(store, time.Now, access.NewOAuth(store, time.Now), nil)
			doors := people.Doors{Left: accounts.EndedAccess, Close: lessons.Close}
			var both sync.WaitGroup
			for id := range lyceum.UserID(n) {
				gift := learning.Gift{UserProduct: learning.UserProduct{User: id + 1, Product: lyceum.CourseID(1).Product()}}
				for range 3 {
					both.Go(func() {
						err := untilFree(func() error {
							_, err := lessons.Give(t.Context(), by, gift)
							return err
						})
						if err != nil && lyceum.KindOf(err) != lyceum.Invalid && lyceum.KindOf(err) != lyceum.NotFound {
							t.Errorf("enroll %d: %v", id+1, err)
						}
					})
				}
				both.Go(func() {
					err := untilFree(func() error {
						_, err := users.Erase(t.Context(), by, id+1, doors)
						return err
					})
					if err != nil {
						t.Errorf("erase %d: %v", id+1, err)
					}
				})
			}
			both.Wait()
			v := store.In(t.Context(), by.School)
			open, err := lyceum.All(v.Entitlements, v, lyceum.EntitlementFilter{Open: true})
			if err != nil || len(open) > 0 {
				t.Errorf("%d people have access who were erased: %v", len(open), err)
			}
		})
	}
}

// untilFree repeats an operation until the database is not too busy for it.
func untilFree(do func() error) (err error) {
	await(func() bool {
		err = do()
		return lyceum.KindOf(err) != lyceum.Unavailable
	})
	return err
}
