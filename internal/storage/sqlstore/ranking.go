package sqlstore

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// ranking describes the rows of a list, their order, and the journal entries that affect it.
type ranking struct {
	table  string
	alias  string   // of the table, if any
	id     string   // the column that identifies a row
	keys   []string // the columns by which the rows are ordered, the last of which is unique; see key
	sorted bool     // rows are found in this order without an index; see ranked
	down   bool     // the query is descending; the list is stored ascending
	narrow func(w *where, at int64)
	// narrowAll is narrow for a query that reads all rows of a school; nil means narrow.
	narrowAll func(w *where)
	follow    follow

	at      int64          // the time of the query, in Unix microseconds; 0 if it does not matter
	expires string         // the column with the time at which a row expires; empty if rows do not expire
	called  string         // cached result of name
	lasting func(w *where) // narrows to the rows whose expiry matters
	// reading is closed when the first reading of a list without an index ends, including making
	// the index, if one is made; nil for any other reading.
	reading chan struct{}
}

// follow says how a list is updated when something changes.
type follow struct {
	rows string // the noun whose entries have the ids of rows
	// of has, for further nouns, the beginning of a query for the ids of the rows that an entry
	// affects; the list of the entries' ids is appended.
	of   map[string]string
	ends []string // nouns of which any entry invalidates the list

	log *changeLog // followed instead of the journal, if set
}

// changeLog provides the changed rows of a table that the journal does not cover.
type changeLog struct {
	mark string // the query of a school's mark; $1 is the school
	// touched returns the ids of the rows that were changed between two marks, or more than
	// maxBehind of them, and whether any of them may have existed before. ok is false if they are
	// not known.
	touched func(q *session, school lyceum.SchoolID, from, to mark) (ids []int32, moved, ok bool, err error)
}

// mark is the query of the last change to the list's rows.
func (f *follow) mark() string {
	if f.log != nil {
		return f.log.mark
	}
	return markText
}

// types returns the types of entry that affect the list.
func (f *follow) types() (types []lyceum.EntryType) {
	if f.log != nil {
		return nil
	}
	nouns := append([]string{f.rows}, f.ends...)
	for noun := range f.of {
		nouns = append(nouns, noun)
	}
	for _, noun := range nouns {
		for _, verb := range []string{".created", ".updated", ".deleted"} {
			types = append(types, lyceum.EntryType(noun+verb))
		}
	}
	for _, t := range lyceum.EntryTypes() {
		if slices.Contains(nouns, nounOf(t)) && !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	return types
}

// where returns the conditions of the list's rows at a time; $1 is the school.
func (r *ranking) where(school lyceum.SchoolID, at int64) *where {
	w := r.all(school)
	r.narrow(w, at)
	return w
}

// whereAll is where for a query that reads all rows of the school.
func (r *ranking) whereAll(school lyceum.SchoolID, at int64) *where {
	if r.narrowAll == nil {
		return r.where(school, at)
	}
	w := r.all(school)
	r.narrowAll(w)
	return w
}

func (r *ranking) all(school lyceum.SchoolID) *where {
	w := &where{args: []any{int64(school)}}
	w.and(r.column("school_id") + " = $1")
	return w
}

// name identifies the list, regardless of the time and the direction.
func (r *ranking) name(school lyceum.SchoolID) string {
	if r.called != "" {
		return r.called
	}
	w := r.where(school, 0)
	b := make([]byte, 0, 256)
	b = append(b, r.table...)
	for _, part := range [][]string{r.keys, w.conds} {
		for _, text := range part {
			b = append(append(b, 0), text...)
		}
	}
	r.called = string(appendArgs(b, w.args...))
	return r.called
}

// appendArgs appends an unambiguous form of some arguments.
func appendArgs(b []byte, args ...any) []byte {
	for _, arg := range args {
		b = append(b, 0)
		switch arg := arg.(type) {
		case int64:
			b = strconv.AppendInt(b, arg, 10)
		case string:
			b = strconv.AppendQuote(b, arg)
		default:
			b = fmt.Appendf(b, "%#v", arg)
		}
	}
	return b
}

func (r *ranking) from() string { return strings.TrimSpace(r.table + " " + r.alias) }

func (r *ranking) column(name string) string { return cmp.Or(r.alias, r.table) + "." + name }

// ofRow is the placeholder for the table, in a key that is an expression.
const ofRow = "{row}"

// key returns a column or an expression by which rows are ordered, qualified with a table or its
// alias.
func key(name, of string) string {
	if strings.Contains(name, ofRow) {
		return strings.ReplaceAll(name, ofRow, of)
	}
	return of + "." + name
}

func (r *ranking) columns() string {
	named := make([]string, len(r.keys))
	for i, name := range r.keys {
		named[i] = key(name, cmp.Or(r.alias, r.table))
	}
	return strings.Join(named, ", ")
}

// upward is the ORDER BY clause of the list.
func (r *ranking) upward() string {
	if r.sorted {
		return " ORDER BY +" + r.columns()
	}
	return " ORDER BY " + r.columns()
}

// page returns the FROM clause for the rows of a page. They may be few among those that match the
// other conditions, and the limit, which is never reached, keeps SQLite from evaluating those
// first. The limit is part of the text, because SQLite would plan the query again each time it
// was bound.
//
// In a list ordered by id, the list's rows from the first to the last id of a page are exactly
// the page; if the ids are close together, they are read as one range.
func (r *ranking) page(w *where, ids []int32) string {
	in := &where{args: w.args}
	limit := rangeGap * readChunk
	if low, high := slices.Min(ids), slices.Max(ids); len(r.keys) == 1 && r.keys[0] == r.id &&
		int(high-low) < min(rangeGap*len(ids), limit) {
		in.and(r.id+" BETWEEN ? AND ?", int64(low), int64(high))
	} else {
		among(in, r.id, ids)
		limit = len(in.args) - len(w.args)
	}
	w.args = in.args
	return fmt.Sprintf("(SELECT * FROM %s WHERE school_id = $1 AND %s LIMIT %d) %s", r.table, in.conds[0], limit,
		cmp.Or(r.alias, r.table))
}

// walk narrows to the rows from the first one of a page on, and returns the LIMIT clause that
// ends the page.
func (r *ranking) walk(w *where, ids []int32) (limit string) {
	first, op := ids[0], " >= "
	if r.down {
		first, op = ids[len(ids)-1], " <= "
	}
	w.conds = append(w.conds, r.beside(op, w.arg(int64(first))))
	return fmt.Sprint(" LIMIT ", len(ids))
}

// beside compares a row with another one, whose id is an argument. Both sides are rows of
// expressions, because PostgreSQL uses no index to compare with a subquery that returns a row.
func (r *ranking) beside(op, id string) string {
	if len(r.keys) == 1 {
		return r.columns() + op + id
	}
	theirs := make([]string, len(r.keys))
	for i, name := range r.keys {
		theirs[i] = "(SELECT " + key(name, "s") + " FROM " + r.table + " s " +
			"WHERE s.school_id = $1 AND s." + r.id + " = " + id + ")"
		if name == r.id {
			theirs[i] = id
		}
	}
	return "(" + r.columns() + ")" + op + "(" + strings.Join(theirs, ", ") + ")"
}

// ranked parses an ORDER BY list whose columns have one direction. A plus before the first column
// keeps SQLite from using an index for this order.
func ranked(order string) (keys []string, sorted, down bool) {
	for _, t := range termsOf(order) {
		keys, down = append(keys, t.column), t.down
	}
	return keys, strings.HasPrefix(order, "+"), down
}
