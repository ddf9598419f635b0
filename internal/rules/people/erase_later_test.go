package people_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestErasingCanBeUndone checks that a person is erased ten minutes after the request, even by
// another process, unless that is undone or refused by then.
func TestErasingCanBeUndone(t *testing.T) {
	for engine, open := range map[string]func(t *testing.T) (*sqlstore.Store, error){
		"SQLite": func(t *testing.T) (*sqlstore.Store, error) {
			return sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
		},
		"PostgreSQL": func(t *testing.T) (*sqlstore.Store, error) {
			return sqlstore.OpenPostgres(t.Context(), storetest.Postgres(t), sqlstore.Options{})
		},
	} {
		t.Run(engine, func(t *testing.T) {
			store, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = store.Close() }()
			school, err := store.CreateSchool(t.Context(), lyceum.School{Name: "Northwind", CreatedAt: storetest.Begin}, "test")
			if err != nil {
				t.Fatal(err)
			}
			storetest.Write(t, store, school.ID, func(tx lyceum.Tx) error {
				_, err := tx.Users.Save(tx,
					lyceum.User{ID: 1, Email: "ann@example.com", Role: lyceum.Student, CreatedAt: storetest.Begin},
					lyceum.User{ID: 2, Email: "bert@example.com", Role: lyceum.Student, CreatedAt: storetest.Begin},
					lyceum.User{ID: 3, Email: "cleo@example.com", Role: lyceum.Student, CreatedAt: storetest.Begin})
				return err
			})
			clock := storetest.NewClock(storetest.Begin)
			by, doors := lyceum.By{School: school.ID, Actor: "user:9"}, people.Doors{
				Left: func(lyceum.SchoolID, string) {},
			}
			s := people.New(store, clock.Now)
			for id := range lyceum.UserID(3) {
				plan, err := s.PlanErasure(t.Context(), by, id+1)
				if err != nil || !plan.DueAt.Equal(clock.Now().Add(people.UndoTime)) {
					t.Fatal(plan, err)
				}
			}
			var nouns []string
			err = s.HandOver(t.Context(), by, 2, func(noun string, row []byte) error {
				nouns = append(nouns, noun)
				if !json.Valid(row) {
					t.Errorf("%s: %s", noun, row)
				}
				return nil
			})
			if want := []string{"profile", "planned_erasure", "journal", "journal", "journal"}; err != nil || !slices.Equal(nouns, want) {
				t.Errorf("handed over are %v, %v", nouns, err)
			}
			clock.Pass(people.UndoTime - time.Second)
			if again, err := s.PlanErasure(t.Context(), by, 1); err != nil || again.DueAt.Sub(clock.Now()) != time.Second {
				t.Errorf("asked again: %v, %v", again, err)
			}
			if err := s.UndoErasure(t.Context(), by, 2); err != nil {
				t.Fatal(err)
			}
			storetest.Write(t, store, school.ID, func(tx lyceum.Tx) error {
				user, err := tx.Users.Get(tx, 3)
				user.Role = lyceum.Owner
				if err != nil {
					return err
				}
				return tx.Users.Update(tx, user)
			})
			due := func() bool {
				t.Helper()
				schools, err := store.FindOverdue(t.Context(), clock.Now())
				if err != nil {
					t.Fatal(err)
				}
				return slices.Contains(schools, school.ID)
			}
			storetest.Write(t, store, school.ID, func(tx lyceum.Tx) error { // nothing else is overdue
				_, err := tx.MoveCursor(lyceum.ExpiredCursor, 0, 1)
				return err
			})
			if err := s.EraseDue(t.Context(), school.ID, doors); err != nil || due() {
				t.Errorf("before it is due: %v", err)
			}
			clock.Pass(time.Second)
			if !due() {
				t.Error("nothing is due")
			}
			if err := people.New(store, clock.Now).EraseDue(t.Context(), school.ID, doors); err != nil || due() {
				t.Errorf("when it was due: %v", err)
			}
			v := store.In(t.Context(), school.ID)
			left, err := lyceum.All(v.Users, v, lyceum.UserFilter{})
			if err != nil || len(left) != 2 || left[0].ID != 2 || left[1].ID != 3 {
				t.Errorf("left are %+v, %v", left, err)
			}
			entries, err := storetest.FindEntries(t.Context(), store, school.ID, 0, 100)
			if err != nil {
				t.Fatal(err)
			}
			told := map[lyceum.EntryType]int32{}
			for i := range entries {
				if e := &entries[i]; e.Actor == by.Actor {
					told[e.Type] = e.ObjectID
				}
			}
			if told[lyceum.ErasurePlanned] != 3 || told[lyceum.ErasureUndone] != 2 || told[lyceum.ErasureRefused] != 3 || told[lyceum.UserErased] != 1 {
				t.Errorf("the journal has %v", told)
			}
		})
	}
}
