package intake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// pass is one pass over a file, a window of rows at a time.
type pass[T any] struct {
	rows     rowSource[T]
	sections *sections // of the rows; nil if the file is not read again
	ahead    *ahead[T]
	sink     Sink[T]
	o        Options
	phase    Phase
	seen     *seen[T]
	result   Result

	read   int // rows in the window
	batch  []T
	places []place // of the rows in the batch
	// doubted rows share an id or another key with an earlier row that the sink has not
	// decided on yet. They are bad only if that row is valid.
	doubted []placed[T]
	faults  []placedFault // in the window
}

// place is where a row is: its number in the file, from 1, and its line.
type place struct{ row, line int }

// placed is a valid row.
type placed[T any] struct {
	place
	value T
}

type placedFault struct {
	place
	Problem
}

func (p *pass[T]) run(ctx context.Context) error {
	p.ahead = readAhead(p.rows)
	defer p.ahead.close()
	for {
		row, err := p.ahead.row()
		if err != nil {
			if p.sections != nil {
				p.sections.size = p.ahead.offset()
			}
			if flushed := p.flush(ctx); flushed != nil {
				return flushed
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if p.sections != nil {
			if p.ahead.next == 1 {
				p.sections.begin(p.ahead.part.at)
			}
			p.sections.row(p.seen.kind.id(&row.Value))
		}
		p.take(row)
		if p.read >= p.o.BatchSize {
			if err := p.flush(ctx); err != nil {
				return err
			}
		}
	}
}

// take adds a row to the window.
func (p *pass[T]) take(row *Row[T]) {
	p.result.Rows++
	p.read++
	at := place{row: p.result.Rows, line: row.Line}
	if len(row.Problems) == 0 && !p.o.LastIDs {
		for _, above := range lyceum.LastIDs(&row.Value) {
			row.Problems = append(row.Problems, Problem{Line: row.Line, Column: above.Field, Message: above.Message})
		}
	}
	if len(row.Problems) == 0 && p.seen.odd(&row.Value) {
		row.Problems = append(row.Problems, Problem{row.Line, p.seen.kind.columns[0].name, notAlways})
	}
	if len(row.Problems) == 0 {
		p.put(placed[T]{place: at, value: row.Value})
		return
	}
	for _, problem := range row.Problems {
		p.faults = append(p.faults, placedFault{at, problem})
	}
}

// put adds a row to the batch, or to the doubted rows.
func (p *pass[T]) put(row placed[T]) {
	if p.seen.doubtful(&row.value) {
		p.seen.doubt(&row.value)
		p.doubted = append(p.doubted, row)
		return
	}
	p.seen.add(&row.value)
	p.batch = append(p.batch, row.value)
	p.places = append(p.places, row.place)
}

// flush passes the window to the sink and reports its problems.
func (p *pass[T]) flush(ctx context.Context) error {
	strict := p.phase == Importing && p.o.OnError == Stop
	if strict && len(p.faults) > 0 {
		return p.changed()
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(p.batch) == 0 {
			p.settle()
		}
		if len(p.batch) == 0 {
			break
		}
		if err := p.give(ctx); err != nil {
			return err
		}
	}
	p.report()
	if strict && p.result.Bad > 0 {
		return p.changed()
	}
	if p.o.Progress != nil && p.read > 0 {
		p.o.Progress(Progress{Phase: p.phase, Rows: p.result.Rows, Bytes: p.ahead.offset()})
	}
	p.read = 0
	return nil
}

// changed ends an import with Stop whose rows were all valid when they were checked. If
// rows contradict each other in a way that the kind's keys do not express, only the sink
// detects it, once the earlier ones are saved.
func (p *pass[T]) changed() error {
	p.report()
	return lyceum.Errorf(lyceum.Conflict, "%s not valid, although all were when they were checked: the file or the "+
		"school changed meanwhile, or a row contradicts one that was imported before it",
		plural(p.result.Bad, "row is", "rows are"))
}

// give passes the batch to the sink and records which rows it rejected.
func (p *pass[T]) give(ctx context.Context) error {
	var (
		refused []lyceum.RowProblem
		saved   lyceum.Saved
		err     error
	)
	if p.phase == Checking {
		refused, err = p.sink.Check(ctx, p.batch)
	} else {
		saved, refused, err = p.sink.Save(ctx, p.batch)
	}
	if err != nil {
		return err
	}
	p.result.Saved.Add(saved)
	for _, r := range refused {
		if r.Index < 0 || r.Index >= len(p.batch) {
			return fmt.Errorf("the sink refused row %d of a batch of %d", r.Index, len(p.batch))
		}
		at := p.places[r.Index]
		p.seen.remove(&p.batch[r.Index])
		p.faults = append(p.faults, placedFault{at, Problem{Line: at.line, Column: r.Field, Message: r.Message}})
	}
	p.batch, p.places = p.batch[:0], p.places[:0]
	return nil
}

// settle decides on the doubted rows once the outcome of all earlier rows is known: those
// that clash with an accepted row are bad. Of the others, those that clash with none
// before them go into the batch.
func (p *pass[T]) settle() {
	open := p.doubted[:0]
	for _, row := range p.doubted {
		clashes := p.seen.clash(&row.value)
		for _, twice := range clashes {
			p.faults = append(p.faults, placedFault{row.place, Problem{row.line, twice.Field, twice.Message}})
		}
		if len(clashes) == 0 {
			open = append(open, row)
		}
	}
	p.seen.settle()
	p.doubted = open[:0]
	for _, row := range open {
		p.put(row)
	}
}

// report reports the faults of the window in the order of the file.
func (p *pass[T]) report() {
	slices.SortStableFunc(p.faults, func(a, b placedFault) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.row, b.row))
	})
	last := 0
	for _, fault := range p.faults {
		if fault.row != last {
			p.result.Bad++
			last = fault.row
		}
		if p.o.Problem != nil {
			p.o.Problem(fault.Problem)
		}
	}
	p.faults = p.faults[:0]
}
