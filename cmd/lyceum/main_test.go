package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum/internal/storage/storetest"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain puts lyceum itself in the path of the tests. A process with childVariable set is not
// a test but a child of one.
func TestMain(m *testing.M) {
	if job := os.Getenv(childVariable); job != "" {
		if err := children[job](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, job+":", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// By default, a program under the race detector waits a second when it ends.
	if err := os.Setenv("GORACE", raceOptions); err != nil {
		panic(err)
	}
	programs := map[string]func(){watched: main}
	if !underRace() {
		programs["lyceum"] = main
	}
	testscript.Main(tests{m}, programs)
}

const raceOptions = "atexit_sleep_ms=0"

// watched is lyceum with the race detector if the tests have it: for servers that many clients use.
// For the hundreds of short commands, and for servers that are killed and started again, the
// detector would find little at four times the cost: they are lyceum.
const watched = "lyceum-watched"

type tests struct{ *testing.M }

// Run puts a lyceum without the race detector in the path, unless there is one already.
func (m tests) Run() int {
	if !underRace() {
		return m.M.Run()
	}
	dir, err := os.MkdirTemp("", "lyceum")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-o", filepath.Join(dir, "lyceum"), ".")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		panic(err)
	}
	if err := os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
		panic(err)
	}
	return m.M.Run()
}

// childVariable names the child that a process is.
const childVariable = "LYCEUM_TEST_CHILD"

// children are the programs that tests kill or trace.
var children = map[string]func(args []string) error{
	"writers": childWriters,
	"durable": childDurable,
	"astray":  childAstray,
	"keys":    childKeys,
}

// childCommand returns the command that runs this test binary as one of the children.
func childCommand(t testing.TB, job string, args ...string) *exec.Cmd {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), childVariable+"="+job)
	return cmd
}

// underRace reports whether the race detector is on, which makes SQLite twenty times as slow.
func underRace() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// patience is how long a test waits at most.
const patience = storetest.Patience

// await is the only way in which tests and scripts wait for background work.
func await(done func() bool) bool { return storetest.Await(done) }

// process is a program that runs alongside a test.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
	err   error // with which it ended; read it after ended is closed
}

func launch(cmd *exec.Cmd) (*process, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// signal sends a signal, waits for the process to end, and returns the exit status, or -1 if a
// signal ended it.
func (p *process) signal(s syscall.Signal) (int, error) {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return 0, err
	}
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode(), nil
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		return 0, fmt.Errorf("%s did not end by %s", p.cmd.Path, s)
	}
}

// kill kills the process, like a power failure would, if it has not ended by itself.
func (p *process) kill(t testing.TB) {
	t.Helper()
	if _, err := p.signal(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

// command runs a command of the program to its end and returns its output.
func command(t testing.TB, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command("lyceum", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("lyceum %q: %v\n%s%s", args, err, out.String(), errs.String())
	}
	return out.String()
}

// newSchool creates a data folder with one empty school.
func newSchool(t testing.TB) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	command(t, "school", "create", "--data", dir, "--name", "Fernwood", "--owner-email", "owner@example.com")
	return dir
}

// installed reports whether a program that some tests need is installed. If all tests must run,
// a missing program fails the test.
func installed(t interface {
	Fatalf(format string, args ...any)
}, name string,
) bool {
	_, err := exec.LookPath(name)
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed", name)
	}
	return err == nil
}

// A panic must not look like the end of a successful command.
func TestPanicIsNotSilent(t *testing.T) {
	t.Parallel()
	defer func() {
		if r := recover(); r != "no time" {
			t.Errorf("recovered %v", r)
		}
	}()
	clock := func() time.Time { panic("no time") }
	var out bytes.Buffer
	status := runBy(t.Context(), clock, []string{"school", "create", "--name", "X", "--owner-email", "o@example.com", "--data", t.TempDir()}, nil, &out, &out)
	t.Errorf("status %d: %s", status, out.String())
}
