package main

import (
	"database/sql"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// TestFeedOfAnImport checks that the change feed of an import, read from any number, is the
// same as if every entry of the import were a separate row of the journal.
func TestFeedOfAnImport(t *testing.T) {
	t.Parallel()
	dir := newSchool(t)
	file := filepath.Join(t.TempDir(), "sales.csv")
	if err := os.WriteFile(file, salesFile(150), 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, "import", "transactions", file, "--data", dir, "--create-missing")
	folded := everyFeed(t, dir)
	if unfold(t, dir) == 0 {
		t.Fatal("the import folded nothing")
	}
	command(t, "check", "--data", dir)
	if diff := cmp.Diff(everyFeed(t, dir), folded); diff != "" {
		t.Errorf("(-unfolded +folded):\n%s", diff)
	}
}

// everyFeed reads a school's change feed from each number, a few entries at a time.
func everyFeed(t *testing.T, dir string) (feeds [][]lyceum.Entry) {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), dir, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	v := store.In(t.Context(), 1)
	last, err := v.LastEntry()
	if err != nil {
		t.Fatal(err)
	}
	for after := range last + 1 {
		listing, err := v.FindChanges(lyceum.ChangeFilter{After: after, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		feed := []lyceum.Entry{listing.Before, listing.Through}
		for i := range listing.Changes {
			feed = append(feed, listing.Changes[i].Entry)
		}
		feeds = append(feeds, feed)
	}
	return feeds
}

// unfold turns each entry of a run into a row of the journal, and returns how many rows it
// created.
func unfold(t *testing.T, dir string) (made int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, sqlstore.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	type run struct {
		number, at  int64
		actor, kind string
		ids         []byte
	}
	rows, err := db.QueryContext(t.Context(), "SELECT number, at, actor, type, object_ids FROM journal_runs")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var runs []run
	for rows.Next() {
		var r run
		if err := rows.Scan(&r.number, &r.at, &r.actor, &r.kind, &r.ids); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	exec := func(text string, args ...any) {
		if _, err := db.ExecContext(t.Context(), text, args...); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range runs {
		for id := int64(0); len(r.ids) > 0; r.number++ {
			by, n := binary.Varint(r.ids)
			id, r.ids = id+by, r.ids[n:]
			exec("INSERT INTO journal (school_id, number, at, actor, type, object_id) VALUES (1, ?, ?, ?, ?, ?)",
				r.number, r.at, r.actor, r.kind, id)
			made++
		}
	}
	exec("DELETE FROM journal_runs")
	return made
}
