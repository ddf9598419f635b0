package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/files"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// filesOfSchool creates a data folder whose school has pictures of a course.
func filesOfSchool(t *testing.T, contents ...string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	store, err := openStore(t.Context(), dir, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	school := storetest.MakeSchool(t, store)
	kept := files.NewFolder(filepath.Join(dir, "files"))
	for i, content := range contents {
		u := lyceum.Upload{
			ID: lyceum.UploadID(i + 1), UUID: fmt.Sprintf("7c0e2a4e-5a53-4b5e-9d3c-%012x", i), TargetType: lyceum.CourseUpload, TargetID: 1,
			Purpose: lyceum.ThumbnailUpload, Extension: "png", CreatedAt: storetest.Begin, ExpiresAt: storetest.Begin,
			ReceivedAt: lyceum.Some(storetest.Begin),
		}
		sum := keep(t, kept, u.ContentName(school), content)
		u.SizeInBytes, u.Checksum, u.StoredAs = lyceum.Some(sum.Size), lyceum.Some(fmt.Sprintf("%x", sum.SHA256)), lyceum.Some(sum.Name)
		storetest.Write(t, store, school, func(tx lyceum.Tx) error { return tx.Uploads.Insert(tx, u) })
	}
	return dir
}

func keep(t *testing.T, store lyceum.FileStore, name lyceum.FileName, content string) lyceum.FileSum {
	t.Helper()
	part, err := store.Part(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer part.Close()
	if err := part.Append(t.Context(), strings.NewReader(content), int64(len(content))); err != nil {
		t.Fatal(err)
	}
	sum, err := part.Keep(t.Context(), func(lyceum.FileSum) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// says runs a command in this process, and fails the test unless it ends with the given status
// and its output matches a pattern.
func says(t *testing.T, want int, pattern string, args ...string) {
	t.Helper()
	var out bytes.Buffer
	status := run(t.Context(), args, strings.NewReader(""), &out, &out)
	if status != want || !regexp.MustCompile(pattern).MatchString(out.String()) {
		t.Errorf("lyceum %q: %d, and should be %d\n%s\nand should say %s", args, status, want, out.String(), pattern)
	}
}

// filesIn reads all files below a folder.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		short, _ := filepath.Rel(dir, path)
		found[short] = string(content)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return found
}

// Of files with the same content, a backup copies one that is intact, and a restore puts all back.
func TestBackupsHaveContentsThatOneFileLacks(t *testing.T) {
	t.Parallel()
	for what, spoil := range map[string]func(name string) error{
		"missing": os.Remove, "changed": func(name string) error { return os.WriteFile(name, []byte("odd"), 0o600) },
	} {
		dir, backup, other := filesOfSchool(t, "two", "one", "two"), filepath.Join(t.TempDir(), "1.db"), filepath.Join(t.TempDir(), "data")
		if err := spoil(filepath.Join(dir, "files", "1", "7c", "7c0e2a4e-5a53-4b5e-9d3c-000000000000")); err != nil {
			t.Fatal(err)
		}
		t.Log(what)
		says(t, 0, `2 uploaded files, 1 kB, in .*/backup-files: 2 new, 0 already there, 0 missing\n$`, "backup", "--data", dir, "--allow-missing", backup)
		says(t, 0, `3 uploaded files, 1 kB, in place: 3 restored, 0 already there, 0 missing`, "restore", "--data", other, backup)
	}
}

// Backups in a folder share their files, and a restore puts each file back, wherever it was.
func TestBackupsHaveFiles(t *testing.T) {
	t.Parallel()
	dir, backups := filesOfSchool(t, "one", "two", "two"), t.TempDir()
	first, second, shared := filepath.Join(backups, "1.db"), filepath.Join(backups, "2.db"), filepath.Join(backups, "backup-files")
	says(t, 0, `2 uploaded files, 1 kB, in .*/backup-files: 2 new, 0 already there, 0 missing\n$`, "backup", "--data", dir, first)
	says(t, 0, ` 0 new, 2 already there, 0 missing\n$`, "backup", "--data", dir, second)
	kept := filesIn(t, shared)
	if len(kept) != 2 {
		t.Fatalf("%q", kept)
	}
	for name := range kept { // as a failing disk does
		if err := os.WriteFile(filepath.Join(shared, name), []byte("odd"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	other := filepath.Join(t.TempDir(), "other")
	says(t, 1, `(?s)school 1: the file of upload 1 was changed: 76/.*\n.*3 files missing or changed; put a copy of the folder backup-files next to the backup, or continue without them with --allow-missing`,
		"restore", "--data", other, first)
	says(t, 1, `there is no database in`, "check", "--data", other)
	says(t, 0, ` 2 already there, `, "backup", "--data", dir, "--quick", filepath.Join(backups, "3.db"))
	says(t, 0, ` 2 new, 0 already there, `, "backup", "--data", dir, filepath.Join(backups, "4.db"))
	says(t, 0, `3 uploaded files, 1 kB, in place: 3 restored, 0 already there, 0 missing`, "restore", "--data", other, first)
	says(t, 0, `3 uploaded files, all in order`, "check", "--deep", "--data", other)
	says(t, 0, ` 0 restored, 3 already there, `, "restore", "--force", "--data", other, second)
	if now, was := filesIn(t, filepath.Join(other, "files")), filesIn(t, filepath.Join(dir, "files")); fmt.Sprint(now) != fmt.Sprint(was) {
		t.Errorf("%q, and they were %q", now, was)
	}
}

// A missing file is named, and is only left out on request.
func TestBackupsWithoutFiles(t *testing.T) {
	t.Parallel()
	dir, backups := filesOfSchool(t, "one", "two"), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "files/1/7c/7c0e2a4e-5a53-4b5e-9d3c-000000000000"), []byte("odd"), 0o600); err != nil {
		t.Fatal(err)
	}
	backup, none := filepath.Join(backups, "1.db"), filepath.Join(t.TempDir(), "none.db")
	says(t, 1, `(?s)school 1: the file of upload 1 was changed: 1/7c/.*1 file missing or changed; put copies in their place, use --files-url if lyceum serve does, or continue without them with --allow-missing`,
		"backup", "--data", dir, backup)
	if got := filesIn(t, backups); len(got) != 1 {
		t.Errorf("left: %q", got)
	}
	says(t, 0, `1.db is written and verified, .*\n.*: 0 new, 1 already there, 1 missing`, "backup", "--data", dir, "--allow-missing", backup)
	says(t, 0, `none.db is written and verified, [0-9]+ bytes\n$`, "backup", "--data", dir, "--without-files", none)
	other := t.TempDir()
	says(t, 1, `1 file missing or changed`, "restore", "--data", other, backup)
	says(t, 0, `0 restored, 1 already there, 1 missing`, "restore", "--data", other, "--allow-missing", backup)
	says(t, 2, `the file of upload 1, .*, is missing`, "check", "--data", other)
	third := t.TempDir()
	says(t, 1, `2 files missing or changed`, "restore", "--data", third, none)
	says(t, 0, `is restored`, "restore", "--data", third, "--without-files", none)
	if got := filesIn(t, filepath.Join(third, "files")); len(got) > 0 {
		t.Errorf("%q", got)
	}
	says(t, 1, `--without-files and --allow-missing can't be used together|can't be used together`, "backup", "--data", dir, "--without-files", "--allow-missing", "x.db")
}

// Files that no backup in a folder needs are removed, unless the folder has something that may
// be a backup.
func TestBackupPrune(t *testing.T) {
	t.Parallel()
	one, two, backups := filesOfSchool(t, "one", "both"), filesOfSchool(t, "both", "two"), t.TempDir()
	says(t, 1, `there is no folder .*/backup-files; name the folder that lyceum backup wrote backups to`, "backup-prune", backups)
	without := t.TempDir()
	says(t, 0, ` verified`, "backup", "--data", filesOfSchool(t), filepath.Join(without, "0.db"))
	says(t, 0, `^removed 0 files of 0 kB that none of 1 backup needs`, "backup-prune", without)
	says(t, 0, `^0 files of 0 kB that none of 1 backup needs; `, "backup-prune", "--dry-run", without)
	for i, dir := range []string{one, two} {
		says(t, 0, ` verified`, "backup", "--data", dir, filepath.Join(backups, fmt.Sprintf("%d.db", i)))
	}
	says(t, 0, `^removed 0 files of 0 kB that none of 2 backups needs`, "backup-prune", backups)
	if err := os.Rename(filepath.Join(backups, "0.db"), filepath.Join(backups, "0.db.gz")); err != nil {
		t.Fatal(err)
	}
	says(t, 0, `that none of 2 backups needs`, "backup-prune", backups) // whatever its name
	odd := filepath.Join(backups, "0.db.gz")
	if err := os.WriteFile(odd, []byte("packed"), 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, 1, `^lyceum: 0.db.gz in .* is not a backup that can be read, so nothing was removed; move it to another folder, or delete it`, "backup-prune", backups)
	if err := os.Remove(odd); err != nil {
		t.Fatal(err)
	}
	says(t, 0, `^1 file of 1 kB that none of 1 backup needs; nothing was removed \(--dry-run\)`, "backup-prune", "--dry-run", backups)
	says(t, 0, `^removed 1 file of 1 kB that none of 1 backup needs`, "backup-prune", backups)
	says(t, 0, ` 2 restored, `, "restore", "--data", t.TempDir(), filepath.Join(backups, "1.db"))
	if err := os.Remove(filepath.Join(backups, "1.db")); err != nil {
		t.Fatal(err)
	}
	says(t, 1, `has no backup, so nothing was removed; `, "backup-prune", backups)
	held, err := lockBackupFiles(filepath.Join(backups, "backup-files"))
	if err != nil {
		t.Fatal(err)
	}
	defer held()
	says(t, 1, `another lyceum process is writing to .*backup-files; wait until it has ended`, "backup", "--data", one, filepath.Join(backups, "2.db"))
}

// sweptStore sweeps files just before the first one is opened.
type sweptStore struct {
	lyceum.FileStore

	sweep func()
	once  sync.Once
}

func (s *sweptStore) Open(ctx context.Context, name lyceum.FileName) (io.ReadSeekCloser, error) {
	s.once.Do(s.sweep)
	return s.FileStore.Open(ctx, name)
}

// If a file is swept after the database was copied, that is not an error: the backup uses
// another copy of the database.
func TestBackupWhileFilesAreSwept(t *testing.T) {
	t.Parallel()
	dir := filesOfSchool(t, "one", "two") // nothing refers to them
	store, err := openStore(t.Context(), dir, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	folder := files.NewFolder(filepath.Join(dir, "files"))
	swept := &sweptStore{FileStore: folder, sweep: func() {
		if err := learning.New(store, time.Now).KeepFiles(folder).SweepFiles(t.Context(), 1); err != nil {
			t.Error(err)
		}
	}}
	c := backupCommand{File: filepath.Join(t.TempDir(), "1.db")}
	p := &program{ctx: t.Context(), stdout: io.Discard, stderr: io.Discard, clock: time.Now, log: slog.New(slog.DiscardHandler)}
	done, err := c.write(p, store, swept)
	if err != nil || done.wrong > 0 {
		t.Errorf("%+v, %v", done, err)
	}
	says(t, 0, `is restored`, "restore", "--data", t.TempDir(), c.File)
}

// TestBackupUnderUploads checks that backups made during uploads have every file that they
// refer to, and that a restore puts them back, however often it is killed.
func TestBackupUnderUploads(t *testing.T) {
	t.Parallel()
	s := openShop(t, t.TempDir())
	s.serve(t)
	sent := map[string]string{}
	var mu sync.Mutex
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range 12 {
			f := s.sending(t, 1<<18)
			if status, _, err := f.put(0, len(f.content), bytes.NewReader(f.content)); err != nil || status != http.StatusOK {
				t.Errorf("sent: %d, %v", status, err)
			}
			mu.Lock()
			sent[f.url] = string(f.content)
			mu.Unlock()
		}
	}()
	backups := t.TempDir()
	made := 0
	for last := false; !last; made++ {
		select {
		case <-ended:
			last = true
		default:
		}
		mu.Lock()
		acknowledged := len(sent)
		mu.Unlock()
		file := filepath.Join(backups, fmt.Sprintf("%d.db", made))
		command(t, "backup", "--data", s.place, file)
		known := 0
		err := sqlstore.FilesIn(t.Context(), file, func(f *sqlstore.KnownFile) error {
			known++
			_, err := os.Stat(filepath.Join(backups, backupFilesName, string(backedUpAs(f))))
			return err
		})
		if err != nil || known < acknowledged {
			t.Fatalf("backup %d knows %d files, and %d were acknowledged: %v", made, known, acknowledged, err)
		}
	}
	if status, err := s.server.signal(15); err != nil || status != 0 {
		t.Error(status, err)
	}
	file := filepath.Join(backups, fmt.Sprintf("%d.db", made-1))
	other := filepath.Join(t.TempDir(), "other")
	for range 3 {
		restore := exec.Command("lyceum", "restore", "--data", other, file)
		child, err := launch(restore)
		if err != nil {
			t.Fatal(err)
		}
		some := 1 + rand.IntN(10)
		await(func() bool { return !child.running() || len(filesIn(t, filepath.Join(other, "files"))) >= some })
		child.kill(t)
		if _, err := os.Stat(filepath.Join(other, "lyceum.db")); err == nil {
			break // it had finished before
		}
	}
	command(t, "restore", "--force", "--data", other, file)
	if said := command(t, "check", "--deep", "--data", other); !strings.Contains(said, "12 uploaded files, all in order") {
		t.Error(said)
	}
	now, was := filesIn(t, filepath.Join(other, "files")), filesIn(t, filepath.Join(s.place, "files"))
	if len(was) != 12 || fmt.Sprint(now) != fmt.Sprint(was) {
		t.Errorf("%d files, and there were %d; or they differ", len(now), len(was))
	}
}
