package salesindex_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
)

// saverVariable turns this test binary into a program that saves snapshots to the path in the
// variable until it is killed, or until its input ends with the test.
const saverVariable = "SALESINDEX_TEST_SAVER"

func TestMain(m *testing.M) {
	if path := os.Getenv(saverVariable); path != "" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(1)
		}()
		fmt.Fprintln(os.Stderr, saveOn(path))
		os.Exit(1)
	}
	salesindex.Patient()
	os.Exit(m.Run())
}

// saverSales is how many sales the snapshot with a number has.
func saverSales(number int64) int { return 20_000 + int(number%2)*5000 }

func saveOn(path string) error {
	r := rand.New(rand.NewPCG(9, 9))
	schools := [2]*salesindex.Index{school(&testing.B{}, r, saverSales(0)), school(&testing.B{}, r, saverSales(1))}
	h := salesindex.SnapshotHeader{Number: 1}
	if _, before, err := load(path); err == nil {
		h.Number = before.Number + 1
	}
	for ; ; h.Number++ {
		if err := salesindex.SaveSnapshot(path, schools[h.Number%2].View(), h); err != nil {
			return err
		}
	}
}

// TestSnapshotKill kills a program that constantly saves snapshots. The file must be either the
// previous or the next snapshot, complete.
func TestSnapshotKill(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "snapshot")
	number, torn := int64(0), 0
	for range 10 {
		saver := exec.CommandContext(t.Context(), binary)
		saver.Env = append(os.Environ(), saverVariable+"="+path)
		saver.Stderr = os.Stderr
		if _, err := saver.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		if err := saver.Start(); err != nil {
			t.Fatal(err)
		}
		awaitSave(t, path, number)
		time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond)
		if err := saver.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = saver.Wait()
		if status := saver.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
			t.Fatalf("the saver was not killed: %v", saver.ProcessState)
		}
		if _, err := os.Stat(path + ".partial"); err == nil {
			torn++
		}
		x, h, err := load(path)
		if err != nil {
			t.Fatalf("after number %d: %v", number, err)
		}
		if h.Number <= number || x.Len() != saverSales(h.Number) {
			t.Fatalf("after number %d: number %d with %d sales", number, h.Number, x.Len())
		}
		all := x.Find(lyceum.TransactionFilter{}, lyceum.OldestFirst, lyceum.Page{Number: 1, Size: 100})
		if len(all.All()) != 100 {
			t.Fatalf("number %d lists %d sales", h.Number, len(all.All()))
		}
		number = h.Number
	}
	t.Logf("%d snapshots, %d of 10 kills left a temporary file", number, torn)
	if torn == 0 {
		t.Error("no kill came while a snapshot was written")
	}
}

// awaitSave waits for a snapshot with a higher number.
func awaitSave(t *testing.T, path string, number int64) {
	t.Helper()
	await(t, "a newer snapshot", func() bool {
		_, h, err := load(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return h.Number > number
	})
}
