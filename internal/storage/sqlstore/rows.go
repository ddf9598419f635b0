package sqlstore

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// noun is the lyceum.Table of one noun. Its sequence, its entry types and its loader for the
// change feed are derived from it.
type noun[ID lyceum.Key, T, F any] struct {
	table[T]

	entries string // its name in the journal; empty if it has no entries
	what    string // its name in error messages; derived from entries if empty
	key     keyColumn[ID, T]
	rest    []column[T]

	narrow func(*where, F)
	// narrowBy replaces narrow where the conditions differ for a query that reads all rows of a
	// school, or between the engines.
	narrowBy func(d *dialect, w *where, f F, all bool)
	order    func(F) string           // nil means by the key
	hint     func(*dialect, F) string // appended to the table's name; nil for none
	through  func(*view, F) *through  // for a view
	count    func(F, *where) total    // how to count the rows; nil means a count or, without a filter, the counter
	after    func(F) lyceum.Opt[ID]   // the key after which a list continues, if any
	secret   bool                     // not shown in the change feed
	loose    setter[T]                // sets all columns that are not fixed
	deletion string                   // the statement that deletes the row with a key
	// show completes rows for the change feed, and weighShown returns the largest size in bytes
	// of one as JSON. If nil, rows are shown as they are.
	show       func(*session, lyceum.SchoolID, map[int32]T) (map[int32]any, error)
	weighShown func(any) int
	largest    int                  // bytes of one as JSON at most, if fewer than hugeObject
	byBytes    func(F) bool         // rows vary in size: a page ends at lyceum.ResponseBytes
	saving     func(*tx, []T) error // called before rows are saved
	hides      string               // a row with a value here is not found by its key; empty if all are
	// indexed returns how a list is updated when something changes; false means that no such list
	// is worth an index.
	indexed func(F) (follow, bool)
	// kept means that rows are kept in memory, see contents. clone copies what two copies of a
	// row would share, if anything shared is ever changed.
	kept      bool
	keptLists func(F) bool // short lists are kept, too; they must depend only on what is kept
	clone     func(*T)
}

// define completes a noun and puts it in its place in tables, which is a lyceum.Table or, for a
// read-only noun, a lyceum.Rows.
func define[P, T, F any, ID lyceum.Key](place *P, n noun[ID, T, F]) *noun[ID, T, F] {
	all := append([]column[T]{n.key.column}, n.rest...)
	n.columns, n.bind = namesOf(all), binder(all)
	n.joined = strings.Join(n.columns, ", ")
	n.byKey = "SELECT " + n.joined + " FROM " + n.whole() + " WHERE school_id = $1 AND " + n.key.name + " = $2"
	n.set, n.loose = setterOf(n.whole(), all, nil), setterOf(n.whole(), all, n.fixed)
	n.deletion = "DELETE FROM " + n.name + " WHERE school_id = $1 AND " + n.key.name + " = $2"
	n.scan = func(t *T) []any {
		dest := make([]any, len(all))
		for i := range all {
			dest[i] = all[i].scan(t)
		}
		return dest
	}
	n.readers = &sync.Pool{New: n.newReader}
	n.weigh = func(t *T) int {
		bytes := bareObject
		for i := range all {
			if all[i].text != nil {
				bytes += lyceum.Weight(all[i].text(t))
			}
		}
		return bytes
	}
	n.id = func(*T) int32 { return 0 } // rows with hashes as keys are not in the journal
	if n.key.numbered {
		n.seq = lyceum.Sequence(n.key.name)
		n.id = func(t *T) int32 { return int32(n.key.bind(t).(int64)) }
	}
	if n.what == "" {
		n.what = strings.ReplaceAll(n.entries, "_", " ")
	}
	if n.entries != "" {
		n.created = lyceum.EntryType(n.entries + ".created")
		if n.updated == "" {
			n.updated = lyceum.EntryType(n.entries + ".updated")
		}
	}
	*place = any(&n).(P)
	return &n
}

