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

// put stores a file in one go.
func put(ctx context.Context, store lyceum.FileStore, name lyceum.FileName, body io.Reader, most int64) (sum lyceum.FileSum, err error) {
	part, err := store.Part(ctx, name)
	if err != nil {
		return sum, err
	}
	if err = part.Append(ctx, body, most); err == nil {
		sum, err = part.Keep(ctx, func(lyceum.FileSum) error { return nil })
	}
	return sum, errors.Join(err, part.Close())
}

func TestFilesAreKept(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "files")
	folder := files.NewFolder(dir)
	content := bytes.Repeat([]byte("pattern "), 100_000)
	sum, err := put(t.Context(), folder, name, iotest.HalfReader(bytes.NewReader(content)), int64(len(content)))
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
	if _, err := put(t.Context(), folder, name, strings.NewReader("other"), 10); lyceum.KindOf(err) != lyceum.Conflict {
		t.Errorf("a second one: %v", err)
	}
	if _, err := put(t.Context(), folder, "1/7c/8", strings.NewReader("x"), 10); err != nil {
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

// What was received before a body failed is kept, and the rest is added later.
func TestPartsGoOn(t *testing.T) {
	t.Parallel()
	torn := errors.New("torn")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for what, tc := range map[string]struct {
		ctx  context.Context
		body io.Reader
		want func(error) bool
		came string
	}{
		"cut":       {t.Context(), io.MultiReader(strings.NewReader("begin"), iotest.ErrReader(torn)), func(err error) bool { return errors.Is(err, torn) }, "begin"},
		"too long":  {t.Context(), io.MultiReader(strings.NewReader("begin"), strings.NewReader("012345")), func(err error) bool { return lyceum.KindOf(err) == lyceum.TooLarge }, "begin"},
		"cancelled": {gone, strings.NewReader("01234"), func(err error) bool { return errors.Is(err, context.Canceled) }, "01234"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if _, err := put(tc.ctx, files.NewFolder(dir), name, tc.body, 10); !tc.want(err) {
				t.Errorf("%v", err)
			}
			folder := files.NewFolder(dir)
			if _, err := folder.Open(t.Context(), name); lyceum.KindOf(err) != lyceum.NotFound {
				t.Errorf("a part can be read: %v", err)
			}
			part, err := folder.Part(t.Context(), name)
			if err != nil || part.Size() != int64(len(tc.came)) || string(part.Head()) != tc.came {
				t.Fatalf("%d bytes, %v", part.Size(), err)
			}
			if err := part.Close(); err != nil {
				t.Fatal(err)
			}
			sum, err := put(t.Context(), folder, name, strings.NewReader(" end"), 4)
			if want := tc.came + " end"; err != nil || sum.Name != name || sum.SHA256 != sha256.Sum256([]byte(want)) || read(t, folder) != want {
				t.Errorf("%+v, %v", sum, err)
			}
			if names := kept(t, dir); len(names) != 1 {
				t.Errorf("kept %v", names)
			}
		})
	}
}

func read(t *testing.T, folder *files.Folder) string {
	t.Helper()
	file, err := folder.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// After a power failure, as much of a part is used as its state on disk covers.
func TestPartsAfterAPowerFailure(t *testing.T) {
	t.Parallel()
	for what, tc := range map[string]struct {
		harm func(at string) error
		left int64
	}{
		"more than the state says": {func(at string) error { return os.WriteFile(at, []byte("begin\x00\x00"), 0o600) }, 5},
		"less than the state says": {func(at string) error { return os.WriteFile(at, []byte("beg"), 0o600) }, 0},
		"without a state":          {func(at string) error { return os.Remove(at + ".state") }, 0},
		"an odd state":             {func(at string) error { return os.WriteFile(at+".state", []byte("{"), 0o600) }, 0},
		"without the part":         {os.Remove, 0},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			folder := files.NewFolder(dir)
			if _, err := put(t.Context(), folder, name, io.MultiReader(strings.NewReader("begin"), iotest.ErrReader(io.ErrUnexpectedEOF)), 10); err == nil {
				t.Fatal("kept")
			}
			if err := tc.harm(filepath.Join(dir, "incoming", strings.ReplaceAll(string(name), "/", "_"))); err != nil {
				t.Fatal(err)
			}
			part, err := folder.Part(t.Context(), name)
			if err != nil || part.Size() != tc.left {
				t.Fatalf("%d bytes, %v", part.Size(), err)
			}
			if err := part.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := put(t.Context(), folder, name, strings.NewReader("all of it"[min(tc.left, 4):]), 10); err != nil {
				t.Fatal(err)
			}
			if want := "begin"[:tc.left] + "all of it"[min(tc.left, 4):]; read(t, folder) != want {
				t.Errorf("%q", read(t, folder))
			}
		})
	}
}

