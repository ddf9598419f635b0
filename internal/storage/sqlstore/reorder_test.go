package sqlstore

import (
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// Reordering more rows than fit in one statement moves all of them, with an entry for each.
func TestReorderOfMany(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) *Store{
		"SQLite": func(t *testing.T) *Store {
			s, err := Open(t.Context(), t.TempDir(), Options{Synchronous: Off})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return s
		},
		"PostgreSQL": openTestPostgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := open(t)
			school := storetest.MakeSchool(t, store)
			const n = 2*readChunk + 44 // the size of the last chunk is not a power of two
			storetest.Write(t, store, school, func(tx lyceum.Tx) error {
				if _, err := tx.Courses.Save(tx, lyceum.Course{ID: 1, Name: "Bread", CreatedAt: storetest.Begin}); err != nil {
					return err
				}
				for id := lyceum.LectureSectionID(1); id <= n; id++ {
					section := lyceum.LectureSection{ID: id, Course: 1, Name: "Part", Position: int32(id), CreatedAt: storetest.Begin}
					if _, err := tx.LectureSections.Save(tx, section); err != nil {
						return err
					}
				}
				return nil
			})
			positions := map[int32]int32{}
			for id := int32(1); id <= n; id++ {
				positions[id] = n + 1 - id
			}
			storetest.Write(t, store, school, func(tx lyceum.Tx) error {
				err := tx.Reorder(lyceum.LectureSectionSequence, positions)
				if got := len(tx.Entries()); err == nil && got != n {
					t.Errorf("%d entries, want %d", got, n)
				}
				return err
			})
			v := store.In(t.Context(), school)
			rows, err := lyceum.All(v.LectureSections, v, lyceum.LectureSectionFilter{Course: lyceum.Some(lyceum.CourseID(1))})
			if err != nil || len(rows) != n {
				t.Fatal(len(rows), err)
			}
			for i, row := range rows {
				if int(row.ID) != n-i || row.Position != int32(i+1) || row.UpdatedAt.IsZero() {
					t.Fatalf("section %d at place %d has position %d, changed at %s", row.ID, i, row.Position, row.UpdatedAt)
				}
			}
		})
	}
}
