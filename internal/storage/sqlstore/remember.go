package sqlstore

import "slices"

// lookups are queries with their results, each as of some position in the log of a group.
type lookups map[queryKey]*lookup

// queryKey identifies a query with its arguments.
type queryKey struct {
	of   *statement
	args string
}

// lookup is a query with its result, known or guessed.
type lookup struct {
	text   string
	args   []any
	rows   [][]any
	guess  [][]any
	blind  bool // guessed without knowing an earlier result
	wanted bool // it is in the list of missing results
	known  bool
	since  int   // the number of log rows that it may have found
	huge   bool  // there are too many rows to keep
	single bool  // only the first row is needed
	width  int   // number of columns of a row
	behind bool  // queried before unwritten rows that it may find are written
	number int   // of the change that ran the query
	again  bool  // another change ran it, too
	in     scope // of the query
	stays  bool  // it was again in this group or an earlier one
	idle   int   // number of groups since
}

const (
	maxCombinedRows = 1024 // rows that are kept of a query that was run for many changes
	// maxRemembered is how many results a group remembers, and maxRememberedRows how many rows of
	// each.
	maxRemembered, maxRememberedRows = 512, 16
)

// fresh returns the result of a query, if it is known or follows from a known result and from
// what was written since.
func (g *group) fresh(of *statement, in scope, args []any) (rows [][]any, known bool, err error) {
	l := g.lookups[queryKeyOf(of, args)]
	if l == nil || !l.known || l.huge || len(g.log)-l.since > maxLooked || g.settled && of.ofBooks() {
		return nil, false, nil
	}
	met := g.met(of, in, args, l.since)
	if met && !in.derivable() {
		return nil, false, nil
	}
	if l.number != g.number {
		l.in, l.again = in, true
	}
	if !met {
		return l.rows, true, nil
	}
	return g.catchUp(of, in, args, l.rows, l.since)
}

// since reports whether a query was run after all rows of the log up to a position.
func (l lookups) since(of *statement, args []any, place int) bool {
	found := l[queryKeyOf(of, args)]
	return found != nil && found.known && found.since >= place
}

// keep stores a result that is now known. Each of its rows is also stored as the result of the
// query by its key.
func (l lookups) keep(found *lookup) {
	found.known = true
	l[queryKeyOf(statementOf(found.text), found.args)] = found
	byKey := found.in.byKey
	if byKey == "" || byKey == found.text {
		return
	}
	of := statementOf(byKey)
	for _, row := range found.rows {
		args := []any{found.args[0], row[0]}
		l[queryKeyOf(of, args)] = &lookup{
			text: byKey, args: args, rows: [][]any{row}, known: true, since: found.since, number: found.number,
		}
	}
}

func queryKeyOf(of *statement, args []any) queryKey {
	return queryKey{of, string(appendArgs(make([]byte, 0, 64), args...))}
}

// found returns the rows, or the guess if they are not known.
func (l *lookup) found() [][]any {
	if l.known {
		return l.rows
	}
	return l.guess
}

// visitRows scans rows into dest one after the other and calls visit for each.
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

// remember runs a query now and keeps the result, if it is small, for the next time. The result
// does not include the rows of the log from position since on.
func (g *group) remember(in scope, text string, args, dest []any, visit func() error, since int) error {
	l := &lookup{
		text: text, args: slices.Clone(args), in: in, since: since, number: g.number,
	}
	ended := g.guessed.ended
	if g.guesses != nil && !g.shared { // nil on SQLite
		l.guess, l.blind = g.guesses.find(statementOf(text), in.likely)
		g.guessed.missing = append(g.guessed.missing, l)
		ended = ended || len(g.guessed.missing) > maxRemembered
	}
	row, columns := valueColumns(len(dest))
	err := g.runNow(text, args, columns, func() error {
		if !l.huge && len(l.rows) < maxRememberedRows {
			l.rows = append(l.rows, valuesOf(row))
			return nil
		}
		l.huge = true
		kept := l.rows
		l.rows = nil
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
	if err != nil || l.huge {
		return err
	}
	g.guessed.ended = ended
	g.lookups.keep(l)
	return visitRows(g.session, l.rows, dest, visit)
}

// valueColumn is the destination of a column whose value is stored as it is.
type valueColumn struct{ value any }

// Scan implements sql.Scanner.
func (c *valueColumn) Scan(src any) error {
	if b, is := src.([]byte); is {
		src = slices.Clone(b)
	}
	c.value = src
	return nil
}

// valueColumns returns destinations for a row whose values are stored as they are.
func valueColumns(width int) (row []valueColumn, dest []any) {
	row, dest = make([]valueColumn, width), make([]any, width)
	for i := range dest {
		dest[i] = &row[i]
	}
	return row, dest
}

// nowhere returns destinations for a row that is ignored.
func nowhere(width int) []any { _, dest := valueColumns(width); return dest }

func valuesOf(row []valueColumn) []any {
	values := make([]any, len(row))
	for i := range row {
		values[i] = row[i].value
	}
	return values
}

// foundAny reports whether a query found a row. known is false unless the query was run before
// and nothing written since can have changed that.
func (g *group) foundAny(in scope, text string, args []any) (found, known bool, err error) {
	if g == nil {
		return false, false, nil
	}
	var rows [][]any
	of := statementOf(text)
	if r := g.rehearsal; r == nil {
		rows, known, err = g.fresh(of, in, args)
	} else if known = !r.ahead && g.lookups[queryKeyOf(of, args)] != nil; known {
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
