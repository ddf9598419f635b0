package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// durableWrites is the number of writes that TestR2a traces.
const durableWrites = 50

// marker returns what the child prints after write n.
func marker(n int) string { return fmt.Sprintf("write %d is kept", n) }

// childDurable writes one transaction after another and prints a marker for each once the store
// acknowledges it. Its arguments are the data folder and the setting of synchronous.
func childDurable(args []string) error {
	ctx := context.Background()
	store, err := sqlstore.Open(ctx, args[0], sqlstore.Options{Synchronous: sqlstore.Synchronous(args[1])})
	if err != nil {
		return err
	}
	for n := 1; n <= durableWrites; n++ {
		if err := writeOne(ctx, store, &written{School: 1, Round: 1, Writer: 1, Number: int64(n)}); err != nil {
			return err
		}
		if _, err := fmt.Println(marker(n)); err != nil {
			return err
		}
	}
	return store.Close()
}

// TestR2a_SyncBeforeResponse traces the system calls of durable writes: between the last write to
// the log and the acknowledgement the log must be synced. With synchronous=NORMAL it is not,
// and the same check must detect that.
func TestR2a_SyncBeforeResponse(t *testing.T) {
	t.Parallel()
	needStrace(t)
	t.Run("full", func(t *testing.T) {
		if missed := unsynced(traceOf(t, sqlstore.Full)); len(missed) > 0 {
			t.Errorf("%d of %d answers came before the sync: %v", len(missed), durableWrites, missed)
		}
	})
	t.Run("normal is seen to fail", func(t *testing.T) {
		missed := unsynced(traceOf(t, sqlstore.Normal))
		if len(missed) == 0 {
			t.Error("no answer came before the sync: this test cannot see the fault it is for")
		}
		t.Logf("%d of %d answers came before the sync", len(missed), durableWrites)
	})
}

func needStrace(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("strace", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		const sentence = "strace does not work here, so nobody sees when files are synced: install strace and let it trace"
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s: %v %s", sentence, err, out)
		}
		t.Skipf("%s: %v %s", sentence, err, out)
	}
}

// call is a finished system call on a file; begin and end are line numbers of the trace.
type call struct {
	name, path, rest string
	begin, end       int
}

// traceOf runs the durable child under strace.
func traceOf(t *testing.T, synchronous sqlstore.Synchronous) []call {
	t.Helper()
	dir, output := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "trace")
	store, err := sqlstore.Open(t.Context(), dir, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	prepareWriters(t, store)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	child := childCommand(t, "durable", dir, string(synchronous))
	cmd := exec.Command("strace", append([]string{"-f", "-y", "-e", "trace=write,pwrite64,fsync,fdatasync", "-o", output, "--"}, child.Args...)...)
	cmd.Env = child.Env
	if out, err := cmd.CombinedOutput(); err != nil || strings.Count(string(out), "\n") != durableWrites {
		t.Fatalf("%v\n%s", err, out)
	}
	file, err := os.Open(output)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var calls []call
	open := map[string]call{} // by thread
	scanner := bufio.NewScanner(file)
	for line := 1; scanner.Scan(); line++ {
		if c := callLine.FindStringSubmatch(scanner.Text()); c != nil {
			made := call{name: c[2], path: c[3], rest: c[4], begin: line, end: line}
			if strings.HasSuffix(made.rest, "<unfinished ...>") {
				open[c[1]] = made
			} else {
				calls = append(calls, made)
			}
		}
		if c := resumedLine.FindStringSubmatch(scanner.Text()); c != nil {
			if made, ok := open[c[1]]; ok {
				made.end, made.rest = line, made.rest+c[2]
				calls = append(calls, made)
				delete(open, c[1])
			}
		}
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return calls
}

var (
	// 4711  fsync(8</data/lyceum.db-wal>) = 0
	callLine = regexp.MustCompile(`^(\d+) +(\w+)\(\d+<([^>]*)>(.*)$`)
	// 4711  <... fsync resumed>) = 0
	resumedLine = regexp.MustCompile(`^(\d+) +<\.\.\. \w+ resumed>(.*)$`)
)

// unsynced returns the writes that were acknowledged although the log had been written to
// without a sync afterwards, or not written to at all.
func unsynced(calls []call) (missed []int) {
	before := 0 // the line of the previous acknowledgement
	for n := 1; n <= durableWrites; n++ {
		response := 0
		for _, c := range calls {
			if c.name == "write" && strings.Contains(c.rest, `"`+marker(n)+`\n"`) {
				response = c.begin
			}
		}
		lastWrite, synced := 0, false
		for _, c := range calls {
			if c.begin > response || !strings.HasSuffix(c.path, "-wal") {
				continue
			}
			if c.name == "write" || c.name == "pwrite64" {
				lastWrite = max(lastWrite, c.end)
			}
		}
		for _, c := range calls {
			synced = synced || strings.HasSuffix(c.path, "-wal") && strings.HasSuffix(c.name, "sync") &&
				strings.HasSuffix(c.rest, "= 0") && c.begin > lastWrite && c.end < response
		}
		if lastWrite <= before || !synced {
			missed = append(missed, n)
		}
		before = response
	}
	return missed
}

// TestR20_BackupUnderLoad backs up a database while it is written to. The copy contains
// everything acknowledged before the backup started, and its books are consistent.
func TestR20_BackupUnderLoad(t *testing.T) {
	t.Parallel()
	dir, other := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "other")
	file := filepath.Join(t.TempDir(), "copy.db")
	store, err := sqlstore.Open(t.Context(), dir, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	prepareWriters(t, store)
	child, journal := startWriters(t, dir, 1, 1, writers, 1, writersSchools)
	if !await(func() bool { return journal.len() >= 1000 || !child.running() }) || !child.running() {
		t.Fatalf("the writers stopped by themselves: %v", child.err)
	}
	var acknowledged []written
	during := await(func() bool { // a backup that is quicker than a write proves nothing
		_ = os.Remove(file)
		acknowledged = journal.entries(t)
		command(t, "backup", file, "--data", dir)
		return journal.len() > len(acknowledged)
	})
	if !during {
		t.Error("nothing was written while the backup was made")
	}
	if !await(func() bool { return journal.len() > len(acknowledged)+writers || !child.running() }) || !child.running() {
		t.Fatalf("the writers stopped with the backup: %v", child.err)
	}
	child.kill(t)

	command(t, "restore", file, "--data", other)
	command(t, "check", "--data", other)
	restored, err := sqlstore.Open(t.Context(), other, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer restored.Close()
	healthy(t, restored)
	copied, all := savedIn(t, restored), savedIn(t, store)
	for _, w := range acknowledged {
		if !copied[w] {
			t.Errorf("%+v was acknowledged before the backup began and is not in it", w)
		}
	}
	for w := range copied {
		if !all[w] {
			t.Errorf("%+v is in the backup and not in the database", w)
		}
	}
}
