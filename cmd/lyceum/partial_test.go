package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFileThatAnotherProcessWrites checks that a backup and an export do not touch what another
// process is writing under the same name, and replace what a killed one left behind.
func TestFileThatAnotherProcessWrites(t *testing.T) {
	t.Parallel()
	data := newSchool(t)
	for name, args := range map[string][]string{
		"b.db":     {"backup", "--data", data},
		"users.gz": {"export", "users", "--data", data, "--output"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, name)
			release, err := lockPartial(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path+".partial", []byte("theirs"), 0o600); err != nil {
				t.Fatal(err)
			}
			args := append(args, path)
			want := "lyceum: another lyceum process is writing " + path + "; wait until it has ended, or choose another name\n"
			if status, said := ran(t, args...); status != 1 || said != want {
				t.Errorf("%d %s, want %s", status, said, want)
			}
			if text, err := os.ReadFile(path + ".partial"); err != nil || string(text) != "theirs" {
				t.Errorf("the other's file has %q, %v", text, err)
			}
			release()
			if err := os.WriteFile(path+".partial-lock", nil, 0o600); err != nil { // as if it had been killed
				t.Fatal(err)
			}
			if status, said := ran(t, args...); status != 0 {
				t.Errorf("%d %s", status, said)
			}
			if holds := names(t, dir); holds != name {
				t.Errorf("the folder holds %s", holds)
			}
		})
	}
}

// TestBackupPruneBesideAKilledBackup checks that what a killed backup left behind does not
// count as an unreadable backup.
func TestBackupPruneBesideAKilledBackup(t *testing.T) {
	t.Parallel()
	data, dir := newSchool(t), t.TempDir()
	command(t, "backup", "--data", data, filepath.Join(dir, "a.db"))
	if err := os.Mkdir(filepath.Join(dir, backupFilesName), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, left := range []string{"", "-lock", "-journal", "-wal", "-shm"} {
		if err := os.WriteFile(filepath.Join(dir, "b.db.partial"+left), []byte("left"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	says(t, 0, "none of 1 backup needs", "backup-prune", dir)
	if err := os.WriteFile(filepath.Join(dir, "b.partial.db"), []byte("left"), 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, 1, "b.partial.db in .* is not a backup that can be read, so nothing was removed", "backup-prune", dir)
}

// TestBackupPruneBesideARunningBackup checks that files are not removed while a backup that may need
// them has no name yet.
func TestBackupPruneBesideARunningBackup(t *testing.T) {
	t.Parallel()
	data, dir := newSchool(t), t.TempDir()
	command(t, "backup", "--data", data, filepath.Join(dir, "a.db"))
	sum := strings.Repeat("ab", 32)
	file := filepath.Join(dir, backupFilesName, sum[:2], sum)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("of the next backup"), 0o600); err != nil {
		t.Fatal(err)
	}
	release, err := lockPartial(filepath.Join(dir, "b.db"))
	if err != nil {
		t.Fatal(err)
	}
	says(t, 1, "another lyceum process is writing .*/b.db; wait until it has ended", "backup-prune", dir)
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	release()
	says(t, 0, "^removed 1 file of ", "backup-prune", dir)
}
