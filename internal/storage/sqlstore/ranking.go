package sqlstore

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// ranking says what is in a list and in which order, and which entries of the journal
// are about it.
type ranking struct {
	table  string
	alias  string   // of the table, if any
	id     string   // the column that names a row
	keys   []string // the columns that order the rows, the last of which tells all apart; see key
	sorted bool     // rows are found without an index in this order; see ranked
	down   bool     // the question goes downwards; the list is kept upwards
	narrow func(w *where, at int64)
	// narrowAll is narrow for a query that looks at all rows of a school; narrow, if nil.
	narrowAll func(w *where)
	follow    follow

	at      int64          // the moment of the question, in Unix microseconds; 0 where none matters
	expires string         // the column of when a row stops being what it was; empty: none does
	called  string         // name, once it was made
	lasting func(w *where) // narrows to the rows whose expiry matters
	// reading is closed when the first reading of a list without an index ends, with the index if
	// one is made; nil for any other reading.
	reading chan struct{}
}

// follow says what becomes of a list when something is changed.
type follow struct {
	rows string // the noun whose entries have the ids of rows
	// of has, by further nouns, the query of the ids of the rows that an entry touches:
	// those of ids that stand after it.
	of   map[string]string
	ends []string // nouns any entry of which ends the list

	log *changeLog // which is followed instead of the journal, if any
}

// changeLog has which rows were changed where the journal does not.
type changeLog struct {
	mark string // the query of the mark of a school, which is $1
	// touched returns the ids of the rows that were changed between two marks, or more than
	// maxBehind of them, and whether any may have been there before. It returns false
	// when they are not known.
	touched func(q *session, school lyceum.SchoolID, from, to mark) (ids []int32, moved, ok bool, err error)
}

// mark is the query of how far the list's changes have come.
func (f *follow) mark() string {
	if f.log != nil {
		return f.log.mark
	}
	return markText
}

// types returns the types of entry that matter.
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

// where narrows to the rows of the list at a moment; $1 is the school.
func (r *ranking) where(school lyceum.SchoolID, at int64) *where {
	w := r.all(school)
	r.narrow(w, at)
	return w
}

// whereAll is where for a query that looks at all rows of the school.
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

// name tells the list from all others, whatever the moment and the direction.
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

// appendArgs appends what tells some arguments from all others.
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

// ofRow stands, in a key that is an expression, for the table whose row it is of.
const ofRow = "{row}"

// key is a column that orders the rows, or an expression, of a table or its alias.
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

// upward is the order of the list.
func (r *ranking) upward() string {
	if r.sorted {
		return " ORDER BY +" + r.columns()
	}
	return " ORDER BY " + r.columns()
}

// page is what the rows of a page are read from. They may be few among those that pass
// the other conditions, and the limit, which is never reached, keeps SQLite from looking
// at those first. The limit is part of the text: SQLite would plan the query again
// whenever it was bound.
//
// Of a list by id, the rows of the list from the first to the last of a page are the page;
// where they lie close together they are read in one walk.
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

// walk narrows to the rows from the first of a page on, and returns the limit that ends
// the page.
func (r *ranking) walk(w *where, ids []int32) (limit string) {
	first, op := ids[0], " >= "
	if r.down {
		first, op = ids[len(ids)-1], " <= "
	}
	w.conds = append(w.conds, r.beside(op, w.arg(int64(first))))
	return fmt.Sprint(" LIMIT ", len(ids))
}

// beside compares a row with another one, whose id is an argument. Both sides are
// rows of expressions: PostgreSQL finds no index for what is compared with a query.
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

// ranked reads an order of columns in one direction. A plus before the first keeps
// SQLite from an index in this order.
func ranked(order string) (keys []string, sorted, down bool) {
	for _, t := range termsOf(order) {
		keys, down = append(keys, t.column), t.down
	}
	return keys, strings.HasPrefix(order, "+"), down
}
