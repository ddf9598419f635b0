package main

import (
	"slices"
	"testing"

	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// Every table has a group, and every group's tables exist.
func TestTablesHaveGroups(t *testing.T) {
	t.Parallel()
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	sizes, err := store.FindSizes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var there []string
	for _, table := range sizes.Tables {
		there = append(there, table.Table)
	}
	u := usageOf(&access.Usage{Sizes: sizes}, 0)
	others := u.Groups[len(u.Groups)-1].Tables
	if want := []string{"goose_db_version", "schools", "sqlite_sequence", "sqlite_stat1", "sqlite_stat4"}; !slices.Equal(others, want) {
		t.Errorf("without a group are %v", others)
	}
	for _, g := range u.Groups {
		for _, table := range g.Tables {
			if !slices.Contains(there, table) {
				t.Errorf("there is no table %s", table)
			}
		}
	}
}
