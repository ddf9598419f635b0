package sqlstore

import (
	"errors"
	"slices"
	"strconv"

	"github.com/lyceum-school/lyceum"
)

var (
	errNoIndexRoom = errors.New("its rows need more memory than --index-memory leaves")
	errFewExpire   = errors.New("few of its rows expire")
)

// fill builds the list as of a session's snapshot, if at least expiring of its rows expire.
func (l *indexedList) fill(q *session, memory, expiring int64) (err error) {
	if l.mark, err = readMark(q, l.school, l.follow.mark()); err != nil {
		return err
	}
	if err = l.hold(q, l.at); err != nil {
		return err
	}
	if l.expires != "" {
		w := l.lastingAfter(l.at)
		if _, err = q.one("SELECT count(*) FROM "+l.from()+w.String(), w.args, scanInt(&l.expiring)); err != nil {
			return err
		}
		if l.expiring < expiring {
			return errFewExpire
		}
	}
	w := l.whereAll(l.school, l.at)
	var id int32
	err = q.each("SELECT "+l.column(l.id)+" FROM "+l.from()+w.String()+l.upward(), w.args,
		[]any{scanInt(&id)}, func() error {
			if 4*int64(len(l.ids)) > memory {
				return errNoIndexRoom
			}
			l.ids = append(l.ids, id)
			return q.ctx.Err()
		})
	l.rows.Store(int64(len(l.ids)))
	return err
}

// advance brings the list up to a session's snapshot, and reports whether it is valid for that
// moment. The caller holds the lock.
func (l *indexedList) advance(q *session, at int64, moment bool) (bool, error) {
	if l.dropped.Load() || at < l.since {
		return false, nil
	}
	now, err := readMark(q, l.school, l.follow.mark())
	if err != nil {
		return false, err
	}
	switch behind := now.number - l.mark.number; {
	case behind < 0 && moment: // the snapshot is older than the list
		return false, nil
	case behind < 0 || behind == 0 && now != l.mark || behind > maxPassed:
		l.drop()
		return false, nil
	}
	if now == l.mark && at < l.until {
		return true, nil
	}
	done, err := l.take(q, now, at)
	if err != nil || !done {
		l.drop() // it may be half changed
		return false, err
	}
	l.mark = now
	return true, nil
}

// hold makes the list valid from a moment until the next row expires.
func (l *indexedList) hold(q *session, at int64) error {
	l.since, l.until = at, forever
	if l.expires == "" {
		return nil
	}
	w := l.lastingAfter(at)
	next := lyceum.Opt[int64]{}
	_, err := q.one("SELECT min("+l.column(l.expires)+") FROM "+l.from()+w.String(), w.args, scanOptInt(&next))
	if next.Present {
		l.until = next.Value
	}
	return err
}

// lastingAfter narrows to the rows that expire after a moment.
func (l *indexedList) lastingAfter(at int64) *where {
	w := l.all(l.school)
	l.lasting(w)
	w.and(l.column(l.expires)+" > ?", at)
	return w
}

// take applies to the list what was changed up to a mark and what expired up to a moment. It
// returns false if the list must be built again.
func (l *indexedList) take(q *session, now mark, at int64) (bool, error) {
	var ids []int32
	var moved bool
	if now != l.mark {
		touched := l.journaled
		if l.follow.log != nil {
			touched = l.follow.log.touched
		}
		var ok bool
		var err error
		if ids, moved, ok, err = touched(q, l.school, l.mark, now); err != nil || !ok {
			return false, err
		}
	}
	if at >= l.until {
		expired, err := l.expired(q, at)
		if err == nil {
			err = l.hold(q, at)
		}
		if err != nil {
			return false, err
		}
		ids, moved = append(ids, expired...), true
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) > maxBehind {
		return false, nil
	}
	if moved {
		l.remove(ids)
	}
	err := l.insert(q, ids, at)
	l.rows.Store(int64(len(l.ids)))
	return err == nil, err
}

// expired returns the rows that expired between the moment of the list and the given one, or
// more than maxBehind of them. In some lists all rows expire.
func (l *indexedList) expired(q *session, at int64) (ids []int32, err error) {
	w := l.lastingAfter(l.since)
	w.and(l.column(l.expires)+" <= ?", at)
	var id int32
	err = q.each("SELECT "+l.column(l.id)+" FROM "+l.from()+w.String()+" LIMIT "+strconv.Itoa(maxBehind+1), w.args,
		[]any{scanInt(&id)}, func() error { ids = append(ids, id); return nil })
	return ids, err
}

