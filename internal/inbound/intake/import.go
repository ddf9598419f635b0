package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/lyceum-school/lyceum"
)

// Sink is the rule that keeps rows. Within one import no two rows that it is
// given have the same id or another key of the kind in common, unless it
// refused the one before.
type Sink[T any] interface {
	// Check says which rows of the batch Save would refuse. It changes nothing.
	Check(ctx context.Context, batch []T) ([]lyceum.RowProblem, error)
	// Save keeps all rows of the batch that have no problem, in one write.
	Save(ctx context.Context, batch []T) (lyceum.Saved, []lyceum.RowProblem, error)
}

// Policy is what an import does about bad rows.
type Policy uint8

// The policies. With Stop nothing is imported unless every row is good, and
// the file is read twice; with Skip the good rows are.
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

// Progress is how far an import has come in its phase.
type Progress struct {
	Phase Phase
	Rows  int   // read so far, good and bad
	Bytes int64 // of the file fetched so far, before unzipping
}

// Options say how an import goes about its work. The zero value stops at bad
// rows, imports, and tells nothing.
type Options struct {
	OnError   Policy
	DryRun    bool                              // check only
	LastIDs   bool                              // take ids above lyceum.MaxImportedID, too
	JSON      bool                              // the file is known to be JSON: of no rows if it is empty
	Rewrite   func(text []byte) ([]byte, error) // puts other texts in the place of those in the file; nil: none
	BatchSize int                               // rows given to the sink at once; 0 is 1000
	Progress  func(Progress)                    // called after each batch
	Problem   func(Problem)                     // called for each problem of each bad row, in the order of the file
}

// Result is what an import did.
type Result struct {
	Rows    int          // read, good and bad
	Bad     int          // rows that were not imported
	Saved   lyceum.Saved // of the others
	Ignored []string     // columns of the file that the kind has not
}

const defaultBatch = 1000

// Import reads a file of rows into a sink. Open is called once for each time
// the file is read from its begin: twice with Stop, once with Skip or DryRun.
//
// With Stop, bad rows make it fail with Invalid after all of them have been
// told to Options.Problem. A row whose id or other key stood in an earlier good
// row is a bad row. An import that breaks off says how many rows were saved;
// doing it again is safe, because a sink leaves alone what is the same.
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
		defer file.Close() // nothing is written to it
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

// brokenOff says with an error how much had been imported by then.
func brokenOff(err error, phase Phase, saved int) error {
	if err == nil {
		return nil
	}
	e, public := errors.AsType[*lyceum.Error](err)
	unknown := public && e.Code == lyceum.OutcomeUnknown
	told := "nothing was imported"
	if phase == Importing && (saved > 0 || unknown) {
		told = plural(saved, "row was", "rows were") + " imported before that; "
		if public && e.Kind == lyceum.Conflict {
			told += "correct the file and import it again"
		} else {
			told += "repeat the import to continue"
		}
	}
	if public {
		with := *e
		if unknown { // what it advises is for requests
			with.Detail = "the database did not confirm the rows that were stored last, so it is unknown whether they were saved"
		}
		with.Detail += "; " + told
		return &with
	}
	return fmt.Errorf("%s: %w", told, err)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

// thousands writes n with commas: 10,000.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
