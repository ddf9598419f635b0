package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestImportIsInterrupted interrupts an import while it waits for standard input or a pipe, and
// checks that nothing of it is left behind.
func TestImportIsInterrupted(t *testing.T) {
	dir := newSchool(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		file   string
		signal syscall.Signal
	}{{"-", syscall.SIGINT}, {"-", syscall.SIGTERM}, {pipe, syscall.SIGINT}, {pipe, syscall.SIGTERM}} {
		t.Run(filepath.Base(tc.file)+" "+tc.signal.String(), func(t *testing.T) {
			kept := t.TempDir()
			there := func() bool {
				files, err := filepath.Glob(filepath.Join(kept, "*"))
				return err == nil && len(files) > 0
			}
			var errs bytes.Buffer
			cmd := exec.Command("lyceum", "import", "--data", dir, "users", tc.file)
			cmd.Env, cmd.Stderr = append(os.Environ(), "TMPDIR="+kept), &errs
			input, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer input.Close()
			p, err := launch(cmd)
			if err != nil {
				t.Fatal(err)
			}
			defer p.kill(t)
			if !await(func() bool { return there() || !p.running() }) || !p.running() {
				t.Fatalf("it does not wait for its input: %s", errs.String())
			}
			status, err := p.signal(tc.signal)
			if err != nil {
				t.Fatal(err)
			}
			if want := "lyceum: interrupted; repeat the command to finish the rest\n"; status != 1 || errs.String() != want || there() {
				t.Errorf("it ends with %d, a file is left: %t, %s", status, there(), errs.String())
			}
		})
	}
}

// TestImportWithoutTemporarySpace checks that an import from standard input says what to do if the
// folder for temporary files is missing or full, and leaves nothing in it.
func TestImportWithoutTemporarySpace(t *testing.T) {
	t.Parallel()
	dir, kept := newSchool(t), t.TempDir()
	for _, temporary := range []string{filepath.Join(kept, "missing"), kept} {
		cmd := exec.Command("prlimit", "--fsize=100000:unlimited", "lyceum", "import", "--data", dir, "users", "-")
		cmd.Env = append(os.Environ(), "TMPDIR="+temporary)
		cmd.Stdin = strings.NewReader("id,email\n" + strings.Repeat("7,ada@example.com\n", 10_000))
		out, err := cmd.CombinedOutput()
		if want := "lyceum: the input cannot be kept in " + temporary + "; free some space there, or set TMPDIR to another " +
			"folder\n"; err == nil || !strings.HasPrefix(string(out), want) {
			t.Errorf("%v %s, want %s", err, out, want)
		}
	}
	if holds := names(t, kept); holds != "" {
		t.Errorf("the folder holds %s", holds)
	}
}

// TestQuestionIsInterrupted interrupts a command that waits for the answer to its question.
func TestQuestionIsInterrupted(t *testing.T) {
	t.Parallel()
	dir := newSchool(t)
	users := filepath.Join(t.TempDir(), "users.csv")
	if err := os.WriteFile(users, []byte("id,email\n7,ada@example.com\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, "import", "--data", dir, "users", users)
	var errs bytes.Buffer
	cmd := exec.Command("lyceum", "user", "erase", "--data", dir, "--email", "ada@example.com")
	cmd.Stderr = &errs
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := launch(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill(t)
	if text, err := bufio.NewReader(output).ReadString('?'); err != nil {
		t.Fatal(text, err)
	}
	status, err := p.signal(syscall.SIGINT)
	if want := "lyceum: interrupted; repeat the command to finish the rest\n"; err != nil || status != 1 || errs.String() != want {
		t.Errorf("it ends with %d, %v, %s", status, err, errs.String())
	}
}

// TestImportOfAPipe checks that input that can only be read once is imported like a file.
func TestImportOfAPipe(t *testing.T) {
	dir := newSchool(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(pipe, []byte("id,email\n7,ada@example.com\n"), 0) }()
	if output := command(t, "import", "--data", dir, "users", pipe); output != "1 users read: 1 created, 0 updated, 0 unchanged, 0 bad\n" {
		t.Error(output)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// An import continues once another program has released the lock, however much longer that
// takes than a server would wait.
func TestImportIsPatient(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "users.csv")
	if err := os.WriteFile(file, []byte("id,email,created_at\n7,ada@example.com,2026-01-01T00:00:00Z\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := storetest.Postgres(t)
	store, err := sqlstore.OpenPostgres(t.Context(), address, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	school := storetest.MakeSchool(t, store)
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	begun, end, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	var once sync.Once
	go func() {
		stamp := lyceum.Stamp{School: school, At: storetest.Begin, Actor: "test"}
		ended <- store.Write(t.Context(), stamp, func(lyceum.Tx) error {
			once.Do(func() { close(begun) })
			<-end
			return nil
		})
	}()
	<-begun
	done := make(chan string, 1)
	go func() {
		var out bytes.Buffer
		if status := runBy(t.Context(), time.Now, []string{"import", "users", file, "--database-url", address}, nil, &out, &out); status != 0 {
			fmt.Fprintf(&out, "exit status %d", status)
		}
		done <- out.String()
	}()
	// A server gives up after 2.5 s, as measured by PostgreSQL.
	const longer = `SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND locktype = 'advisory'
		AND clock_timestamp() > query_start + INTERVAL '2.6 s'`
	waits := storetest.Await(func() bool {
		var n int
		err := db.QueryRowContext(t.Context(), longer).Scan(&n)
		return err == nil && n > 0 || len(done) > 0
	})
	close(end)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if output := <-done; !waits || !strings.Contains(output, "1 users read: 1 created") {
		t.Error(output)
	}
	v := store.In(t.Context(), school)
	if _, err := v.Users.Get(v, 7); err != nil {
		t.Error(err)
	}
}
