package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/lyceum-school/lyceum"
)

// Sink is the rule that saves rows. Within one import, it never receives two rows with the
// same id or another key of the kind, unless it rejected the first one.
type Sink[T any] interface {
	// Check returns the problems for which Save would reject rows of the batch. It changes
	// nothing.
	Check(ctx context.Context, batch []T) ([]lyceum.RowProblem, error)
	// Save saves all rows of the batch that have no problems, in one write.
	Save(ctx context.Context, batch []T) (lyceum.Saved, []lyceum.RowProblem, error)
}

// Policy says what an import does about bad rows.
type Policy uint8

// The policies. Stop imports nothing unless every row is valid, and reads the file twice;
// Skip imports the valid rows.
const (
	Stop Policy = iota
	Skip
)

// Phase is what an import is doing.
type Phase string

// The phases of an import.
const (
	Checking  Phase = "checking"
	Importing Phase = "importing"
)

// Progress is the progress of an import in its phase.
type Progress struct {
	Phase Phase
	Rows  int   // read so far, including bad ones
	Bytes int64 // of the file read so far, before decompression
}

// Options are the settings of an import. The zero value imports, stops at bad rows, and
// reports nothing.
type Options struct {
	OnError   Policy
	DryRun    bool                              // only check
	LastIDs   bool                              // also accept ids above lyceum.MaxImportedID
	JSON      bool                              // the file is known to be JSON: without rows if it is empty
	Rewrite   func(text []byte) ([]byte, error) // replaces texts of the file; nil: unchanged
	BatchSize int                               // rows per call of the sink; 0 is 1000
	Progress  func(Progress)                    // called after each batch
	Problem   func(Problem)                     // called for each problem of each bad row, in the order of the file
}

// Result is what an import did.
type Result struct {
	Rows    int          // read, including bad ones
	Bad     int          // rows that were not imported
	Saved   lyceum.Saved // the outcome of the others
	Ignored []string     // unknown columns of the file
}

const defaultBatch = 1000

// Import reads the rows of a file into a sink. Open is called each time the file is read
// from its start: twice with Stop, once with Skip or DryRun.
//
// With Stop, bad rows make it fail with Invalid after all of them have been passed to
// Options.Problem. A row whose id or other key occurred in an earlier valid row is a bad
// row. An interrupted import says how many rows were saved; repeating it is safe, because
// a sink skips rows that are unchanged.
func Import[T any](
	ctx context.Context, open func() (io.ReadCloser, error), kind Kind[T], sink Sink[T], o Options,
) (Result, error) {
	if o.BatchSize <= 0 {
		o.BatchSize = defaultBatch
	}
	var found sections
	var ignored []string
	read := func(phase Phase) (Result, error) {
		file, err := open()
		if err != nil {
			return Result{}, fmt.Errorf("open the file: %w", err)
		}
		defer file.Close() // only read, so an error does not matter
		p := &pass[T]{sink: sink, o: o, phase: phase, seen: newSeen(kind)}
		reader, err := NewReader(kind, file)
		if o.JSON && errors.Is(err, errEmpty) {
			return Result{}, nil
		}
		if err == nil {
			reader.Rewrite(o.Rewrite)
			p.rows = reader
			at, random := file.(io.ReaderAt)
			switch {
			case phase == Checking && random && kind.anyOrder && reader.sectioned():
				p.sections = &found
			case found.newestFirst():
				p.rows, err = readBackwards(kind, at, &found, o.Rewrite)
			}
		}
		if err == nil {
			err = p.run(ctx)
			if phase == Checking || p.rows == rowSource[T](reader) {
				ignored = reader.Ignored()
			}
			p.result.Ignored = ignored
		}
		return p.result, brokenOff(err, phase, p.result.Saved.Total())
	}

	if o.OnError == Stop || o.DryRun {
		checked, err := read(Checking)
		if err == nil && checked.Bad > 0 && o.OnError == Stop {
			err = lyceum.Invalidf("%s of %s not valid; nothing was imported. Correct them, or import the others "+
				"with --on-error skip",
				thousands(checked.Bad), plural(checked.Rows, "row is", "rows are"))
		}
		if err != nil || o.DryRun {
			return checked, err
		}
	}
	return read(Importing)
}

// brokenOff adds to an error how much had been imported.
func brokenOff(err error, phase Phase, saved int) error {
	if err == nil {
		return nil
	}
	e, public := errors.AsType[*lyceum.Error](err)
	unknown := public && e.Code == lyceum.OutcomeUnknown
	outcome := "nothing was imported"
	if phase == Importing && (saved > 0 || unknown) {
		outcome = plural(saved, "row was", "rows were") + " imported before that; "
		if public && e.Kind == lyceum.Conflict {
			outcome += "correct the file and import it again"
		} else {
			outcome += "repeat the import to continue"
		}
	}
	if public {
		with := *e
		if unknown { // its advice is about requests
			with.Detail = "the database did not confirm the rows that were stored last, so it is unknown whether they were saved"
		}
		with.Detail += "; " + outcome
		return &with
	}
	return fmt.Errorf("%s: %w", outcome, err)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

// thousands formats n with commas: 10,000.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
