package sqlstore

import (
	"slices"
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
)

// firstRows is the most rows for which memory is reserved when the first one arrives.
const firstRows = 100

// pageBy reads a page and its total in one statement, and so from one snapshot. If the page has
// no rows, its total is queried separately, unless it is the first page. phrase returns the
// statement for a given limit; its first column is the total.
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
			if err == nil && n > p.Offset() { // only then: skipping the rows before an empty page may take long
				err = read(q)
			}
			return err
		})
	}
	return found, n, v.public(err)
}

// pageIndexed reads a page of a list that may have an index. Without one, it calls otherwise,
// which is pageBy.
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

// total is an SQL expression that counts rows. It uses the first args arguments of the
// conditions.
type total struct {
	text string
	args int
	kept bool // read from a counter, which takes no time
}

// ofPage reports whether the page begins with the first of the counted rows: if such a page has
// no rows, the total is 0.
func (t total) ofPage(p lyceum.Page) bool { return !t.kept && p.Offset() == 0 && p.Size > 0 }

// counted returns the total of the rows that match the conditions.
func counted(from string, w *where) total {
	return total{text: "(SELECT count(*)" + from + w.String() + ")", args: len(w.args)}
}

// kept returns the total that a counter stores; $1 is the school.
func kept(counter string) total {
	return total{
		text: "COALESCE((SELECT c.value FROM counters c WHERE c.school_id = $1 AND c.name = '" + counter + "'), 0)",
		args: 1, kept: true,
	}
}