// feed returns how the change feed shows the noun. shown is false if it does not.
func (n *noun[ID, T, F]) feed() (entries string, o feedObject, shown bool) {
	if n.entries == "" || n.secret {
		return "", feedObject{}, false
	}
	load := func(q *session, school lyceum.SchoolID, ids []int32) (map[int32]any, error) {
		if n.show != nil {
			found, err := findByID(q, school, &n.table, ids)
			if err != nil {
				return nil, err
			}
			return n.show(q, school, found)
		}
		shown := make(map[int32]any, len(ids))
		r := n.reader()
		defer n.done(r)
		return shown, n.findRows(q, school, int32Args(ids), r.dest, func() { shown[n.id(&r.row)] = r.row })
	}
	weigh := n.weighShown
	if weigh == nil {
		weigh = func(shown any) int {
			r := n.reader()
			defer n.done(r)
			r.row = shown.(T)
			return n.weigh(&r.row)
		}
	}
	return n.entries, feedObject{load, weigh, n.largest}, true
}

func (n *noun[ID, T, F]) Get(from lyceum.Source, id ID) (T, error) {
	v := viewOf(from)
	get := n.get
	if n.kept && v.keeps() {
		get = n.getKept
	}
	row, found, err := get(v, id)
	if err == nil && !found {
		err = n.missing(id)
	}
	return row, v.public(err)
}

func (n *noun[ID, T, F]) get(v *view, id ID) (row T, found bool, err error) {
	r := n.reader()
	defer n.done(r)
	key, text := n.key.arg(id), n.byKey
	args, in := []any{int64(v.school), key}, n.keyed(key)
	if n.hides != "" {
		text += " AND " + n.hides + " IS NULL"
		in.tests = []test{absent(n.hides)}
	}
	in.likely = n.likely(args)
	found, err = v.q.oneIn(in, text, args, r.dest...)
	if err != nil {
		err = fmt.Errorf("get %s: %w", n.what, err)
	}
	return r.row, found, err
}

func (n *noun[ID, T, F]) missing(id ID) error {
	if !n.key.numbered {
		return lyceum.Errorf(lyceum.NotFound, "there is no such %s", n.what)
	}
	return lyceum.Errorf(lyceum.NotFound, "there is no %s %d", n.what, id)
}

func (n *noun[ID, T, F]) Find(from lyceum.Source, ids ...ID) (map[ID]T, error) {
	v := viewOf(from)
	found := make(map[ID]T, len(ids))
	wanted, err := n.wanted(from, ids)
	if err != nil {
		return nil, v.public(err)
	}
	r := n.reader()
	defer n.done(r)
	visit := func() { found[*n.key.at(&r.row)] = r.row }
	if n.hides == "" {
		return found, v.public(n.findRows(v.q, v.school, wanted, r.dest, visit))
	}
	return found, v.public(inChunks(v.q, "SELECT "+n.list()+" FROM "+n.whole()+" WHERE school_id = $1 AND "+n.hides+
		" IS NULL AND "+n.key.name+" IN ", v.school, wanted, r.dest, visit))
}

// wanted returns the keys to look up. For a change with many of them, such as an import, it omits
// those that cannot exist.
func (n *noun[ID, T, F]) wanted(from lyceum.Source, ids []ID) ([]any, error) {
	keys := make([]any, len(ids))
	for i, id := range ids {
		keys[i] = n.key.arg(id)
	}
	t, changes := from.Session().(*tx)
	if !changes || !n.key.numbered || len(ids) <= fewRows {
		return keys, nil
	}
	numbers := make([]int32, len(keys))
	for i, key := range keys {
		numbers[i] = int32(key.(int64))
	}
	numbers, err := t.perhapsKept(n.seq, numbers)
	return int32Args(numbers), err
}

func (n *noun[ID, T, F]) Each(from lyceum.Source, f F, visit func(*T) error) error {
	v := viewOf(from)
	if n.keptLists != nil && n.keptLists(f) && v.keeps() {
		return v.public(n.eachKept(v, f, visit))
	}
	w := n.where(v, f)
	r := n.reader()
	defer n.done(r)
	return v.public(v.q.eachIn(n.scopeOf(v, f, w), n.all(v, f, w), w.args, r.dest, func() error {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		return visit(&r.row)
	}))
}

