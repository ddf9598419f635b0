package sqlstore

import (
	"cmp"
	"slices"
	"strings"
)

// catchUp derives the rows that a query finds now from those that it found before the rows of
// the log, from the given place on, were written. ok is false if they cannot be derived.
func (g *group) catchUp(
	of *statement, in scope, args []any, rows [][]any, from int,
) (now [][]any, ok bool, err error) {
	var changed []*edit
	for table, places := range g.of {
		if !of.words[table] {
			continue
		}
		first, _ := slices.BinarySearch(places, from)
		for _, place := range places[first:] {
			w := &g.log[place]
			if !w.meets(of, in, args) {
				continue
			}
			if w.columns == nil || in.tallies == nil && (table != in.tables[0] || !slices.Equal(w.columns, in.columns)) {
				return nil, false, nil
			}
			changed = append(changed, w)
		}
	}
	if in.tallies != nil {
		now, ok = in.recount(rows, changed)
		return now, ok, nil
	}
	now = slices.Clone(rows)
	more := in.limit > 0 && len(rows) >= in.limit
	for _, w := range changed {
		if now, ok, err = in.take(now, w, more); err != nil || !ok {
			return nil, false, err
		}
	}
	if len(now) > 1 && !in.sort(now, changed[0].columns) {
		return nil, false, nil
	}
	return now, true, nil
}

// take applies a written row to the rows that a query found. If more is true, the query may
// match rows beyond those.
func (in *scope) take(rows [][]any, w *edit, more bool) (now [][]any, ok bool, err error) {
	passes, ok := in.passes(w, false)
	if !ok || in.through != nil && in.through.hides(w) {
		return nil, false, nil
	}
	passes = passes && !w.gone
	found := false
	for i := len(rows) - 1; i >= 0; i-- {
		switch {
		case !equalValues(rows[i][0], w.values[0]):
			continue
		case more && (!passes || !in.stays(rows[i], w)): // another row may move into the limit
			return nil, false, nil
		case !passes:
			rows = slices.Delete(rows, i, i+1)
		default:
			rows[i] = in.changed(rows[i], w)
		}
		found = true
	}
	switch {
	case found || !passes:
		return rows, true, nil
	case w.update != "" && w.before == nil:
		return nil, false, nil
	case in.through == nil:
		return append(rows, w.values), true, nil
	}
	fresh, ok, err := in.through.shown(w)
	fresh = slices.DeleteFunc(fresh, func(row []any) bool {
		passes, known := in.passes(&edit{columns: w.columns, values: row}, true)
		ok = ok && known
		return !passes
	})
	if err != nil || !ok || len(fresh) == 0 {
		return rows, ok, err
	}
	if hidden, ok, err := in.through.hidden(w); err != nil || !ok || hidden {
		return rows, ok, err
	}
	return append(rows, fresh...), true, nil
}

// recount applies written rows to tallies.
func (in *scope) recount(rows [][]any, changed []*edit) (now [][]any, ok bool) {
	row := slices.Clone(rows[0])
	for _, w := range changed {
		for i, t := range in.tallies {
			if t.table != w.table {
				continue
			}
			by, ok := t.by(w)
			if !ok {
				return nil, false
			}
			row[i] = row[i].(int64) + by
		}
	}
	return [][]any{row}, true
}

// by returns how much a written row adds to the tally.
func (t *tally) by(w *edit) (n int64, ok bool) {
	was, is, ok := w.versions()
	if !ok {
		changes := func(e equal) bool { return !w.keeps(slices.Index(w.columns, e.column)) }
		return 0, len(t.tests) == 0 && !slices.ContainsFunc(t.equals, changes)
	}
	for _, version := range []struct {
		values []any
		by     int64
	}{{was, -1}, {is, 1}} {
		if version.values == nil {
			continue
		}
		passes, ok := holds(t.equals, t.tests, w.columns, version.values, func(string) bool { return true })
		if !ok {
			return 0, false
		}
		if passes {
			n += version.by
		}
	}
	return n, true
}

// passes reports whether a row meets the conditions of a query: either those on columns that a
// view fills, or the others.
func (in *scope) passes(w *edit, filled bool) (passes, ok bool) {
	return holds(in.equals, in.tests, w.columns, w.values, func(column string) bool { return in.fills(column) == filled })
}

// holds reports whether a row meets those conditions for which concerns returns true. ok is
// false if the row lacks a column of one of them.
func holds(
	equals []equal, tests []test, columns []string, values []any, concerns func(column string) bool,
) (passes, ok bool) {
	passes = true
	for i := range equals {
		if !concerns(equals[i].column) {
			continue
		}
		at := slices.Index(columns, equals[i].column)
		if at < 0 {
			return false, false
		}
		same := func(v any) bool { return values[at] != nil && equalValues(v, values[at]) }
		passes = passes && slices.ContainsFunc(equals[i].values, same)
	}
	for i := range tests {
		if !concerns(tests[i].columns[0]) {
			continue
		}
		of := make([]any, len(tests[i].columns))
		for k, column := range tests[i].columns {
			at := slices.Index(columns, column)
			if at < 0 {
				return false, false
			}
			of[k] = values[at]
		}
		passes = passes && tests[i].holds(of)
	}
	return passes, true
}

func (in *scope) fills(column string) bool {
	return in.through != nil && slices.Contains(in.through.fills, column)
}

// changed returns a row as the query finds it after the write.
func (in *scope) changed(row []any, w *edit) []any {
	if in.through == nil {
		return w.values
	}
	now := slices.Clone(w.values)
	for i, column := range w.columns {
		if in.fills(column) {
			now[i] = row[i]
		}
	}
	return now
}

// stays reports whether a row that was written keeps its place among the others.
func (in *scope) stays(row []any, w *edit) bool {
	for _, t := range termsOf(in.order) {
		i := slices.Index(w.columns, t.column)
		if i < 0 || !equalValues(row[i], w.values[i]) {
			return false
		}
	}
	return true
}

// sort sorts rows in the order of the query, if that is an order of numbers.
func (in *scope) sort(rows [][]any, columns []string) (sorted bool) {
	terms := termsOf(in.order)
	places := make([]int, len(terms))
	for i, t := range terms {
		places[i] = slices.Index(columns, t.column)
		other := func(row []any) bool { _, number := row[places[i]].(int64); return !number }
		if places[i] < 0 || slices.ContainsFunc(rows, other) {
			return false
		}
	}
	slices.SortStableFunc(rows, func(a, b []any) int {
		for i, t := range terms {
			if c := cmp.Compare(a[places[i]].(int64), b[places[i]].(int64)); c != 0 {
				if t.down {
					return -c
				}
				return c
			}
		}
		return 0
	})
	return true
}

// term is a term of an ORDER BY clause.
type term struct {
	column string
	down   bool
}

// termsOf parses an ORDER BY clause.
func termsOf(order string) []term {
	if order == "" {
		return nil
	}
	var terms []term
	for part := range strings.SplitSeq(strings.TrimPrefix(order, " ORDER BY "), ", ") {
		column, down := strings.CutSuffix(strings.TrimPrefix(part, "+"), " DESC")
		terms = append(terms, term{column, down})
	}
	return terms
}
