package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// ran runs the program to its end and returns its exit status and output.
func ran(t *testing.T, args ...string) (status int, said string) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command("lyceum", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), &out, &out
	err := cmd.Run()
	if ended, is := errors.AsType[*exec.ExitError](err); err != nil && (!is || !ended.Exited()) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// TestR27_ServerWhoseFilesAreGone checks that no sale is acknowledged that would be lost with
// the process, and that the next start does not create an empty school.
func TestR27_ServerWhoseFilesAreGone(t *testing.T) {
	t.Parallel()
	for name, files := range map[string][]string{
		"all":          {"lyceum.db", "lyceum.db-wal", "lyceum.db-shm"},
		"the database": {"lyceum.db"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShop(t, t.TempDir())
			s.serve(t)
			sale := map[string]any{"user_id": 1, "pricing_plan_id": 1}
			if status, err := s.send(http.MethodPost, "/lyceum/v1/sales", "", sale, nil); status != http.StatusCreated {
				t.Fatal(status, err)
			}
			for _, file := range files {
				if err := os.Remove(filepath.Join(s.place, file)); err != nil {
					t.Fatal(err)
				}
			}
			if status, err := s.send(http.MethodPost, "/lyceum/v1/sales", "", sale, nil); status != http.StatusServiceUnavailable {
				t.Errorf("a sale is answered with %d %v, want 503", status, err)
			}
			if _, body := get(t, "http://"+s.metrics+"/metrics"); !strings.Contains(body, "\nlyceum_storage_moved 1\n") {
				t.Error("/metrics does not have lyceum_storage_moved 1")
			}
			if status, body := get(t, "http://"+s.addr+"/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, "moved, deleted or replaced") {
				t.Errorf("/readyz answers %d %q", status, body)
			}
			s.server.kill(t)
			if status, said := ran(t, "serve", "--data", s.place, "--addr", "127.0.0.1:0"); status != 1 || !strings.Contains(said, "has lost its database") {
				t.Errorf("the next start: %d %s", status, said)
			}
		})
	}
}

// TestR28_FolderOfANewDatabase checks that a database is only created where nothing indicates
// that there was one before, and where nothing else is stored.
func TestR28_FolderOfANewDatabase(t *testing.T) {
	t.Parallel()
	const lost, foreign = "has lost its database: lyceum.db is missing or empty, although the folder has ", " but no database; set --data"
	for name, tc := range map[string]struct {
		holds   []string // names of files, and of folders with a slash
		refused string   // part of the error; "" means that a database is created
	}{
		"empty":                         {nil, ""},
		"a new volume":                  {[]string{"lost+found/"}, ""},
		"files":                         {[]string{"files/"}, ""},
		"a supplied key":                {[]string{"secret.key"}, ""},
		"all of these":                  {[]string{"lost+found/", "files/", "secret.key"}, ""},
		"a log":                         {[]string{"lyceum.db-wal"}, lost + "lyceum.db-wal;"},
		"a log beside an empty file":    {[]string{"lyceum.db-wal", "lyceum.db"}, lost + "lyceum.db-wal;"},
		"an empty file":                 {[]string{"lyceum.db"}, ""},
		"an empty file and a key":       {[]string{"lyceum.db", "secret.key"}, ""},
		"an index beside an empty file": {[]string{"index/", "lyceum.db"}, lost + "index;"},
		"an empty file that was served": {[]string{"lyceum.db", "lyceum.lock", "secret.key"}, lost + "lyceum.lock;"},
		"shared memory":                 {[]string{"lyceum.db-shm"}, lost},
		"an index":                      {[]string{"index/"}, lost + "index;"},
		"what a server leaves":          {[]string{"lyceum.lock", "secret.key"}, lost + "lyceum.lock;"},
		"what a server leaves, and all": {[]string{"lyceum.lock", "secret.key", "index/", "lost+found/"}, lost + "index, lyceum.lock;"},
		"another database":              {[]string{"school.db"}, "has school.db" + foreign},
		"somebody's home":               {[]string{"a", "b", "c", "d", "e"}, "has a, b, c and 2 more" + foreign},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, name := range tc.holds {
				folder, is := strings.CutSuffix(name, "/")
				content := []byte(strings.Repeat("ab", 32))
				if name == sqlstore.FileName {
					content = nil
				}
				var err error
				if is {
					err = os.Mkdir(filepath.Join(dir, folder), 0o700)
				} else {
					err = os.WriteFile(filepath.Join(dir, name), content, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			before := names(t, dir)
			if status, said := ran(t, "check", "--data", dir); status != 1 || !strings.Contains(said, "there is no database in "+dir) {
				t.Errorf("check: %d %s", status, said)
			}
			if tc.refused == "" {
				if status, said := ran(t, "school", "create", "--data", dir, "--name", "Fernwood", "--owner-email", "ann@example.com"); status != 0 {
					t.Error(said)
				}
				if _, err := os.Stat(filepath.Join(dir, sqlstore.FileName)); err != nil {
					t.Error(err)
				}
				return
			}
			for _, command := range [][]string{
				{"serve", "--addr", "127.0.0.1:0"},
				{"sandbox", "--addr", "127.0.0.1:0"},
				{"school", "create", "--name", "Fernwood", "--owner-email", "ann@example.com"},
			} {
				status, said := ran(t, append(command, "--data", dir)...)
				if status != 1 || !strings.Contains(said, tc.refused) {
					t.Errorf("%s: %d %q, want %q", command[0], status, said, tc.refused)
				}
			}
			if after := names(t, dir); after != before {
				t.Errorf("the folder held %s and holds %s", before, after)
			}
		})
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]string, len(entries))
	for i, e := range entries {
		all[i] = e.Name()
	}
	return strings.Join(all, " ")
}

