package sqlstore

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// TestBackupThatIsNotGood checks that the database is reported as damaged only if the copy is
// damaged.
func TestBackupThatIsNotGood(t *testing.T) {
	t.Parallel()
	s := openTest(t)
	damaged, unread := "the database or its disk is damaged", "could not be read after it was written, and was deleted"
	for name, tc := range map[string]struct {
		write func(ctx context.Context, path string) error
		says  string
	}{
		"damaged": {func(ctx context.Context, path string) error {
			if err := s.vacuumInto(ctx, path); err != nil {
				return err
			}
			file, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			defer file.Close()
			_, err = file.WriteAt([]byte(strings.Repeat("damage", 1000)), 4096)
			return err
		}, damaged},
		"no database": {func(_ context.Context, path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("text", 4096)), 0o600)
		}, damaged},
		"gone":  {func(context.Context, string) error { return nil }, unread},
		"empty": {func(_ context.Context, path string) error { return privateFile(path) }, unread},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			err := s.dialect.writeBackup(t.Context(), filepath.Join(dir, "b.db"), tc.write, nil)
			if lyceum.KindOf(err) != lyceum.Unavailable || !strings.Contains(lyceum.Public(err).Detail, tc.says) {
				t.Errorf("%v, want %q", err, tc.says)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("the folder holds %v, %v", left, err)
			}
		})
	}
}

// TestBackupAfterAKilledOne checks that what a killed backup left behind does not become part
// of the next one.
func TestBackupAfterAKilledOne(t *testing.T) {
	t.Parallel()
	s, dir := openTest(t), t.TempDir()
	path := filepath.Join(dir, "b.db")
	for _, left := range append(besides(path+".partial"), path+".partial") {
		if err := os.WriteFile(left, []byte("left"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Backup(t.Context(), path, nil); err != nil {
		t.Error(err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("the folder holds %v, %v", all, err)
	}
}

// TestRestoreOfWhatAnotherOneLeft checks that a backup with the name of the file that a restore
// writes to is rejected, and stays as it is.
func TestRestoreOfWhatAnotherOneLeft(t *testing.T) {
	t.Parallel()
	s, dir := openTest(t), t.TempDir()
	path := filepath.Join(dir, FileName+".partial")
	if err := s.vacuumInto(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Restore(t.Context(), path, dir, RestoreOptions{Prepare: func(*Store) error { return nil }, Progress: func(string) {}})
	if lyceum.KindOf(err) != lyceum.Invalid {
		t.Errorf("restored: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the backup has %d bytes, and had %d: %v", len(after), len(before), err)
	}
}
