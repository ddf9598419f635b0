package intake_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum/internal/inbound/intake"
)

// guarded is a file that fails the test if it is read after it was closed.
type guarded struct {
	io.Reader

	t      *testing.T
	closed bool
}

func (g *guarded) Read(p []byte) (int, error) {
	if g.closed {
		g.t.Error("read after the file was closed")
	}
	return g.Reader.Read(p)
}

func (g *guarded) Close() error {
	g.closed = true
	return nil
}

// TestReadAhead checks that after a failure anywhere in a file an import no longer reads it, and
// that the rows saved before are those of the file.
func TestReadAhead(t *testing.T) {
	var file strings.Builder
	file.WriteString("id,email\n")
	for i := range 4000 {
		fmt.Fprintf(&file, "%d,u%d@x\n", i+1, i+1)
	}
	broken := errors.New("the disk is gone")
	for _, saves := range []int{1, 2, 7, 15, 16} {
		sink := userSchool()
		sink.onSave = func() error {
			if sink.saves == saves {
				return broken
			}
			return nil
		}
		open := func() (io.ReadCloser, error) {
			return &guarded{Reader: io.MultiReader(strings.NewReader(file.String()), strings.NewReader("")), t: t}, nil
		}
		result, err := intake.Import(t.Context(), open, intake.Users(), sink, intake.Options{OnError: intake.Skip, BatchSize: 250})
		if !errors.Is(err, broken) || result.Saved.Created != 250*(saves-1) {
			t.Errorf("%d: %+v, %v", saves, result, err)
		}
		for id := range sink.rows {
			if want := fmt.Sprintf("u%d@x", id); sink.rows[id].Email != want {
				t.Fatalf("row %d is %+v", id, sink.rows[id])
			}
		}
	}
}
