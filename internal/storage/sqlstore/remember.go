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
	rows   [][]any
	guess  [][]any
	blind  bool // it was guessed blindly
	wanted bool // it is among those that are missing
	known  bool
	since  int   // the rows of the log that it may have found
	huge   bool  // there are too many rows to keep
	single bool  // the first row is all that is wanted
	width  int   // columns of a row
	behind bool  // it is asked before rows that wait are written which it may find
	number int   // of the change that asked
	again  bool  // another change asked, too
	in     scope // of the query
	stays  bool  // it was so in this group or one before
	idle   int   // groups since
}

const (
	maxAnswer = 1024 // rows that are kept of a query that was asked for many changes
	// maxRemembered and maxRememberedRows are how many answers a group remembers, and how
	// many rows of each.
	maxRemembered, maxRememberedRows = 512, 16
)

// fresh returns what a query finds, if that is known, or follows from what is and from what was
// written since.
func (g *group) fresh(of *statement, in scope, args []any) (rows [][]any, known bool, err error) {
	a := g.answers[askedOf(of, args)]
	if a == nil || !a.known || a.huge || len(g.log)-a.since > maxLooked || g.settled && of.ofBooks() {
		return nil, false, nil
	}
	met := g.met(of, in, args, a.since)
	if met && !in.told() {
		return nil, false, nil
	}
	if a.number != g.number {
		a.in, a.again = in, true
	}
	if !met {
		return a.rows, true, nil
	}
	return g.catchUp(of, in, args, a.rows, a.since)
}

// since reports whether a query was answered after all rows of the log up to a place.
func (a answers) since(of *statement, args []any, place int) bool {
	found := a[askedOf(of, args)]
	return found != nil && found.known && found.since >= place
}

// keep takes an answer that is known now. Each row is the answer to the query by its key,
// too.
func (a answers) keep(found *answer) {
	found.known = true
	a[askedOf(statementOf(found.text), found.args)] = found
	byKey := found.in.byKey
	if byKey == "" || byKey == found.text {
		return
	}
	of := statementOf(byKey)
	for _, row := range found.rows {
		args := []any{found.args[0], row[0]}
		a[askedOf(of, args)] = &answer{
			text: byKey, args: args, rows: [][]any{row}, known: true, since: found.since, number: found.number,
		}
	}
}

func askedOf(of *statement, args []any) asked {
	return asked{of, string(appendArgs(make([]byte, 0, 64), args...))}
}

// found are the rows, or those that are guessed.
func (a *answer) found() [][]any {
	if a.known {
		return a.rows
	}
	return a.guess
}

// visitRows scans rows into dest one after the other.
func visitRows(s *session, rows [][]any, dest []any, visit func() error) error {
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
// asked again. It cannot have found the rows of the log from a place on.
func (g *group) remember(in scope, text string, args, dest []any, visit func() error, since int) error {
	a := &answer{
		text: text, args: slices.Clone(args), in: in, since: since, number: g.number,
	}
	ended := g.guessed.ended
	if g.guesses != nil && !g.shared { // nil on SQLite
		a.guess, a.blind = g.guesses.find(statementOf(text), in.likely)
		g.guessed.missing = append(g.guessed.missing, a)
		ended = ended || len(g.guessed.missing) > maxRemembered
	}
	row, columns := valueColumns(len(dest))
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
	return visitRows(g.session, a.rows, dest, visit)
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

// valueColumns are the destinations of a row that is kept as it is.
func valueColumns(width int) (row []valueColumn, dest []any) {
	row, dest = make([]valueColumn, width), make([]any, width)
	for i := range dest {
		dest[i] = &row[i]
	}
	return row, dest
}

// nowhere are the destinations of a row that nobody looks at.
func nowhere(width int) []any { _, dest := valueColumns(width); return dest }

func valuesOf(row []valueColumn) []any {
	values := make([]any, len(row))
	for i := range row {
		values[i] = row[i].value
	}
	return values
}

// foundAny reports whether a query found a row, where it was asked before and nothing
// that was written since can change that.
func (g *group) foundAny(in scope, text string, args []any) (found, known bool, err error) {
	if g == nil {
		return false, false, nil
	}
	var rows [][]any
	of := statementOf(text)
	if r := g.rehearsal; r == nil {
		rows, known, err = g.fresh(of, in, args)
	} else if known = !r.ahead && g.answers[askedOf(of, args)] != nil; known {
		rows, err = r.rows(g, of, in, text, args)
	}
	return len(rows) > 0, known, err
}

// recall visits the rows with keys that are known, and returns the other keys.
func (g *group) recall(
	keyed func(keys ...any) scope, school int64, keys, dest []any, visit func() error,
) (rest []any, err error) {
	if g.rehearsal != nil {
		return keys, nil
	}
	for _, key := range keys {
		in := keyed(key)
		rows, known, err := g.fresh(statementOf(in.byKey), in, []any{school, key})
		if err == nil && known {
			err = visitRows(g.session, rows, dest, visit)
		}
		if err != nil {
			return nil, err
		}
		if !known {
			rest = append(rest, key)
		}
	}
	return rest, nil
}