// TestR28_FirstStartOfAServer checks that serve creates what is missing, even alongside a key
// file that has another name.
func TestR28_FirstStartOfAServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := filepath.Join(dir, "webhooks.key")
	if err := os.WriteFile(key, []byte(strings.Repeat("ab", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	first := serveOn(t, dir, "--secret-key-file", key)
	if status, body := get(t, "http://"+first+"/readyz"); status != http.StatusOK {
		t.Error(status, body)
	}
}

// serveOn starts a server on a data folder and returns its address.
func serveOn(t *testing.T, dir string, more ...string) (addr string) {
	t.Helper()
	return serveAt(t, append([]string{"--data", dir}, more...)...)
}

// serveAt starts a server with arguments that name its database, and returns its address.
func serveAt(t *testing.T, args ...string) (addr string) {
	t.Helper()
	addr = freeAddress(t)
	p, err := launch(exec.Command(watched, append([]string{"serve", "--addr", addr, "--rate-limit", "0"}, args...)...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.kill(t) })
	ready := await(func() bool {
		response, err := http.Get("http://" + addr + "/readyz")
		if err == nil {
			response.Body.Close()
		}
		return err == nil && response.StatusCode == http.StatusOK || !p.running()
	})
	if !ready || !p.running() {
		t.Fatal("the server does not answer")
	}
	return addr
}

// TestR29_TwoServersOnOneFolder checks that the second server is rejected, whatever path it
// uses, even if the lock file of the first was deleted.
func TestR29_TwoServersOnOneFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	link := dir + "-link"
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	addr := serveOn(t, dir)
	backup := filepath.Join(t.TempDir(), "backup.db")
	if status, said := ran(t, "backup", "--data", dir, backup); status != 0 {
		t.Fatal(said)
	}
	second := func() {
		t.Helper()
		for _, place := range []string{dir, link, dir + "/../data"} {
			for _, command := range [][]string{{"serve", "--addr", "127.0.0.1:0"}, {"sandbox", "--addr", "127.0.0.1:0"}, {"restore", "--force", backup}} {
				status, said := ran(t, append(command, "--data", place)...)
				if status != 1 || !strings.Contains(said, "another lyceum process is using the data folder") {
					t.Errorf("%s on %s: %d %s", command[0], place, status, said)
				}
			}
		}
	}
	second()
	if err := os.Remove(filepath.Join(dir, lockName)); err != nil {
		t.Fatal(err)
	}
	second()
	if status, body := get(t, "http://"+addr+"/readyz"); status != http.StatusOK {
		t.Errorf("the first server answers %d %s", status, body)
	}
}