// all is the query of all rows that match a filter.
func (n *noun[ID, T, F]) all(v *view, f F, w *where) string {
	return "SELECT " + n.list() + " FROM " + n.from(v, f) + w.String() + n.ordered(f)
}

func (n *noun[ID, T, F]) First(from lyceum.Source, f F) (row T, found bool, err error) {
	v := viewOf(from)
	w := n.where(v, f)
	r := n.reader()
	defer n.done(r)
	found, err = v.q.oneIn(n.scopeOf(v, f, w), "SELECT "+n.list()+" FROM "+n.from(v, f)+w.String()+n.ordered(f)+" LIMIT 1",
		w.args, r.dest...)
	if err != nil {
		err = v.public(fmt.Errorf("find first %s: %w", n.what, err))
	}
	return r.row, found, err
}

// List reads a page and its total in one statement, and so from one snapshot. If the page has no
// rows, its total is queried separately, unless it is the first page.
func (n *noun[ID, T, F]) List(from lyceum.Source, f F, p lyceum.Page) (lyceum.Listing[T], error) {
	v, begin := viewOf(from), time.Now()
	w := n.whereAll(v, f)
	count := n.total(v, f, w)
	size, offset, all := int64(p.Size), p.Offset(), count.ofPage(p)
	if n.after != nil {
		if id := n.after(f); id.Present {
			w.and(n.key.name+" > ?", n.key.arg(id.Value))
			offset, all = 0, false
		}
	}
	var r *ranking
	if v.slow(count, p) {
		r = n.ranking(v.q.pool.dialect, f)
		defer v.store.lists.leave(r)
	}
	if listing, done, err := n.listIndexed(v, f, p, r); err != nil || done {
		return listing, n.failed(v, err)
	}
	text := "SELECT " + count.text + ", " + n.list() + " FROM " + n.from(v, f) + w.String() + n.ordered(f) +
		" LIMIT " + w.arg(size+1) + " OFFSET " + w.arg(offset) // one more row shows whether there is a next page
	var listing lyceum.Listing[T]
	read := func(q *session) error {
		listing = lyceum.Listing[T]{Page: p}
		left, byBytes := lyceum.ResponseBytes, n.byBytes != nil && n.byBytes(f)
		r := n.reader()
		defer n.done(r)
		err := q.each(text, w.args, r.paged, func() error {
			listing.Total = r.total
			full := len(listing.Rows) == int(p.Size)
			if byBytes {
				left -= n.weigh(&r.row)
				full = full || left < 0 && len(listing.Rows) > 0
			}
			if full {
				listing.More = true
				return errFull
			}
			if listing.Rows == nil {
				listing.Rows = make([]T, 0, min(p.Size, firstRows))
			}
			listing.Rows = append(listing.Rows, r.row)
			return nil
		})
		return unlessFull(err)
	}
	err := read(v.q)
	if err == nil && len(listing.Rows) == 0 && !all {
		err = v.atOnce(func(q *session) error {
			var total int64
			_, err := q.one("SELECT "+count.text, w.args[:count.args], scanInt(&total))
			if err == nil && total > offset { // only then: skipping the rows before an empty page may take long
				err = read(q)
			}
			listing.Total = total
			return err
		})
	}
	v.wantIndex(r, true, listing.Total, begin) // also after an error, so that the index exists next time
	if err != nil {
		return lyceum.Listing[T]{}, n.failed(v, err)
	}
	return listing, nil
}

func (n *noun[ID, T, F]) failed(v *view, err error) error {
	if err == nil {
		return nil
	}
	return v.public(fmt.Errorf("list %s: %w", n.name, err))
}

// ranking returns the ranking of a list that is worth an index, or nil.
func (n *noun[ID, T, F]) ranking(d *dialect, f F) *ranking {
	if n.indexed == nil {
		return nil
	}
	of, worth := n.indexed(f)
	if !worth {
		return nil
	}
	order := n.key.name
	if n.order != nil {
		order = n.order(f)
	}
	keys, sorted, down := ranked(order)
	return &ranking{
		table: n.name, id: n.key.name, keys: keys, sorted: sorted, down: down, follow: of,
		narrow:    func(w *where, _ int64) { n.narrowTo(d, w, f, false) },
		narrowAll: func(w *where) { n.narrowTo(d, w, f, true) },
	}
}

