package sqlstore

import (
	"slices"
	"strings"
	"testing"
)

// TestViewTables checks that viewTables matches the views of the schema.
func TestViewTables(t *testing.T) {
	t.Parallel()
	bothEngines(t, Options{}, func(t *testing.T, s *Store) {
		ofViews, ofTables := "SELECT name, sql FROM sqlite_schema WHERE type = 'view'",
			"SELECT name FROM sqlite_schema WHERE type = 'table'"
		if s.Engine() == "postgres" {
			ofViews = "SELECT CAST(viewname AS TEXT), definition FROM pg_views WHERE schemaname = current_schema()"
			ofTables = "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = current_schema()"
		}
		q := s.reads.single(t.Context())
		var name, text string
		var all []string
		err := q.each(ofTables, nil, []any{scanText(&name)}, func() error { all = append(all, name); return nil })
		if err != nil {
			t.Fatal(err)
		}
		views := 0
		err = q.each(ofViews, nil, []any{scanText(&name), scanText(&text)}, func() error {
			views++
			words := statementOf(strings.ReplaceAll(text, name, "")).words
			var read []string
			for _, table := range all {
				if words[table] {
					read = append(read, table)
				}
			}
			known := slices.Sorted(slices.Values(viewTables[name]))
			if slices.Sort(read); !slices.Equal(read, known) {
				t.Errorf("view %s reads %q, viewTables has %q", name, read, known)
			}
			return nil
		})
		if err != nil || views != len(viewTables) {
			t.Errorf("%d views, viewTables has %d: %v", views, len(viewTables), err)
		}
	})
}
