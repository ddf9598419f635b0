package sqlstore

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// statement is what a group needs to know about an SQL text.
type statement struct {
	words  map[string]bool // all words of the text, including its tables and those that its views read
	writes []string        // the tables that it changes; nil for a query
	pages  bool            // it reads pages of the SQLite file, which everything written may change
}

// viewTables are the tables that the views read.
var viewTables = map[string][]string{
	"reaching": {"entitlements", "collection_products", "tier_products"},
}

// statements caches the statement of each text; there are few different texts.
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
	s.pages = s.words["sqlite_dbpage"] || s.words["pragma_freelist_count"]
	return s
}

// reads reports whether a text only reads.
func (s *statement) reads() bool { return s.writes == nil && s.words["SELECT"] }

// equal requires a column to have one of some values.
type equal struct {
	column string
	values []any
}

// scope is what is known about the rows that a query finds in some of its tables. They belong to
// the school that is the query's first argument.
type scope struct {
	tables []string
	equals []equal
	byKey  string // query that finds one of the rows by its school and its first column; empty if there is none
	likely likely
	limit  int // how many rows are needed; 0 means all

	// columns are those of the first table if the query returns whole rows of it and only equals
	// and tests decide which ones; nil otherwise.
	columns []string
	tests   []test
	order   string   // ORDER BY clause of the rows; empty for none
	through *through // for a view; nil for a table

	tallies []tally // the query returns one row, consisting of these; nil if it returns rows of a table
}

// derivable reports whether the result of the query can be brought up to date from rows that were
// written since.
func (in *scope) derivable() bool { return in.columns != nil || in.tallies != nil }

// tally is the number of rows of a table that match conditions.
type tally struct {
	table  string
	equals []equal
	tests  []test
}

// test is a condition on the values of some columns.
type test struct {
	columns []string
	holds   func(values []any) bool
}

// through says how the rows of a view are derived from those of its first table.
type through struct {
	fills []string // the columns whose values can differ from those of the row
	// hides reports whether a written row may hide other rows of the view, or no longer hide them.
	hides func(*edit) bool
	// shown returns the rows of the view that result from a new row, if nothing hides them; ok
	// is false if they are not known.
	shown func(*edit) (rows [][]any, ok bool, err error)
	// hidden reports whether rows of another table hide them.
	hidden func(*edit) (hidden, ok bool, err error)
}

// likely is what a query is guessed to find.
type likely struct {
	rows [][]any // used if nothing is known from earlier groups
	by   []any   // with these arguments, the query finds what it found in an earlier group; nil if it does not

	counters bool // it finds counters
}

// partly returns the scope of a query that does not return whole rows.
func (in scope) partly() scope { in.byKey, in.columns = "", nil; return in }

// edit is a row that a change inserted, updated or deleted, or a statement of which only the
// table is known.
type edit struct {
	table   string
	columns []string // without the school; nil for a statement
	list    string   // the columns, joined as in a statement
	school  int64
	values  []any    // of the columns
	update  string   // the statement that changes the row, taking the school and the values; empty for an insert
	takes   int      // update takes only the first this many values; 0 means all
	gone    bool     // update deletes the row
	before  []any    // the row's old values in an update, if it was read
	fixed   []string // if the row was not read: columns besides the first that stay unchanged
	follows []string // the counters that values follow; such values are distances; nil if there are none
}

// value returns the value of a column.
func (w *edit) value(column string) any { return w.values[slices.Index(w.columns, column)] }

// keeps reports whether the edit leaves a column's value unchanged.
func (w *edit) keeps(column int) bool {
	switch {
	case w.update == "" || w.gone || column == 0:
		return true
	case w.before != nil:
		return equalValues(w.before[column], w.values[column])
	}
	return slices.Contains(w.fixed, w.columns[column])
}

// taken returns the values that update takes.
func (w *edit) taken() []any {
	if w.takes > 0 {
		return w.values[:w.takes]
	}
	return w.values
}

// versions returns the values of the row before and after the edit, nil if it does not exist
// then. ok is false for an update of a row that was not read.
func (w *edit) versions() (was, is []any, ok bool) {
	switch {
	case w.gone:
		return w.values, nil, true
	case w.update == "":
		return nil, w.values, true
	}
	return w.before, w.values, w.before != nil
}

// mayEqual reports whether the database may consider two values equal. It assumes so for values
// of different types.
func mayEqual(a, b any) bool {
	if a == nil || b == nil {
		return false
	}
	return reflect.TypeOf(a) != reflect.TypeOf(b) || equalValues(a, b)
}

// meets reports whether a query may find the row, or may have found it before the edit.
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