// listIndexed reads a page by the list's index. done is false if there is none.
func (n *noun[ID, T, F]) listIndexed(
	v *view, f F, p lyceum.Page, r *ranking,
) (listing lyceum.Listing[T], done bool, err error) {
	listing.Page = p
	listing.Total, done, err = v.indexed(r, p, func(q *session, s seat) (m mark, rows int, err error) {
		if listing.Rows = nil; len(s.ids) == 0 {
			m, err = readMark(q, v.school, r.follow.mark())
			return m, 0, err
		}
		listing.Rows = make([]T, 0, len(s.ids))
		w := n.where(v, f)
		page := r.page(w, s.ids)
		read := n.reader()
		defer n.done(read)
		err = q.each("SELECT "+r.follow.mark()+", "+n.list()+" FROM "+page+w.String()+n.ordered(f), w.args,
			append(m.scan(), read.dest...), func() error {
				listing.Rows = append(listing.Rows, read.row)
				return nil
			})
		return m, len(listing.Rows), err
	})
	listing.More = p.Offset()+int64(len(listing.Rows)) < listing.Total
	return listing, done, err
}

func (n *noun[ID, T, F]) where(v *view, f F) *where { return n.whereBy(v, f, false) }

// whereAll is where for a query that reads all rows of the school.
func (n *noun[ID, T, F]) whereAll(v *view, f F) *where { return n.whereBy(v, f, true) }

func (n *noun[ID, T, F]) whereBy(v *view, f F, all bool) *where {
	w := &where{}
	w.and(n.name+".school_id = ?", int64(v.school))
	n.narrowTo(v.q.pool.dialect, w, f, all)
	return w
}

// narrowTo narrows to the rows that match a filter.
func (n *noun[ID, T, F]) narrowTo(d *dialect, w *where, f F, all bool) {
	switch {
	case n.narrowBy != nil:
		n.narrowBy(d, w, f, all)
	case n.narrow != nil:
		n.narrow(w, f)
	}
}

// scope returns what the conditions of a query imply about the rows that it finds.
func (n *noun[ID, T, F]) scope(w *where) scope {
	var columns []string
	if w.evaluable == len(w.conds)-1 { // all except the school
		columns = n.columns
	}
	if of, is := viewTables[n.name]; is {
		return scope{tables: of[:1], equals: w.equals, columns: columns, tests: w.tests}
	}
	// A row of this table that a condition's subquery reads need not be one that the query finds.
	if slices.ContainsFunc(w.conds, func(cond string) bool { return strings.Contains(cond, " "+n.name+" ") }) {
		return scope{byKey: n.byKey, likely: n.likely(w.args)}
	}
	return scope{
		tables: []string{n.name}, equals: w.equals, byKey: n.byKey, likely: n.likely(w.args), columns: columns,
		tests: w.tests,
	}
}

// scopeOf is scope for a query of the rows that match a filter, in its order.
func (n *noun[ID, T, F]) scopeOf(v *view, f F, w *where) scope {
	in := n.scope(w)
	if in.order = n.ordered(f); n.through != nil {
		in.through = n.through(v, f)
	}
	return in
}

func (n *noun[ID, T, F]) from(v *view, f F) string {
	if n.hint == nil {
		return n.name
	}
	return n.name + n.hint(v.q.pool.dialect, f)
}

func (n *noun[ID, T, F]) ordered(f F) string {
	if n.order == nil {
		return " ORDER BY " + n.key.name
	}
	return " ORDER BY " + n.order(f)
}

func (n *noun[ID, T, F]) total(v *view, f F, w *where) total {
	switch {
	case n.count != nil:
		return n.count(f, w)
	case n.counter != "" && len(w.conds) == 1:
		return kept(n.counter)
	}
	return counted(" FROM "+n.from(v, f), w)
}