// A part that is restarted, rejected or removed begins again from scratch.
func TestPartsBeginAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder := files.NewFolder(dir)
	part, err := folder.Part(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	err = errors.Join(part.Append(t.Context(), strings.NewReader("wrong"), 5), part.Restart(t.Context()), part.Append(t.Context(), strings.NewReader("right"), 5))
	if _, failed := part.Keep(t.Context(), func(lyceum.FileSum) error { return refused }); err != nil || !errors.Is(failed, refused) || part.Size() != 5 {
		t.Errorf("%d bytes, %v, %v", part.Size(), err, failed)
	}
	if err := errors.Join(part.Close(), folder.Remove(t.Context(), name)); err != nil {
		t.Fatal(err)
	}
	if names := kept(t, dir); len(names) > 0 {
		t.Errorf("kept %v", names)
	}
	if sum, err := put(t.Context(), folder, name, strings.NewReader("right"), 5); err != nil || sum.Size != 5 {
		t.Errorf("%+v, %v", sum, err)
	}
	if part, err = folder.Part(t.Context(), name); err != nil || part.Size() != 5 { // as if the server was killed before it recorded that the file is complete
		t.Fatal(part.Size(), err)
	}
	if sum, err := part.Keep(t.Context(), func(lyceum.FileSum) error { return nil }); err != nil || sum.SHA256 != sha256.Sum256([]byte("right")) || sum.Name != name {
		t.Errorf("%+v, %v", sum, err)
	}
	if err := errors.Join(part.Restart(t.Context()), part.Append(t.Context(), strings.NewReader("new"), 5), part.Close()); err != nil {
		t.Error(err)
	}
}

// If nothing can be written, the store returns Unavailable.
func TestFolderThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	folder := files.NewFolder(filepath.Join(file, "files"))
	if _, err := put(t.Context(), folder, name, strings.NewReader("x"), 10); lyceum.KindOf(err) != lyceum.Unavailable {
		t.Errorf("put: %v", err)
	}
	if _, err := folder.Open(t.Context(), name); err == nil {
		t.Error("opened")
	}
	if _, err := files.NewFolder(filepath.Join(t.TempDir(), "none")).Open(t.Context(), name); lyceum.KindOf(err) != lyceum.NotFound {
		t.Errorf("no folder: %v", err)
	}
}

// If any file system operation fails, nothing is acknowledged, and the part resumes once it works
// again.
func TestFolderFaults(t *testing.T) {
	t.Parallel()
	part := "incoming/" + strings.ReplaceAll(string(name), "/", "_")
	first, _, _ := strings.Cut(string(name), "/")
	for what, tc := range map[string]struct {
		inTheWay string // a folder that contains a file
		keeps    bool   // all has been received
	}{
		"the part":                {part, true},
		"a state":                 {part + ".new", false},
		"the name of the state":   {part + ".state", false},
		"the content's folder":    {first, true},
		"the name of the content": {string(name), true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			folder := files.NewFolder(dir)
			if _, err := put(t.Context(), folder, name, io.MultiReader(strings.NewReader("begin"), iotest.ErrReader(io.ErrUnexpectedEOF)), 10); err == nil {
				t.Fatal("kept")
			}
			coming, err := folder.Part(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			at := filepath.Join(dir, filepath.FromSlash(tc.inTheWay))
			aside := filepath.Join(t.TempDir(), "aside")
			moved := os.Rename(at, aside) == nil
			if tc.inTheWay == first { // a folder of folders
				err = os.WriteFile(at, nil, 0o600)
			} else {
				err = os.MkdirAll(filepath.Join(at, "x"), 0o700)
			}
			if err != nil {
				t.Fatal(err)
			}
			err = coming.Append(t.Context(), strings.NewReader(" and end"), 10)
			if tc.keeps && err == nil {
				_, err = coming.Keep(t.Context(), func(lyceum.FileSum) error { return nil })
			}
			if closed := coming.Close(); err == nil {
				err = closed
			}
			if lyceum.KindOf(err) != lyceum.Unavailable {
				t.Errorf("%v", err)
			}
			if err := os.RemoveAll(at); err != nil {
				t.Fatal(err)
			}
			if moved {
				if err := os.Rename(aside, at); err != nil {
					t.Fatal(err)
				}
			}
			if coming, err = folder.Part(t.Context(), name); err != nil || coming.Size() < 5 {
				t.Fatalf("%d bytes have come, %v", coming.Size(), err)
			}
			rest := "begin and end"[coming.Size():]
			if err := coming.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := put(t.Context(), folder, name, strings.NewReader(rest), 10); err != nil || read(t, folder) != "begin and end" {
				t.Errorf("%q, %v", read(t, folder), err)
			}
		})
	}
}

// A name never leads out of the folder or to an incomplete file.
func TestNamesOfFiles(t *testing.T) {
	t.Parallel()
	folder := files.NewFolder(t.TempDir())
	for _, odd := range []lyceum.FileName{"", "/", "../x", "a/../b", "/etc/passwd", "a//b", "a/", "a.b", "a\\b", "a\x00b", "é", "incoming/x"} {
		if _, err := put(t.Context(), folder, odd, strings.NewReader("x"), 1); err == nil {
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
	if _, err := put(t.Context(), files.NewFolder(dir), name, strings.NewReader("x"), 1); err == nil {
		t.Error("a symbolic link led out of the folder")
	}
}
