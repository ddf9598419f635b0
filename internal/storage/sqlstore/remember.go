package sqlstore

import "slices"

// answers are rows that queries found, each as of some place in the log of a group.
type answers map[asked]*answer

// asked is a query with its arguments.
type asked struct {
	of   *statement
	args string
}

// answer is what a query found.
type answer struct {
	text   string
	args   []any
	byKey  string // the query that finds one of the rows by its school and its first column; empty if there is none
	rows   [][]any
	guess  [][]any
	by     []any // see likely
	wanted bool  // it is among those that are missing
	known  bool
	since  int   // the rows of the log that it may have found
	huge   bool  // there are too many rows to keep
	single bool  // the first row is all that is wanted
	width  int   // columns of a row
	number int   // of the change that asked
	again  bool  // another change asked, too
	in     scope // of the query, as that one said
	stays  bool  // it was so in this group or one before
	idle   int   // groups since
}

const (
	maxAnswer = 1024 // rows that are kept of a query that was asked for many changes
	// maxRemembered and maxRememberedRows are how many answers a group remembers, and how
	// many rows of each.
	maxRemembered, maxRememberedRows = 512, 16
)

// fresh returns the answer to a query, if it is known and nothing that was written since
// can change it.
func (g *group) fresh(of *statement, in scope, args []any) *answer {
	a := g.answers[askedOf(of, args)]
	if a == nil || !a.known || a.huge || len(g.log)-a.since > maxLooked ||
		g.met(of, in, args, a.since) || g.settled && of.ofBooks() {
		return nil
	}
	if a.number != g.number {
		a.in, a.again = in, true
	}
	return a
}

// keep takes an answer that is known now. Each row is the answer to the query by its key,
// too.
func (a answers) keep(found *answer) {
	found.known = true
	a[askedOf(statementOf(found.text), found.args)] = found
	if found.byKey == "" || found.byKey == found.text {
		return
	}
	of := statementOf(found.byKey)
	for _, row := range found.rows {
		args := []any{found.args[0], row[0]}
		a[askedOf(of, args)] = &answer{
			text: found.byKey, args: args, rows: [][]any{row}, known: true, since: found.since, number: found.number,
		}
	}
}

func askedOf(of *statement, args []any) asked {
	return asked{of, string(appendArgs(make([]byte, 0, 64), args...))}
}

// each visits the rows, or those that are guessed.
func (a *answer) each(s *session, dest []any, visit func() error) error {
	rows := a.rows
	if !a.known {
		rows = a.guess
	}
	meter := s.meter(dest)
	for _, row := range rows {
		if err := scanRow(row, dest); err != nil {
			return err
		}
		if err := meter.row(); err != nil {
			return err
		}
		if err := visit(); err != nil {
			return err
		}
	}
	return meter.settle()
}

// remember runs a query now and keeps what it found, if that is little, for when it is
// asked again.
func (g *group) remember(in scope, text string, args, dest []any, visit func() error) error {
	a := &answer{
		text: text, args: slices.Clone(args), byKey: in.byKey, by: in.likely.by, since: len(g.log),
		number: g.number,
	}
	ended := g.guessed.ended
	if g.guesses != nil && !g.shared { // nil on SQLite
		a.guess = g.guesses.find(statementOf(text), in.likely)
		g.guessed.missing = append(g.guessed.missing, a)
		ended = ended || len(g.guessed.missing) > maxRemembered
	}
	row, columns := make([]valueColumn, len(dest)), make([]any, len(dest))
	for i := range columns {
		columns[i] = &row[i]
	}
	err := g.ask(text, args, columns, func() error {
		if !a.huge && len(a.rows) < maxRememberedRows {
			a.rows = append(a.rows, valuesOf(row))
			return nil
		}
		a.huge = true
		kept := a.rows
		a.rows = nil
		for _, row := range append(kept, valuesOf(row)) {
			if err := scanRow(row, dest); err != nil {
				return err
			}
			if err := visit(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || a.huge {
		return err
	}
	g.guessed.ended = ended
	g.answers.keep(a)
	return a.each(g.session, dest, visit)
}

// valueColumn is the destination of a column that is kept as it is.
type valueColumn struct{ value any }

// Scan implements sql.Scanner.
func (c *valueColumn) Scan(src any) error {
	if b, is := src.([]byte); is {
		src = slices.Clone(b)
	}
	c.value = src
	return nil
}

func valuesOf(row []valueColumn) []any {
	values := make([]any, len(row))
	for i := range row {
		values[i] = row[i].value
	}
	return values
}

// foundAny reports whether a query found a row, where it was asked before and nothing
// that was written since can change that.
func (g *group) foundAny(in scope, text string, args []any) (found, known bool) {
	if g == nil || g.rehearsal != nil {
		return false, false
	}
	of := statementOf(text)
	a := g.fresh(of, in, args)
	return a != nil && len(a.rows) > 0, a != nil
}

// recall visits the rows with keys that are known, and returns the other keys.
func (g *group) recall(in scope, school int64, keys, dest []any, visit func() error) (rest []any, err error) {
	if g.rehearsal != nil {
		return keys, nil
	}
	of := statementOf(in.byKey)
	for _, key := range keys {
		one := scope{tables: in.tables, equals: []equal{{in.equals[0].column, []any{key}}}, byKey: in.byKey}
		a := g.fresh(of, one, []any{school, key})
		if a == nil {
			rest = append(rest, key)
			continue
		}
		if err := a.each(g.session, dest, visit); err != nil {
			return nil, err
		}
	}
	return rest, nil
}
