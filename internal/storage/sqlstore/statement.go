package sqlstore

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// statement is what a group needs to know of an SQL text.
type statement struct {
	words  map[string]bool // all in it, among them its tables; those of views, too
	writes []string        // the tables that it changes; none for a query
}

// viewTables are the tables that the views read.
var viewTables = map[string][]string{
	"reaching": {"entitlements", "collection_products", "tier_products"},
}

// statements keeps what was found out about a text: programs have few.
var statements = struct {
	sync.RWMutex

	of map[string]*statement
}{of: map[string]*statement{}}

func statementOf(text string) *statement {
	statements.RLock()
	kept := statements.of[text]
	statements.RUnlock()
	if kept != nil {
		return kept
	}
	kept = newStatement(text)
	statements.Lock()
	defer statements.Unlock()
	statements.of[text] = kept
	return kept
}

func newStatement(text string) *statement {
	s := &statement{words: map[string]bool{}}
	words := strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	for i, word := range words {
		s.words[word] = true
		for _, table := range viewTables[word] {
			s.words[table] = true
		}
		if i > 0 && (word == "INTO" || word == "UPDATE" && words[i-1] != "DO" || word == "FROM" && words[i-1] == "DELETE") ||
			i == 0 && word == "UPDATE" {
			s.writes = append(s.writes, words[min(i+1, len(words)-1)])
		}
	}
	return s
}

// reads reports whether a text does nothing but read.
func (s *statement) reads() bool { return s.writes == nil && s.words["SELECT"] }

// equal wants a column to have one of some values.
type equal struct {
	column string
	values []any
}

// scope is what is known of the rows that a query finds in some of its tables. They are of
// the school that is its first argument.
type scope struct {
	tables []string
	equals []equal
	byKey  string // finds one of the rows by its school and its first column; empty if no query does
	likely likely
	limit  int // so many rows are all that is wanted; 0 for no limit

	// columns are those of the first table where it gives whole rows of that, and equals and tests are
	// all that decides which; nil otherwise.
	columns []string
	tests   []test
	order   string   // of the rows, as a statement has it; empty for none
	through *through // of a view; nil for a table

	tallies []tally // it gives one row, of these; nil if it gives rows of a table
}

// told reports whether what the query finds may be told from rows that were written since.
func (in *scope) told() bool { return in.columns != nil || in.tallies != nil }

// tally is a number of rows of a table, which conditions decide.
type tally struct {
	table  string
	equals []equal
	tests  []test
}

// test is a condition of the values of some columns.
type test struct {
	columns []string
	holds   func(values []any) bool
}

// through is how rows of a view come from those of its first table.
type through struct {
	fills []string // the columns whose values need not be those of the row
	// shown are the rows of the view that come from a new row, if nothing hides them; told is
	// false where that changes others, too, or cannot be told.
	shown func(*edit) (rows [][]any, told bool, err error)
	// hidden reports whether rows of another table hide them.
	hidden func(*edit) (hidden, told bool, err error)
}

// likely is what a query may be guessed to find.
type likely struct {
	rows [][]any // if nothing is known of earlier groups
	by   []any   // with these arguments it finds again what it found in an earlier group; nil if it does not

	counters bool // it finds counters
}

// partly is the scope of a query that does not give whole rows.
func (in scope) partly() scope { in.byKey, in.columns = "", nil; return in }

// edit is a row that a change inserted, updated or deleted, or a statement of which only the
// table is known.
type edit struct {
	table   string
	columns []string // after the school; nil for a statement
	list    string   // the columns as a statement lists them
	school  int64
	values  []any    // of the columns
	update  string   // the statement that changes the row, of the school and the values; empty for an insert
	takes   int      // so many of the values are those that update takes; 0 for all
	gone    bool     // update deletes the row
	before  []any    // the values of the row that is updated, if it was read
	fixed   []string // columns that an update does not change, besides the first, if it was not
	follows []string // the counters that values follow, which are distances then; nil if none does
}

// value gives that of a column of the row.
func (w *edit) value(column string) any { return w.values[slices.Index(w.columns, column)] }

// keeps reports whether a column had the value before that it has in an edit.
func (w *edit) keeps(column int) bool {
	switch {
	case w.update == "" || w.gone || column == 0:
		return true
	case w.before != nil:
		return equalValues(w.before[column], w.values[column])
	}
	return slices.Contains(w.fixed, w.columns[column])
}

// taken are the values that update takes.
func (w *edit) taken() []any {
	if w.takes > 0 {
		return w.values[:w.takes]
	}
	return w.values
}

// versions are the values of the row before and after, nil where there is none. They are not told of an
// update of a row that was not read.
func (w *edit) versions() (was, is []any, told bool) {
	switch {
	case w.gone:
		return w.values, nil, true
	case w.update == "":
		return nil, w.values, true
	}
	return w.before, w.values, w.before != nil
}

// mayEqual reports whether the database may find two values equal. Of two types it may.
func mayEqual(a, b any) bool {
	if a == nil || b == nil {
		return false
	}
	return reflect.TypeOf(a) != reflect.TypeOf(b) || equalValues(a, b)
}

// meets reports whether a query may find the row, or have found it before it was
// changed.
func (w *edit) meets(of *statement, in scope, args []any) bool {
	if !of.words[w.table] {
		return false
	}
	if w.columns == nil || !slices.Contains(in.tables, w.table) {
		return true
	}
	if !mayEqual(args[0], w.school) {
		return false
	}
	for _, e := range in.equals {
		i := slices.Index(w.columns, e.column)
		if i < 0 || !w.keeps(i) {
			continue
		}
		if !slices.ContainsFunc(e.values, func(v any) bool { return mayEqual(v, w.values[i]) }) {
			return false
		}
	}
	return true
}
