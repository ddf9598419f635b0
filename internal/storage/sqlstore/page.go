package sqlstore

import (
	"slices"
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
)

// firstRows is for how many rows memory is reserved when the first one comes, at most.
const firstRows = 100

// pageBy reads a page and its total in one statement, which sees one moment; a
// page without rows asks for its total apart, unless it is the first one. The
// statement is completed with its limit and has the total as its first column.
func pageBy[T any](
	v *view, phrase func(limit string) string, w *where, count total, p lyceum.Page, scan func(*T) []any,
) (found []T, n int64, err error) {
	args := append(slices.Clone(w.args), int64(p.Size), p.Offset())
	text := phrase(" LIMIT $" + strconv.Itoa(len(args)-1) + " OFFSET $" + strconv.Itoa(len(args)))
	read := func(q *session) error {
		found = nil
		var row T
		return q.each(text, args, append([]any{scanInt(&n)}, scan(&row)...), func() error {
			if found == nil {
				found = make([]T, 0, min(p.Size, firstRows))
			}
			found = append(found, row)
			return nil
		})
	}
	if err = read(v.q); err == nil && len(found) == 0 && !count.ofPage(p) {
		err = v.atOnce(func(q *session) error {
			_, err := q.one("SELECT "+count.text, w.args[:count.args], scanInt(&n))
			if err == nil && n > p.Offset() { // there may be many rows before a page that has none
				err = read(q)
			}
			return err
		})
	}
	return found, n, v.public(err)
}

// pageIndexed is pageBy, which is otherwise, for a list that has an index.
func pageIndexed[T any](
	v *view, r *ranking, count total, p lyceum.Page, phrase func(seat) (string, []any), scan func(*T) []any,
	otherwise func() ([]T, int64, error),
) (lyceum.Listing[T], error) {
	listing := lyceum.Listing[T]{Page: p}
	slow, done, begin := v.slow(count, p), false, time.Now()
	defer v.store.lists.leave(r)
	var err error
	if slow || v.manyExpire(r) {
		listing.Total, done, err = v.indexed(r, p, func(q *session, s seat) (m mark, rows int, err error) {
			if listing.Rows = nil; len(s.ids) == 0 {
				m, err = readMark(q, v.school, r.follow.mark())
				return m, 0, err
			}
			listing.Rows = make([]T, 0, len(s.ids))
			text, args := phrase(s)
			var row T
			err = q.each(text, args, append(m.scan(), scan(&row)...), func() error {
				listing.Rows = append(listing.Rows, row)
				return nil
			})
			return m, len(listing.Rows), err
		})
	}
	if err != nil || done {
		return listing, v.public(err)
	}
	listing.Rows, listing.Total, err = otherwise()
	v.wantIndex(r, slow, listing.Total, begin)
	return listing, err
}

// total is an expression that counts, over the first arguments of the
// conditions.
type total struct {
	text string
	args int
	kept bool // by a counter: it takes no time
}

// ofPage reports whether the rows of a page are the first of those that are counted: if
// it has none, there are none.
func (t total) ofPage(p lyceum.Page) bool { return !t.kept && p.Offset() == 0 && p.Size > 0 }

// counted is the total of the rows that pass the conditions.
func counted(from string, w *where) total {
	return total{text: "(SELECT count(*)" + from + w.String() + ")", args: len(w.args)}
}

// kept is the total that a counter keeps; $1 is the school.
func kept(counter string) total {
	return total{
		text: "COALESCE((SELECT c.value FROM counters c WHERE c.school_id = $1 AND c.name = '" + counter + "'), 0)",
		args: 1, kept: true,
	}
}
