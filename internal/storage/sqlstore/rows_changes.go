package sqlstore

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/lyceum-school/lyceum"
)

func (n *noun[ID, T, F]) NextID(tx lyceum.Tx) (ID, error) {
	id, err := txOf(tx).nextID(n.seq)
	return n.key.of(id), err
}

func (n *noun[ID, T, F]) Insert(tx lyceum.Tx, rows ...T) error {
	t := txOf(tx)
	if n.saving != nil {
		if err := n.saving(t, rows); err != nil {
			return err
		}
	}
	if err := insert(t, &n.table, rows); err != nil || !n.key.numbered {
		return err
	}
	var highest int32
	for i := range rows {
		highest = max(highest, n.id(&rows[i]))
		delete(t.unused, ticket{n.seq, n.id(&rows[i])})
	}
	if n.counter != "" {
		t.counts[n.counter] += int64(len(rows))
	}
	return t.raise(n.seq, highest)
}

func (n *noun[ID, T, F]) Save(tx lyceum.Tx, rows ...T) (lyceum.Saved, error) {
	t := txOf(tx)
	if n.saving != nil {
		if err := n.saving(t, rows); err != nil {
			return lyceum.Saved{}, err
		}
	}
	if n.key.numbered {
		return save(t, &n.table, rows)
	}
	var saved lyceum.Saved
	for i := range rows {
		err := n.saveSecret(t, &rows[i], &saved)
		if err != nil {
			return saved, err
		}
	}
	return saved, nil
}

func (n *noun[ID, T, F]) Update(tx lyceum.Tx, rows ...T) error {
	if n.changed != nil { // it needs the old row
		_, err := n.Save(tx, rows...)
		return err
	}
	t := txOf(tx)
	if n.saving != nil {
		if err := n.saving(t, rows); err != nil {
			return err
		}
	}
	for i := range rows {
		w := edit{values: n.loose.bind(&rows[i]), update: n.loose.text, fixed: n.fixed}
		if err := update(t, &n.table, &rows[i], w); err != nil {
			return err
		}
	}
	return nil
}

// saveSecret saves a row that is identified by a hash.
func (n *noun[ID, T, F]) saveSecret(t *tx, row *T, saved *lyceum.Saved) error {
	old, found, err := n.get(&t.view, *n.key.at(row))
	switch {
	case err != nil:
		return err
	case !found:
		saved.Created++
		return insert(t, &n.table, []T{*row})
	}
	before := n.bind(&old)
	if same(before, n.bind(row)) {
		saved.Unchanged++
		return nil
	}
	saved.Updated++
	return update(t, &n.table, row, n.change(before, row))
}

func (n *noun[ID, T, F]) Delete(tx lyceum.Tx, id ID) error {
	t := txOf(tx)
	row, found, err := n.get(&t.view, id)
	switch {
	case err != nil:
		return err
	case !found:
		return n.missing(id)
	}
	return n.delete(t, &row)
}

// delete deletes a row that has been read.
func (n *noun[ID, T, F]) delete(t *tx, row *T) error {
	w := edit{values: n.bind(row), update: n.deletion, takes: 1, gone: true}
	if err := put(t, &n.table, w); err != nil {
		return err
	}
	if n.changed != nil {
		n.changed(t, row, nil)
	}
	if n.entries != "" {
		t.Note(lyceum.EntryType(n.entries+".deleted"), n.id(row))
	}
	if n.counter != "" {
		t.counts[n.counter]--
	}
	return nil
}

// maxCleared is how many rows are deleted one by one at most, so that each deletion waits with
// the group's other writes.
const maxCleared = chunk

func (n *noun[ID, T, F]) Clear(tx lyceum.Tx, f F) (int, error) {
	t := txOf(tx)
	some, err := n.some(&t.view, f, 1+maxCleared)
	if err != nil {
		return 0, fmt.Errorf("find %s to delete: %w", n.name, err)
	}
	if len(some) > maxCleared {
		return n.clear(t, f)
	}
	for i := range some {
		if err := n.delete(t, &some[i]); err != nil {
			return i, err
		}
	}
	return len(some), nil
}

// some returns up to most rows that match a filter, in the order of their ids. It runs no query
// if the result is already known, as it is for the many changes that look first.
func (n *noun[ID, T, F]) some(v *view, f F, most int) (some []T, err error) {
	w := n.where(v, f)
	in, text := n.scopeOf(v, f, w), n.all(v, f, w)
	_, known, err := v.q.group.foundAny(in, text, w.args)
	if err != nil {
		return nil, err
	}
	if !known {
		in.limit = 1
		there, looked, err := v.q.group.foundAny(in, text+" LIMIT 1", w.args)
		if err != nil || looked && !there {
			return nil, err
		}
		in.limit, in.order = most, ""
		text = "SELECT " + n.list() + " FROM " + n.from(v, f) + w.String() + " LIMIT " + strconv.Itoa(most)
	}
	r := n.reader()
	defer n.done(r)
	err = v.q.eachIn(in, text, w.args, r.dest, func() error { some = append(some, r.row); return nil })
	slices.SortFunc(some, func(a, b T) int { return cmp.Compare(n.id(&a), n.id(&b)) })
	return some, err
}

// clear deletes the rows that match a filter in one statement.
func (n *noun[ID, T, F]) clear(t *tx, f F) (deleted int, err error) {
	w := n.where(&t.view, f)
	var row T
	returned, dest := n.key.name, []any{n.key.scan(&row)}
	if n.changed != nil {
		returned, dest = n.list(), n.scan(&row)
	}
	var ids []int32
	err = t.q.each("DELETE FROM "+n.from(&t.view, f)+w.String()+" RETURNING "+returned, w.args, dest, func() error {
		deleted++
		if n.changed != nil {
			n.changed(t, &row, nil)
		}
		if n.entries != "" {
			ids = append(ids, n.id(&row))
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("delete from %s: %w", n.name, err)
	}
	t.noteAll(lyceum.EntryType(n.entries+".deleted"), ids)
	if n.counter != "" {
		t.counts[n.counter] -= int64(deleted)
	}
	return deleted, nil
}

// noteEach runs a statement that returns the ids of the rows it changes, notes each of them, and
// returns their number.
func (t *tx) noteEach(entry lyceum.EntryType, text string, args []any) (int, error) {
	var id int32
	var ids []int32
	err := t.q.each(text, args, []any{scanInt(&id)}, func() error {
		ids = append(ids, id)
		return nil
	})
	if err != nil {
		return 0, err
	}
	t.noteAll(entry, ids)
	return len(ids), nil
}

// noteAll notes rows that one statement changed, in ascending order of their ids, because the
// engines return them in different orders.
func (t *tx) noteAll(entry lyceum.EntryType, ids []int32) {
	slices.Sort(ids)
	for _, id := range ids {
		t.Note(entry, id)
	}
}
