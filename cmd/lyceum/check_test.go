package main

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestCheckTellsDamageFromNotKnowing checks that the exit status distinguishes damage from a
// check that could not be made.
func TestCheckTellsDamageFromNotKnowing(t *testing.T) {
	t.Parallel()
	dir := newSchool(t)
	if status, said := ran(t, "check", "--deep", "--data", dir); status != 0 {
		t.Errorf("all in order: %d %s", status, said)
	}
	if status, said := ran(t, "check", "--data", filepath.Join(dir, "nowhere")); status != 1 {
		t.Errorf("no database: %d %s", status, said)
	}
	store, err := openStore(t.Context(), dir, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	storetest.Write(t, store, 1, func(tx lyceum.Tx) error {
		return tx.Uploads.Insert(tx, lyceum.Upload{
			ID: 1, UUID: "7c0e2a4e-5a53-4b5e-9d3c-0a4de5f3b1aa", TargetType: lyceum.CourseUpload, TargetID: 1, Purpose: lyceum.ThumbnailUpload,
			Extension: "png", CreatedAt: storetest.Begin, ExpiresAt: storetest.Begin, ReceivedAt: lyceum.Some(storetest.Begin),
			SizeInBytes: lyceum.Some[int64](1), Checksum: lyceum.Some("00"), StoredAs: lyceum.Some[lyceum.FileName]("1/7c/x"),
		})
	})
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if status, said := ran(t, "check", "--data", dir); status != 2 || !strings.Contains(said, "the file of upload 1, a thumbnail for course 1, is missing: 1/7c/x") {
		t.Errorf("a file is missing: %d %s", status, said)
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
