package files_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/files"
)

const name lyceum.FileName = "1/7c/7c0e2a4e-ABC"

// kept lists the files below a folder.
func kept(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			short, _ := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(short))
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return names
}

func TestFilesAreKept(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "files")
	folder := files.NewFolder(dir)
	content := bytes.Repeat([]byte("pattern "), 100_000)
	sum, err := folder.Put(t.Context(), name, iotest.HalfReader(bytes.NewReader(content)), int64(len(content)))
	if err != nil || sum.Size != int64(len(content)) || sum.SHA256 != sha256.Sum256(content) {
		t.Fatalf("%+v, %v", sum, err)
	}
	file, err := folder.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if got, err := io.ReadAll(file); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if names := kept(t, dir); len(names) != 1 || names[0] != string(name) {
		t.Errorf("kept %v", names)
	}
	if info, err := os.Stat(filepath.Join(dir, string(name))); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := folder.Put(t.Context(), name, strings.NewReader("other"), 10); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second one: %v", err)
	}
	if _, err := folder.Put(t.Context(), "1/7c/8", strings.NewReader("x"), 10); err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[lyceum.FileName]int{"": 2, "1/7c/": 2, "1/7c/7c0e2a4e-": 1, "1/7d/x": 0} {
		n := 0
		err := folder.Each(t.Context(), prefix, func(f lyceum.StoredFile) error { n++; return nil })
		if err != nil || n != want {
			t.Errorf("%q: %d files, %v", prefix, n, err)
		}
	}
	if err := errors.Join(folder.Remove(t.Context(), name), folder.Remove(t.Context(), name)); err != nil {
		t.Error(err)
	}
	if _, err := folder.Open(t.Context(), name); lyceum.KindOf(err) != lyceum.NotFound {
		t.Errorf("removed: %v", err)
	}
}

// What does not come whole leaves nothing behind.
func TestNothingIsKeptInPart(t *testing.T) {
	t.Parallel()
	torn := errors.New("torn")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for what, tc := range map[string]struct {
		ctx  context.Context
		body io.Reader
		want func(error) bool
	}{
		"cut":       {t.Context(), io.MultiReader(strings.NewReader("begin"), iotest.ErrReader(torn)), func(err error) bool { return errors.Is(err, torn) }},
		"too long":  {t.Context(), strings.NewReader("01234567890"), func(err error) bool { return lyceum.KindOf(err) == lyceum.TooLarge }},
		"cancelled": {gone, strings.NewReader("01234"), func(err error) bool { return errors.Is(err, context.Canceled) }},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if _, err := files.NewFolder(dir).Put(tc.ctx, name, tc.body, 10); !tc.want(err) {
				t.Errorf("%v", err)
			}
			if names := kept(t, dir); len(names) > 0 {
				t.Errorf("kept %v", names)
			}
		})
	}
}

// Where nothing can be written the store says so, and that it may pass.
func TestFolderThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	folder := files.NewFolder(filepath.Join(file, "files"))
	if _, err := folder.Put(t.Context(), name, strings.NewReader("x"), 10); lyceum.KindOf(err) != lyceum.Unavailable {
		t.Errorf("put: %v", err)
	}
	if _, err := folder.Open(t.Context(), name); err == nil {
		t.Error("opened")
	}
	if _, err := files.NewFolder(filepath.Join(t.TempDir(), "none")).Open(t.Context(), name); lyceum.KindOf(err) != lyceum.NotFound {
		t.Errorf("no folder: %v", err)
	}
}

// A name never leads out of the folder, nor to a file that is still coming.
func TestNamesOfFiles(t *testing.T) {
	t.Parallel()
	folder := files.NewFolder(t.TempDir())
	for _, odd := range []lyceum.FileName{"", "/", "../x", "a/../b", "/etc/passwd", "a//b", "a/", "a.b", "a\\b", "a\x00b", "é", "incoming/x"} {
		if _, err := folder.Put(t.Context(), odd, strings.NewReader("x"), 1); err == nil {
			t.Errorf("put %q", odd)
		}
		if _, err := folder.Open(t.Context(), odd); err == nil || lyceum.KindOf(err) == lyceum.NotFound {
			t.Errorf("open %q: %v", odd, err)
		}
		if err := folder.Remove(t.Context(), odd); err == nil {
			t.Errorf("remove %q", odd)
		}
	}
	dir := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "1")); err != nil {
		t.Fatal(err)
	}
	if _, err := files.NewFolder(dir).Put(t.Context(), name, strings.NewReader("x"), 1); err == nil {
		t.Error("a symbolic link led out of the folder")
	}
}
