package sqlstore

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lyceum-school/lyceum"
)

// chunk is how many ids one statement has at most. Smaller batches are split into powers of two,
// or are one statement if there are up to fewRows, so that a table needs eleven statements rather
// than one per size.
const chunk, fewRows = 64, 8

// chunkOf returns how many of n rows the next statement has.
func chunkOf(n int) int {
	switch {
	case n >= chunk:
		return chunk
	case n <= fewRows:
		return n
	}
	return 1 << (bits.Len(uint(n)) - 1)
}

// save inserts rows with new ids, updates those that differ from the stored rows and skips those
// that are equal. If two rows have the same id, the last one wins.
func save[T any](t *tx, table *table[T], rows []T) (lyceum.Saved, error) {
	var saved lyceum.Saved
	if len(rows) == 0 {
		return saved, nil
	}
	ids, err := t.perhapsKept(table.seq, idsOf(table, rows))
	if err != nil {
		return saved, err
	}
	kept, err := findByID(t.q, t.stamp.School, table, ids)
	if err != nil {
		return saved, err
	}
	fresh := make([]T, 0, len(rows)-len(kept))
	at := make(map[int32]int, len(rows)-len(kept)) // id -> index in fresh
	var highest int32
	for i := range rows {
		row := &rows[i]
		id := table.id(row)
		if id < 1 {
			return saved, lyceum.InvalidFields(lyceum.FieldError{
				Field:   string(table.seq),
				Message: "must be from 1 to 2147483647",
			})
		}
		highest = max(highest, id)
		old, there := kept[id]
		if place, again := at[id]; again {
			fresh[place] = *row
			continue
		}
		if !there {
			at[id] = len(fresh)
			fresh = append(fresh, *row)
			continue
		}
		if table.touched != nil {
			*table.touched(row) = *table.touched(&old)
		}
		before := table.bind(&old)
		if same(before, table.bind(row)) {
			saved.Unchanged++
			continue
		}
		table.touch(t, row)
		if err := update(t, table, row, table.change(before, row)); err != nil {
			return saved, err
		}
		if table.changed != nil {
			table.changed(t, &old, row)
		}
		if table.replaced != nil {
			table.replaced(t, &old, row)
		}
		kept[id] = *row
		saved.Updated++
	}
	if err := insert(t, table, fresh); err != nil {
		return saved, err
	}
	saved.Created = len(fresh)
	for i := range fresh {
		delete(t.unused, ticket{table.seq, table.id(&fresh[i])})
	}
	if len(fresh) == 0 {
		return saved, nil
	}
	if table.counter != "" {
		t.counts[table.counter] += int64(len(fresh))
	}
	return saved, t.raise(table.seq, highest)
}

// perhapsKept returns the ids for which a row may exist: the sequence's counter is never lower
// than the id of a saved row, and an id that was just assigned has no row yet. For a few ids the
// counter is not read, because looking up the rows takes no longer.
func (t *tx) perhapsKept(seq lyceum.Sequence, ids []int32) ([]int32, error) {
	ids = slices.DeleteFunc(ids, func(id int32) bool { return t.unused[ticket{seq, id}] })
	if len(ids) == 0 {
		return nil, nil
	}
	if _, known := t.q.group.booksOf(t.stamp.School).kept[string(seq)]; !known && len(ids) <= fewRows {
		return ids, nil
	}
	last, err := t.counter(string(seq))
	if err != nil {
		return nil, fmt.Errorf("read counter of %s: %w", seq, err)
	}
	return slices.DeleteFunc(ids, func(id int32) bool { return int64(id) > last }), nil
}

func idsOf[T any](table *table[T], rows []T) []int32 {
	ids := make([]int32, len(rows))
	for i := range rows {
		ids[i] = table.id(&rows[i])
	}
	return ids
}

func same(a, b []any) bool { return slices.EqualFunc(a, b, equalValues) }

func equalValues(a, b any) bool {
	x, isBytes := a.([]byte)
	y, areBytes := b.([]byte)
	if isBytes || areBytes {
		return isBytes == areBytes && bytes.Equal(x, y)
	}
	return a == b
}

// touch sets the time at which a row was last changed.
func (table *table[T]) touch(t *tx, row *T) {
	if table.touched == nil {
		return
	}
	at := lyceum.Second(t.stamp.At)
	if born := table.born(row); born.After(at) {
		at = born
	}
	*table.touched(row) = at
}

// insert inserts new rows and appends a journal entry for each.
func insert[T any](t *tx, table *table[T], rows []T) error {
	t.q.group.log = slices.Grow(t.q.group.log, len(rows))
	t.entries = slices.Grow(t.entries, len(rows))
	for i := range rows {
		row := &rows[i]
		table.touch(t, row)
		err := t.q.group.add(edit{
			table: table.name, list: table.list(), columns: table.columns,
			school: int64(t.stamp.School), values: table.bind(row),
		})
		if err != nil {
			return fmt.Errorf("insert %s: %w", table.name, err)
		}
		if table.created != "" {
			t.Note(table.created, table.id(row))
		}
		if table.changed != nil {
			table.changed(t, nil, row)
		}
	}
	return nil
}

// insertTexts caches the results of insertText: one for each table and chunk size.
var insertTexts sync.Map // insertKey -> string

type insertKey struct {
	name string
	rows int
}

func insertText(name, columns string, width, rows int) string {
	key := insertKey{name, rows}
	if text, ok := insertTexts.Load(key); ok {
		return text.(string)
	}
	var b strings.Builder
	b.WriteString("INSERT INTO " + name + " (school_id, " + columns + ") VALUES ")
	for i := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(placeholders(1+i*width, width))
	}
	insertTexts.Store(key, b.String())
	return b.String()
}

