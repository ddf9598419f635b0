package sqlstore

import (
	"cmp"
	"slices"
	"strings"
)

// catchUp gives the rows that a query finds now, by those that it found before the rows of the
// log from a place on were written; told is false where that does not tell.
func (g *group) catchUp(
	of *statement, in scope, args []any, rows [][]any, from int,
) (now [][]any, told bool, err error) {
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
			if table != in.tables[0] || w.columns == nil {
				return nil, false, nil
			}
			changed = append(changed, w)
		}
	}
	now = slices.Clone(rows)
	more := in.limit > 0 && len(rows) >= in.limit
	for _, w := range changed {
		if now, told, err = in.take(now, w, more); err != nil || !told {
			return nil, false, err
		}
	}
	if len(now) > 1 && !in.sort(now, changed[0].columns) {
		return nil, false, nil
	}
	return now, true, nil
}

// take brings rows that a query found up to a row that was written. There may be more than it found.
func (in *scope) take(rows [][]any, w *edit, more bool) (now [][]any, told bool, err error) {
	passes, told := in.passes(w, false)
	if !told {
		return nil, false, nil
	}
	passes = passes && w.keys == 0
	found := false
	for i := len(rows) - 1; i >= 0; i-- {
		switch {
		case !equalValues(rows[i][0], w.values[0]):
			continue
		case more && (!passes || !in.stays(rows[i], w)): // another row may be among the first then
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
	case w.update != "" && !w.there:
		return nil, false, nil
	case in.through == nil:
		return append(rows, w.values), true, nil
	}
	fresh, told, err := in.through.shown(w)
	fresh = slices.DeleteFunc(fresh, func(row []any) bool {
		passes, known := in.passes(&edit{columns: w.columns, values: row}, true)
		told = told && known
		return !passes
	})
	if err != nil || !told || len(fresh) == 0 {
		return rows, told, err
	}
	if hidden, told, err := in.through.hidden(w); err != nil || !told || hidden {
		return rows, told, err
	}
	return append(rows, fresh...), true, nil
}

// passes reports whether a row meets the conditions of a query, either those of columns that a view
// fills or the others.
func (in *scope) passes(w *edit, filled bool) (passes, told bool) {
	passes = true
	for i := range in.equals {
		e := &in.equals[i]
		if in.fills(e.column) != filled {
			continue
		}
		value, has := w.value(e.column)
		if !has {
			return false, false
		}
		passes = passes && value != nil && slices.ContainsFunc(e.values, func(v any) bool { return equalValues(v, value) })
	}
	for i := range in.tests {
		t := &in.tests[i]
		if in.fills(t.columns[0]) != filled {
			continue
		}
		values := make([]any, len(t.columns))
		for i, column := range t.columns {
			value, has := w.value(column)
			if !has {
				return false, false
			}
			values[i] = value
		}
		passes = passes && t.holds(values)
	}
	return passes, true
}

func (in *scope) fills(column string) bool {
	return in.through != nil && slices.Contains(in.through.fills, column)
}

// changed is a row that was found as it is once it was written.
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

// stays reports whether a row keeps its place among others once it was written.
func (in *scope) stays(row []any, w *edit) bool {
	for _, t := range termsOf(in.order) {
		i := slices.Index(w.columns, t.column)
		if i < 0 || !equalValues(row[i], w.values[i]) {
			return false
		}
	}
	return true
}

// sort puts rows in their order, if that is one of numbers.
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

// term is a part of the order of a query.
type term struct {
	column string
	down   bool
}

// termsOf takes the order of a query apart.
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
