package files_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/files"
)

// keptAs stores a file and returns its sum.
func keptAs(t *testing.T, store lyceum.FileStore, name lyceum.FileName, content []byte) lyceum.FileSum {
	t.Helper()
	sum, err := put(t.Context(), store, name, bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// A file is copied from any store to any other under exactly its name, and only once.
func TestTransfers(t *testing.T) {
	t.Parallel()
	content := noise(3 << 20)
	places := map[string]func(t *testing.T) lyceum.FileStore{
		"folder": func(t *testing.T) lyceum.FileStore { return files.NewFolder(t.TempDir()) },
		"S3":     func(t *testing.T) lyceum.FileStore { return newBucket(t).open(t) },
	}
	for from, source := range places {
		for to, target := range places {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				read := int64(0)
				transfer := files.Transfer{From: source(t), To: target(t), Read: func(n int64) { read += n }}
				sum := keptAs(t, transfer.From, name, content)
				want := lyceum.FileSum{Name: "ab/abc", Size: sum.Size, SHA256: sum.SHA256}
				for n := range 3 {
					transfer.Trust = n == 2
					copied, err := transfer.Copy(t.Context(), sum.Name, &want)
					if err != nil || copied != (n == 0) || read < sum.Size {
						t.Fatalf("%d: %v, %v, %d bytes were read", n, copied, err, read)
					}
					read = 0
				}
				if !bytes.Equal(contentOf(t, transfer.To, want.Name), content) {
					t.Error("the copy is not what was copied")
				}
			})
		}
	}
}

// A file that is missing or was changed at its source is not copied, and one that was changed at
// its destination is copied again.
func TestTransfersOfChangedFiles(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	transfer := files.Transfer{From: files.NewFolder(from), To: files.NewFolder(to), Read: func(int64) {}}
	sum := keptAs(t, transfer.From, name, []byte("right"))
	if _, err := transfer.Copy(t.Context(), "1/7c/8", &sum); lyceum.KindOf(err) != lyceum.NotFound {
		t.Errorf("missing: %v", err)
	}
	for what, content := range map[string]string{"changed": "wrong", "cut": "righ", "longer": "rights"} {
		want := sum
		keptAs(t, transfer.From, lyceum.FileName(what), []byte(content))
		if _, err := transfer.Copy(t.Context(), lyceum.FileName(what), &want); lyceum.KindOf(err) != lyceum.Conflict {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := transfer.To.Open(t.Context(), name); lyceum.KindOf(err) != lyceum.NotFound {
			t.Errorf("%s: it was copied: %v", what, err)
		}
	}
	if left := kept(t, to); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	for n, content := range []string{"", "", "wrong", "longer"} {
		if n > 0 {
			if err := os.WriteFile(filepath.Join(to, string(name)), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if copied, err := transfer.Copy(t.Context(), name, &sum); !copied || err != nil {
			t.Errorf("over %q: %v, %v", content, copied, err)
		}
		if got := contentOf(t, transfer.To, name); string(got) != "right" {
			t.Errorf("over %q: %q", content, got)
		}
	}
}

// An interrupted copy is resumed, unless what was received is not the beginning of the file.
func TestTransfersGoOn(t *testing.T) {
	t.Parallel()
	content := noise(1 << 20)
	sum := lyceum.FileSum{Name: name, Size: int64(len(content)), SHA256: sha256.Sum256(content)}
	for what, begun := range map[string][]byte{"right": content[:1<<19], "wrong": noise(1<<19 + 8)[8:], "longer": noise(2 << 20), "all": content} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			read := int64(0)
			transfer := files.Transfer{From: files.NewFolder(t.TempDir()), To: files.NewFolder(t.TempDir()), Read: func(n int64) { read += n }}
			source := keptAs(t, transfer.From, "1/source", content)
			torn := io.MultiReader(bytes.NewReader(begun), iotest.ErrReader(io.ErrUnexpectedEOF))
			if _, err := put(t.Context(), transfer.To, name, torn, 4<<20); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatal(err)
			}
			if copied, err := transfer.Copy(t.Context(), source.Name, &sum); err != nil || !copied {
				t.Errorf("%v, %v", copied, err)
			}
			if !bytes.Equal(contentOf(t, transfer.To, name), content) {
				t.Error("the copy is not what was copied")
			}
		})
	}
}

// An error says which of the two stores is at fault.
func TestTransfersThatFail(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	good, bad := files.NewFolder(t.TempDir()), files.NewFolder(filepath.Join(file, "files"))
	sum := keptAs(t, good, name, []byte("right"))
	none := files.NewFolder(t.TempDir())
	to := files.Transfer{From: good, To: bad, Read: func(int64) {}}
	if _, err := to.Copy(t.Context(), name, &sum); !errors.Is(err, files.ErrNotWritten) {
		t.Errorf("to: %v", err)
	}
	from := files.Transfer{From: bad, To: none, Read: func(int64) {}}
	if _, err := from.Copy(t.Context(), name, &sum); lyceum.KindOf(err) != lyceum.Unavailable || errors.Is(err, files.ErrNotWritten) {
		t.Errorf("from: %v", err)
	}
}
