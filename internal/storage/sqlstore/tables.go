package sqlstore

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// table describes how rows of T are stored: the columns after school_id, the first of which is
// the id, and the conversion from and to a T.
type table[T any] struct {
	name    string
	seq     lyceum.Sequence // also the name of the id's column
	columns []string
	joined  string    // the columns as a list for statements
	byKey   string    // the query that finds a row by its school and its first column
	set     setter[T] // for all columns
	fixed   []string  // columns that never change: Update also finds the row by them
	counter string    // counts the table's rows in a school; empty if their number is not needed
	// wide means that an index other than the primary key contains the primary key's columns.
	// Foreign keys are checked with it.
	wide bool
	// lasting means that a query is likely to find the same again, because the rows do not belong
	// to a user.
	lasting bool
	// byIndex means that the rows are not stored in the order of their ids.
	byIndex bool
	id      func(*T) int32
	bind    func(*T) []any // in the order of columns
	scan    func(*T) []any // in the order of columns
	readers *sync.Pool     // of *reader[T]
	weigh   func(*T) int   // bytes of a row as JSON, at most
	created lyceum.EntryType
	updated lyceum.EntryType
	// entryOf returns the type of the entry of an updated row; nil: updated.
	entryOf func(*T) lyceum.EntryType
	// touched is the time of a row's last change, which saving sets. It is never before born,
	// which may be later than the time of the change if the row was imported or made up.
	touched func(*T) *time.Time
	born    func(*T) time.Time
	// changed is called for each changed row with its old and new version. old is nil for an
	// insert, row for a delete.
	changed func(t *tx, old, row *T)
	// replaced is called for each row that Save changes, with its old and new version.
	replaced func(t *tx, old, row *T)
}

// reader reads rows one by one. Readers are pooled, because the destinations of a row are two
// small objects per column.
type reader[T any] struct {
	row   T
	dest  []any // destinations of the row's columns
	total int64
	paged []any // destinations of the total and the row's columns
}

func (t *table[T]) newReader() any {
	r := &reader[T]{}
	r.paged = append([]any{scanInt(&r.total)}, t.scan(&r.row)...)
	r.dest = r.paged[1:]
	return r
}

// likely returns what a query with some arguments is likely to find.
func (t *table[T]) likely(args []any) likely {
	if !t.lasting {
		return likely{}
	}
	return likely{by: args}
}

// reader returns a reader with an empty row; done returns it to the pool.
func (t *table[T]) reader() *reader[T] { return t.readers.Get().(*reader[T]) }

func (t *table[T]) done(r *reader[T]) {
	var empty T
	r.row, r.total = empty, 0
	t.readers.Put(r)
}

func (t *table[T]) list() string { return t.joined }

// whole is the FROM clause of statements that find whole rows by their keys.
func (t *table[T]) whole() string {
	if t.wide {
		return t.name + byPrimaryKey
	}
	return t.name
}

// of lists the columns, qualified with an alias.
func (t *table[T]) of(alias string) string {
	names := slices.Clone(t.columns)
	for i := range names {
		names[i] = alias + "." + names[i]
	}
	return strings.Join(names, ", ")
}

// tableOf maps each sequence to the table that it numbers.
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

// numbers returns the name of the table and the sequence that numbers it, if any.
func (t *table[T]) numbers() (name string, seq lyceum.Sequence) { return t.name, t.seq }

// emailKey is the form of an address that must be unique, regardless of case.
func emailKey(email string) string { return strings.ToLower(email) }

// tables are the nouns of a school. Each is defined in the file of its name.
var tables lyceum.Tables