// change returns the update of a row that was read before.
func (table *table[T]) change(before []any, row *T) edit {
	return edit{values: table.set.bind(row), update: table.set.text, before: before}
}

// update writes an edit of a row and appends a journal entry.
func update[T any](t *tx, table *table[T], row *T, w edit) error {
	if err := put(t, table, w); err != nil {
		return err
	}
	entry := table.updated
	if table.entryOf != nil {
		entry = table.entryOf(row)
	}
	t.Note(entry, table.id(row))
	return nil
}

// put is update without a journal entry.
func put[T any](t *tx, table *table[T], w edit) error {
	w.table, w.columns, w.school = table.name, table.columns, int64(t.stamp.School)
	if err := t.q.group.add(w); err != nil {
		return fmt.Errorf("update %s: %w", table.name, err)
	}
	return nil
}

// setter is the statement that writes some columns of a row: $1 is the school, and bind returns
// the other arguments.
type setter[T any] struct {
	text string
	bind func(*T) []any
}

// setterOf returns the setter of a table's columns, except the first, which identifies the row,
// and the fixed ones, which help to find it.
func setterOf[T any](name string, columns []column[T], fixed []string) setter[T] {
	var set []string
	where := "school_id = $1"
	for i, c := range columns {
		if part := c.name + " = $" + strconv.Itoa(i+2); i == 0 || slices.Contains(fixed, c.name) {
			where += " AND " + part
		} else {
			set = append(set, part)
		}
	}
	return setter[T]{"UPDATE " + name + " SET " + strings.Join(set, ", ") + " WHERE " + where, binder(columns)}
}

// findByID returns the rows of a school that have one of the ids.
func findByID[T any](q *session, school lyceum.SchoolID, table *table[T], ids []int32) (map[int32]T, error) {
	found := map[int32]T{}
	r := table.reader()
	defer table.done(r)
	err := table.findRows(q, school, int32Args(ids), r.dest, func() { found[table.id(&r.row)] = r.row })
	return found, err
}

// findRows calls visit for each row of a school that has one of the keys.
func (t *table[T]) findRows(q *session, school lyceum.SchoolID, keys, dest []any, visit func()) error {
	var err error
	if q.group != nil {
		keys, err = q.group.recall(t.keyed, int64(school), keys, dest, func() error { visit(); return nil })
	}
	switch {
	case err != nil || len(keys) == 0:
	case len(keys) == 1:
		args, in := []any{int64(school), keys[0]}, t.keyed(keys...)
		in.likely = t.likely(args)
		err = q.eachIn(in, t.byKey, args, dest, func() error { visit(); return nil })
	case t.byIndex:
		err = joined(q, t, school, keys, dest, visit)
	default:
		err = findKeys(q, t.keyed(keys...), t.list(), school, keys, dest, visit)
	}
	if err != nil {
		return fmt.Errorf("find %s: %w", t.name, err)
	}
	return nil
}

// keyed is the scope of a query for whole rows by their keys.
func (t *table[T]) keyed(keys ...any) scope {
	in := scope{tables: []string{t.name}, equals: []equal{{t.columns[0], keys}}, byKey: t.byKey}
	if len(keys) == 1 {
		in.columns = t.columns
	}
	return in
}

// joined finds rows by an index on their ids. For a list of ids, SQLite would instead read all of
// a school's rows, because it takes the table for small; with a join, it uses the index for one
// id after the other.
func joined[T any](q *session, table *table[T], school lyceum.SchoolID, ids []any, dest []any, visit func()) error {
	in := table.keyed(ids...)
	for len(ids) > 0 {
		n := chunkOf(len(ids))
		var values strings.Builder
		for i := range n {
			if i > 0 {
				values.WriteByte(',')
			}
			values.WriteString("(CAST($" + strconv.Itoa(i+2) + " AS INTEGER))")
		}
		err := q.eachIn(in, "WITH wanted (wanted_id) AS (VALUES "+values.String()+") SELECT "+table.list()+
			" FROM wanted CROSS JOIN "+table.name+" WHERE school_id = $1 AND "+table.columns[0]+" = wanted_id",
			append([]any{int64(school)}, ids[:n]...), dest, func() error { visit(); return nil })
		if err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}

// readChunk is how many values one statement looks up at most: those of the largest page of a
// list.
const readChunk = 128

// inChunks runs text followed by a list of values, chunk by chunk. $1 of text is the school. A
// chunk is padded to a power of two with its last value, which finds nothing more.
func inChunks(q *session, text string, school lyceum.SchoolID, values []any, dest []any, visit func()) error {
	return inGroups(q, scope{}, text, school, values, dest, visit)
}

// inGroups is inChunks for a query with a scope.
func inGroups(
	q *session, in scope, text string, school lyceum.SchoolID, values []any, dest []any, visit func(),
) error {
	return eachChunk(school, values, func(list string, args []any) error {
		return q.eachIn(in, text+list, args, dest, func() error { visit(); return nil })
	})
}

// eachChunk calls do for each chunk of values, with a list of placeholders and the arguments of
// the statement, the first of which is the school.
func eachChunk(school lyceum.SchoolID, values []any, do func(list string, args []any) error) error {
	for len(values) > 0 {
		n := min(len(values), readChunk)
		size := 1 << bits.Len(uint(n-1))
		args := append(append(make([]any, 0, size+1), int64(school)), values[:n]...)
		for len(args) <= size {
			args = append(args, values[n-1])
		}
		if err := do(placeholders(2, size), args); err != nil {
			return err
		}
		values = values[n:]
	}
	return nil
}

func int32Args[T ~int32](ids []T) []any {
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = int64(id)
	}
	return args
}
