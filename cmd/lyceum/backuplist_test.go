package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// peopleOf saves users with some email addresses in the school of a data folder.
func peopleOf(t *testing.T, dir string, emails ...string) {
	t.Helper()
	store, err := openStore(t.Context(), dir, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	storetest.Write(t, store, 1, func(tx lyceum.Tx) error {
		for i, email := range emails {
			_, err := tx.Users.Save(tx, lyceum.User{ID: lyceum.UserID(i + 1), Email: email, Role: lyceum.Student, CreatedAt: storetest.Begin})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// TestErasingDuringABackup checks that erasing a person lists the backup that is being written.
func TestErasingDuringABackup(t *testing.T) {
	t.Parallel()
	dir, file := filesOfSchool(t, "one"), filepath.Join(t.TempDir(), "1.db")
	peopleOf(t, dir, "ann@example.com", "bert@example.com")
	var erased, out bytes.Buffer
	var once sync.Once
	clock := func() time.Time {
		if _, err := os.Stat(file + ".partial"); err == nil {
			once.Do(func() {
				run(t.Context(), []string{"user", "erase", "--yes", "--email", "ann@example.com", "--data", dir}, strings.NewReader(""), &erased, &erased)
			})
		}
		return time.Now()
	}
	status := runBy(t.Context(), clock, []string{"backup", "--data", dir, file}, strings.NewReader(""), &out, &out)
	if want := regexp.MustCompile(`is erased\.(?s:.*)The backup ` + file + `\S* still contains the person`); status != 0 || !want.MatchString(erased.String()) {
		t.Errorf("%d, %s\n%s", status, &out, &erased)
	}
	says(t, 0, `The backup `+file+` still contains the person`, "user", "erase", "--yes", "--email", "bert@example.com", "--data", dir)
}

// TestErasingAfterKilledCommands checks that erasing a person lists the copies of the database that
// killed commands left behind, also in a data folder whose name has a special meaning in patterns.
func TestErasingAfterKilledCommands(t *testing.T) {
	t.Parallel()
	dir, backups := filepath.Join(t.TempDir(), "school [2]"), t.TempDir()
	if err := os.Rename(filesOfSchool(t, "one"), dir); err != nil {
		t.Fatal(err)
	}
	peopleOf(t, dir, "ann@example.com")
	first, second := filepath.Join(backups, "1.db"), filepath.Join(backups, "2.db")
	says(t, 0, `is written`, "backup", "--data", dir, first)
	rehearsal := filepath.Join(dir, "lyceum-dry-run-1.partial")
	if err := os.Mkdir(rehearsal, 0o700); err != nil {
		t.Fatal(err)
	}
	left := []string{filepath.Join(dir, "lyceum.db.partial"), filepath.Join(rehearsal, "lyceum.db"), second + ".partial"}
	for _, path := range left {
		if err := copyFile(first, path); err != nil {
			t.Fatal(err)
		}
	}
	if err := rememberBackup(dir, second); err != nil {
		t.Fatal(err)
	}
	if err := rememberBackup(dir, first); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	run(t.Context(), []string{"user", "erase", "--yes", "--email", "ann@example.com", "--data", dir}, strings.NewReader(""), &out, &out)
	for _, path := range append(left, first) {
		if !strings.Contains(out.String(), "The backup "+path+" still contains the person") {
			t.Errorf("%s is not listed in %s", path, &out)
		}
	}
}

// TestBackupsAtOnce checks that backups that are made at the same time are all listed.
func TestBackupsAtOnce(t *testing.T) {
	t.Parallel()
	dir, backups := t.TempDir(), t.TempDir()
	var group errgroup.Group
	for i := range 30 {
		path := filepath.Join(backups, fmt.Sprintf("%d.db", i))
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		group.Go(func() error { return rememberBackup(dir, path) })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if listed, err := rememberedBackups(dir); err != nil || len(listed) != 30 {
		t.Errorf("%d backups are listed: %v", len(listed), err)
	}
}
