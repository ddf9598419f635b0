package sqlstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lyceum-school/lyceum"
)

// A backup is not restored either if that would change anyone's access.
func TestRestoreThatChangesAccess(t *testing.T) {
	t.Parallel()
	old := makeAged(t, false, entitlementsVersion, fernwood...) // its enrollments have no entitlements
	dir := t.TempDir()
	done, err := Restore(t.Context(), filepath.Join(old.place, FileName), dir, restoring(func(*Store) error {
		t.Error("it is changed")
		return nil
	}))
	if e := lyceum.Public(err); err == nil || e.Kind != lyceum.Conflict || !strings.HasPrefix(e.Detail, "the upgrade would change enrollments, so nothing was changed") || len(done.Differing) != 3 {
		t.Errorf("%+v, %v", done, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the folder holds %v, %v", left, err)
	}
}

// What a killed upgrade leaves next to a database belongs only to that database.
func TestRestoreBesideAHotJournal(t *testing.T) {
	t.Parallel()
	killed := makeAged(t, false, 14, fernwood...)
	path := filepath.Join(killed.place, FileName)
	backup := filepath.Join(t.TempDir(), "copy.db")
	if err := copyFile(path, backup); err != nil {
		t.Fatal(err)
	}
	db, err := openAlone(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for _, statement := range []string{
		"PRAGMA cache_size = 1", // so that pages are written to the file, after their journal
		"UPDATE schools SET name = 'Broken'",
		"CREATE TABLE filler AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT hex(randomblob(500)) FROM n",
	} {
		if _, err := tx.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	if err := copyFile(path+"-journal", filepath.Join(dir, FileName+"-journal")); err != nil {
		t.Fatal(err)
	}
	if err := copyFile(path+"-journal", filepath.Join(dir, FileName+".partial-journal")); err != nil {
		t.Fatal(err)
	}
	if head, err := os.ReadFile(filepath.Join(dir, FileName+"-journal")); err != nil || len(head) == 0 || head[0] == 0 {
		t.Fatalf("the journal is not hot, %v", err)
	}
	noted := restoring(func(s *Store) error {
		by := lyceum.Stamp{School: 7, At: upgradeTime, Actor: "restore"}
		return s.Write(t.Context(), by, func(tx lyceum.Tx) error { tx.Note(lyceum.SchoolRestored, 7); return nil })
	})
	if _, err := Restore(t.Context(), backup, dir, noted); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v, %v", left, err)
	}
	store, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if findings, err := store.Check(t.Context()); err != nil || len(findings) > 0 {
		t.Errorf("check: %v, %v", findings, err)
	}
}

func TestAddressWithoutPassword(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"postgres://lyceum:canary@db.example.com:5432/school?sslmode=verify-full": "postgres://lyceum@db.example.com:5432/school?sslmode=verify-full",
		"postgres:///school?host=/run/postgresql&password=canary&user=lyceum":     "postgres:///school?host=/run/postgresql&user=lyceum",
		"postgres:///school?pass%77ord=canary":                                    "postgres:///school",
		"postgresql://localhost/school":                                           "postgresql://localhost/school",
		"postgresql://lyceum@localhost/school":                                    "postgresql://lyceum@localhost/school",
		`postgres://lyceum:ca^na"r[y@db/school`:                                   "postgres://lyceum@db/school",
		"postgres://lyceum:can#ary@db/school":                                     "postgres://lyceum@db/school",
		"postgres://lyceum:can?ary@db/school?user=x":                              "postgres://lyceum@db/school?user=x",
		"postgres://lyceum:12?3&canary@db/school":                                 "postgres://lyceum@db/school",
		"postgres://ly%20ceum:can:ary%40@a:1,b:2/school?options=-c%20x%3Dy&a+b=c": "postgres://ly%20ceum@a:1,b:2/school?options=-c%20x%3Dy&a+b=c",
		"postgres://[::1]:5433/school":                                            "postgres://[::1]:5433/school",
	} {
		got, err := withoutPassword(address)
		if err != nil || got != want || strings.Contains(got, "canary") {
			t.Errorf("%s became %s, %v", address, got, err)
			continue
		}
		before, err := pgconn.ParseConfig(address)
		if err != nil {
			t.Fatal(err)
		}
		after, err := pgconn.ParseConfig(got)
		if err != nil || after.User != before.User || after.Host != before.Host || after.Port != before.Port ||
			after.Database != before.Database || len(after.Fallbacks) != len(before.Fallbacks) || after.Password != "" {
			t.Errorf("%s became %s, which is read as %+v, %v", address, got, after, err)
		}
	}
	_, err := withoutPassword("postgres://lyceum:canary@db/school?sslmode=require&sslpassword=canary")
	if e := lyceum.Public(err); err == nil || e.Kind != lyceum.Invalid || !strings.Contains(e.Detail, "sslpassword") || strings.Contains(err.Error(), "canary") {
		t.Errorf("%v", err)
	}
}
