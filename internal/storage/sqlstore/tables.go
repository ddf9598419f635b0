package sqlstore

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// table says how rows of T are kept: the columns after school_id, the first of
// which is the id, and how a row goes into them and comes out.
type table[T any] struct {
	name    string
	seq     lyceum.Sequence // also the id's column
	columns []string
	joined  string    // the columns as a statement lists them
	byKey   string    // the query that finds a row by its school and its first column
	set     setter[T] // of all columns
	fixed   []string  // columns that never change: Update finds the row by them, too
	counter string    // of the table's rows in one school; empty when nobody asks for it
	// wide: an index besides the primary key has its columns, by which foreign keys are checked.
	wide bool
	// lasting: a query is likely to find again what it found, which is of no person.
	lasting bool
	// byIndex: the rows are not in the order of their ids.
	byIndex bool
	id      func(*T) int32
	bind    func(*T) []any // in the order of columns
	scan    func(*T) []any // in the order of columns
	readers *sync.Pool     // of *reader[T]
	weigh   func(*T) int   // how many bytes a row takes in JSON, at most
	created lyceum.EntryType
	updated lyceum.EntryType
	// touched is when a row was last changed, which a save sets. It is not before
	// born: what is imported or made up may be later than the change that saves it.
	touched func(*T) *time.Time
	born    func(*T) time.Time
	// changed is called with each row that is changed, as it was and as it is:
	// old is nil for one that is inserted, row for one that is deleted.
	changed func(t *tx, old, row *T)
}

// reader takes rows one after the other. Readers are used again: a row's
// destinations are two small objects a column.
type reader[T any] struct {
	row   T
	dest  []any // the row's columns
	total int64
	paged []any // the total before the row's columns
}

func (t *table[T]) newReader() any {
	r := &reader[T]{}
	r.paged = append([]any{scanInt(&r.total)}, t.scan(&r.row)...)
	r.dest = r.paged[1:]
	return r
}

// likely is what a query with arguments is likely to find.
func (t *table[T]) likely(args []any) likely {
	if !t.lasting {
		return likely{}
	}
	return likely{by: args}
}

// reader returns a reader whose row is empty; done takes it back.
func (t *table[T]) reader() *reader[T] { return t.readers.Get().(*reader[T]) }

func (t *table[T]) done(r *reader[T]) {
	var empty T
	r.row, r.total = empty, 0
	t.readers.Put(r)
}

func (t *table[T]) list() string { return t.joined }

// whole is where a statement finds whole rows by their keys.
func (t *table[T]) whole() string {
	if t.wide {
		return t.name + byPrimaryKey
	}
	return t.name
}

// list of columns behind an alias.
func (t *table[T]) of(alias string) string {
	names := slices.Clone(t.columns)
	for i := range names {
		names[i] = alias + "." + names[i]
	}
	return strings.Join(names, ", ")
}

// tableOf names the table that a sequence numbers.
var tableOf = sync.OnceValue(func() map[lyceum.Sequence]string {
	named := map[lyceum.Sequence]string{lyceum.QuizSequence: attachments.name}
	for _, table := range reflect.ValueOf(&tables).Elem().Fields() {
		if noun, ok := table.Interface().(interface {
			numbers() (string, lyceum.Sequence)
		}); ok {
			if name, seq := noun.numbers(); seq != "" {
				named[seq] = name
			}
		}
	}
	return named
})

// numbers returns the name of the table and the sequence that numbers it, if one
// does.
func (t *table[T]) numbers() (name string, seq lyceum.Sequence) { return t.name, t.seq }

// emailKey is what makes an address unique whatever its case.
func emailKey(email string) string { return strings.ToLower(email) }

// tables are the nouns of a school. Each stands in the file of its name, where
// it is defined.
var tables lyceum.Tables
