package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestImportIsInterrupted while it waits for standard input; it leaves nothing
// of it behind.
func TestImportIsInterrupted(t *testing.T) {
	dir := newSchool(t)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			kept := t.TempDir()
			there := func() bool {
				files, err := filepath.Glob(filepath.Join(kept, "*"))
				return err == nil && len(files) > 0
			}
			var errs bytes.Buffer
			cmd := exec.Command("lyceum", "import", "--data", dir, "users", "-")
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
			status, err := p.signal(signal)
			if err != nil {
				t.Fatal(err)
			}
			if want := "lyceum: interrupted; repeat the command to finish the rest\n"; status != 1 || errs.String() != want || there() {
				t.Errorf("it ends with %d, a file is left: %t, %s", status, there(), errs.String())
			}
		})
	}
}
