package main

import (
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Files can be copied to an object store, from there to another one, and back unchanged. Files that are missing or were
// changed are named, and the others are copied.
func TestFilesAreCopied(t *testing.T) {
	t.Parallel()
	dir := filesOfSchool(t, "one", "two", strings.Repeat("three", 1000))
	originals := filesIn(t, filepath.Join(dir, "files"))
	inside := s3mem.New()
	if err := inside.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	served := httptest.NewServer(gofakes3.New(inside).Server())
	t.Cleanup(served.Close)
	remote := strings.Replace(served.URL, "http://", "http://key:canary@", 1) + "/bucket"
	says(t, 0, `^3 files of 5 kB: 3 copied to the object store, 0 already there\n$`, "files", "copy", "--data", dir, "--to-url", remote)
	says(t, 0, `: 0 copied to the object store, 3 already there\n$`, "files", "copy", "--data", dir, "--to-url", remote)
	says(t, 0, `3 uploaded files, all in order`, "check", "--deep", "--data", dir, "--files-url", remote)
	secret := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(secret, []byte(remote+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, 0, `: 3 copied to the object store, 0 already there`, "files", "copy", "--data", dir, "--files-url", remote, "--to-url", remote+"/other")
	says(t, 0, `3 uploaded files, all in order`, "check", "--deep", "--data", dir, "--files-url", remote+"/other")
	back := filepath.Join(t.TempDir(), "back")
	says(t, 0, `: 3 copied to .*/back, 0 already there`, "files", "copy", "--data", dir, "--files-url-file", secret, "--to-folder", back)
	if got := filesIn(t, back); !maps.Equal(got, originals) {
		t.Errorf("%q came back as %q", originals, got)
	}
	names := slices.Sorted(maps.Keys(originals))
	for name, content := range map[string]string{filepath.Join(back, names[0]): "odd", filepath.Join(dir, "files", names[1]): "odd"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	says(t, 0, `: 0 copied to`, "files", "copy", "--data", dir, "--files-url", remote, "--to-folder", back)
	says(t, 0, `: 1 copied to .*, 2 already there`, "files", "copy", "--data", dir, "--files-url", remote, "--to-folder", back, "--deep")
	if got := filesIn(t, back); !maps.Equal(got, originals) {
		t.Errorf("%q came back as %q", originals, got)
	}
	if err := os.Remove(filepath.Join(dir, "files", names[0])); err != nil {
		t.Fatal(err)
	}
	missing, changed := `the file of upload \d is missing: `, `the file of upload \d was changed: `
	says(t, 1, `(?s)^3 files of 5 kB: 1 copied to .*(school 1: `+missing+`.*school 1: `+changed+`|school 1: `+changed+`.*school 1: `+missing+`).*2 files could not be copied`,
		"files", "copy", "--data", dir, "--to-folder", filepath.Join(t.TempDir(), "new"))
	served.Close()
	says(t, 1, `files cannot be (written to the object store|stored or read now)`, "files", "copy", "--data", dir, "--to-url", remote)
	for pattern, args := range map[string][]string{
		`--to-url|--to-folder`:                               {"files", "copy", "--data", dir},
		`--to-url must be a URL such as https://KEY:SECRET@`: {"files", "copy", "--data", dir, "--to-url", "s3://bucket"},
		`there is no database in`:                            {"files", "copy", "--data", filepath.Join(dir, "none"), "--to-folder", back},
	} {
		says(t, 1, pattern, args...)
	}
}