// journaled is changeLog.touched for the journal.
func (l *indexedList) journaled(
	q *session, school lyceum.SchoolID, from, to mark,
) (ids []int32, moved, ok bool, err error) {
	known, err := markAt(q, school, from.number)
	if err != nil || known != from { // another database has replaced this one
		return nil, false, false, err
	}
	entries, err := findEntries(q, school,
		lyceum.ChangeFilter{After: from.number, Limit: maxBehind + 1, Types: l.types}, to.number, true)
	if err != nil || len(entries) > maxBehind {
		return nil, false, false, err
	}
	ids, moved, others, ok := l.sort(entries)
	if !ok {
		return nil, false, false, nil
	}
	var id int32
	for noun, touched := range others {
		moved = true
		err := inChunks(q, l.follow.of[noun]+" IN ", school, int32Args(touched), []any{scanInt(&id)},
			func() { ids = append(ids, id) })
		if err != nil {
			return nil, false, false, err
		}
	}
	return ids, moved, true, nil
}

// sort returns the ids of the rows that entries are about, whether any of those may already be
// in the list, and the ids of other objects that affect rows, by noun. It returns false if the
// list must be built again.
func (l *indexedList) sort(entries []lyceum.ChangeRecord) (
	ids []int32, moved bool, others map[string][]int32, ok bool,
) {
	others = map[string][]int32{}
	for i := range entries {
		e := &entries[i]
		switch noun := nounOf(e.Type); {
		case noun == l.follow.rows:
			ids = append(ids, e.ObjectID)
			moved = moved || string(e.Type) != noun+".created"
		case l.follow.of[noun] != "" && string(e.Type) != noun+".deleted":
			others[noun] = append(others[noun], e.ObjectID)
		default:
			return nil, false, nil, false
		}
	}
	return ids, moved, others, true
}

// remove removes those of the rows that are in the list.
func (l *indexedList) remove(ids []int32) {
	const few = 8
	switch {
	case len(l.keys) == 1:
		for _, id := range ids {
			if i, found := slices.BinarySearch(l.ids, id); found {
				l.ids = slices.Delete(l.ids, i, i+1)
			}
		}
	case len(ids) <= few:
		for _, id := range ids {
			if i := slices.Index(l.ids, id); i >= 0 {
				l.ids = slices.Delete(l.ids, i, i+1)
			}
		}
	default:
		l.ids = slices.DeleteFunc(l.ids, func(id int32) bool {
			_, found := slices.BinarySearch(ids, id)
			return found
		})
	}
}

// insert inserts those of the rows that belong in the list. None of them is in it.
func (l *indexedList) insert(q *session, ids []int32, at int64) error {
	for part := range slices.Chunk(ids, readChunk) {
		if err := l.noteExpiry(q, part, at); err != nil {
			return err
		}
		w := l.where(l.school, at)
		among(w, l.column(l.id), part)
		var found []int32
		var id int32
		err := q.each("SELECT "+l.column(l.id)+" FROM "+l.from()+w.String()+l.upward(), w.args,
			[]any{scanInt(&id)}, func() error { found = append(found, id); return nil })
		if err != nil {
			return err
		}
		for _, id := range found {
			i, err := l.place(q, id)
			if err != nil {
				return err
			}
			l.ids = slices.Insert(l.ids, i, id)
		}
	}
	return nil
}

// noteExpiry limits the validity of the list to when the next of the rows expires.
func (l *indexedList) noteExpiry(q *session, ids []int32, at int64) error {
	if l.expires == "" {
		return nil
	}
	w := l.lastingAfter(l.since)
	among(w, l.column(l.id), ids)
	var expires int64
	return q.each("SELECT "+l.column(l.expires)+" FROM "+l.from()+w.String(), w.args, []any{scanInt(&expires)},
		func() error {
			if expires > at {
				l.until = min(l.until, expires)
			} else {
				l.since = at
			}
			return nil
		})
}

// place finds where a row that is not in the list belongs. New rows mostly come last.
func (l *indexedList) place(q *session, id int32) (int, error) {
	from, to := 0, len(l.ids)
	for i := to - 1; from < to; i = (from + to) / 2 {
		before, err := l.before(q, id, l.ids[i])
		switch {
		case err != nil:
			return 0, err
		case before:
			to = i
		default:
			from = i + 1
		}
	}
	return from, nil
}

// before reports whether a row comes before another one.
func (l *indexedList) before(q *session, id, other int32) (bool, error) {
	if len(l.keys) == 1 {
		return id < other, nil
	}
	w := l.all(l.school)
	w.and(l.column(l.id)+" = ?", int64(id))
	w.conds = append(w.conds, l.beside(" < ", w.arg(int64(other))))
	var one int64
	return q.one("SELECT 1 FROM "+l.from()+w.String(), w.args, scanInt(&one))
}
