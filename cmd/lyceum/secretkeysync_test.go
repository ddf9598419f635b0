package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// childKeys creates the first secret key in the folder that is its argument, and then a second one.
func childKeys(args []string) error {
	keys, err := secretKeys("", args[0])
	if err != nil {
		return err
	}
	return keys.save(append([]lyceum.SecretKey{newSecretKey()}, keys.ring.Keys()...))
}

// TestSecretKeysAreDurable traces the system calls that put a secret key in its place: the folder is
// synced after each rename, because the database may need the key from then on.
func TestSecretKeysAreDurable(t *testing.T) {
	t.Parallel()
	needStrace(t)
	dir, output := t.TempDir(), filepath.Join(t.TempDir(), "trace")
	child := childCommand(t, "keys", dir)
	cmd := exec.Command("strace", append([]string{"-f", "-y", "-e", "trace=rename,renameat,renameat2,fsync", "-o", output, "--"}, child.Args...)...)
	cmd.Env = child.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	trace, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	renames, synced := 0, true
	for line := range strings.Lines(string(trace)) {
		switch {
		case strings.Contains(line, " rename"):
			if !synced {
				t.Error("the folder was not synced after a rename")
			}
			renames, synced = renames+1, false
		case strings.Contains(line, " fsync(") && strings.Contains(line, "<"+dir+">"):
			synced = true
		}
	}
	if renames != 2 || !synced {
		t.Errorf("%d renames, want 2; the folder was synced after the last one: %v\n%s", renames, synced, trace)
	}
}
