package sqlstore

import (
	"database/sql"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

// TestRevisions checks that every commit, by any connection, leads to another revision, and that
// nothing else does.
func TestRevisions(t *testing.T) {
	dir := t.TempDir()
	store, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	school, err := store.CreateSchool(t.Context(), lyceum.School{Name: "A", CreatedAt: time.Unix(1, 0)}, "test")
	if err != nil {
		t.Fatal(err)
	}
	rename := func(in *Store, name string) error {
		return in.Write(t.Context(), lyceum.Stamp{School: school.ID, At: time.Unix(2, 0)}, func(tx lyceum.Tx) error {
			return tx.ChangeSchool(func(s *lyceum.School) { s.Name = name })
		})
	}
	for _, row := range []struct {
		what string
		do   func() error
		same bool
	}{
		{what: "nothing", do: func() error { return nil }, same: true},
		{what: "a question", do: func() error { _, err := store.In(t.Context(), school.ID).GetSchool(); return err }, same: true},
		{what: "a change", do: func() error { return rename(store, "B") }},
		{what: "a change of nothing", do: func() error {
			return store.Write(t.Context(), lyceum.Stamp{School: school.ID}, func(lyceum.Tx) error { return lyceum.Invalidf("no") })
		}, same: true},
		{what: "a use of a key", do: func() error {
			return store.Bookkeep(t.Context(), lyceum.Bookkeeping{RateWindows: []lyceum.RateWindow{{School: school.ID, Start: time.Unix(3, 0), Used: 1}}})
		}},
		{what: "another store", do: func() error {
			other, err := Open(t.Context(), dir, Options{})
			if err != nil {
				return err
			}
			defer other.Close()
			return rename(other, "C")
		}},
		{what: "another program", do: func() error {
			db, err := sql.Open("sqlite", dir+"/"+FileName)
			if err != nil {
				return err
			}
			defer db.Close()
			_, err = db.ExecContext(t.Context(), "UPDATE schools SET name = 'D'")
			return err
		}},
	} {
		before, known := store.Revision(school.ID)
		if !known {
			t.Fatalf("before %s nothing is known", row.what)
		}
		if err := row.do(); err != nil && !row.same {
			t.Fatalf("%s: %v", row.what, err)
		}
		after, known := store.Revision(school.ID)
		if !known || after == before != row.same {
			t.Errorf("after %s it is %v, before it was %v", row.what, after, before)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if r, known := store.Revision(school.ID); known {
		t.Errorf("the closed store is at %v", r)
	}
}
