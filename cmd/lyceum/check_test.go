package main

import (
	"database/sql"
	"path/filepath"
	"testing"
)

// TestCheckTellsDamageFromNotKnowing: by its exit status.
func TestCheckTellsDamageFromNotKnowing(t *testing.T) {
	t.Parallel()
	dir := newSchool(t)
	if status, said := ran(t, "check", "--deep", "--data", dir); status != 0 {
		t.Errorf("all in order: %d %s", status, said)
	}
	if status, said := ran(t, "check", "--data", filepath.Join(dir, "nowhere")); status != 1 {
		t.Errorf("no database: %d %s", status, said)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "lyceum.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "UPDATE counters SET value = value + 1 WHERE name = 'users'"); err != nil {
		t.Fatal(err)
	}
	if status, said := ran(t, "check", "--data", dir); status != 2 {
		t.Errorf("a counter is wrong: %d %s", status, said)
	}
}
