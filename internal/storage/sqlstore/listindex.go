package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lyceum-school/lyceum"
)

// listIndex holds the ids of the rows of long lists in order, so that a page is found by its
// number and a total by counting ids. Each list is built when it is first needed and may be
// dropped at any time. It is used only if the journal, read in the same statement as the page,
// is no further than the list.
type listIndex struct {
	store  *Store
	memory int64           // bytes that all lists may use; 0: there are no lists
	after  int64           // indexAfter
	least  int64           // indexRows
	soon   time.Duration   // indexTime
	eager  bool            // for tests: a list is built for the first page that is requested
	ctx    context.Context //nolint:containedctx // ends builds when the store closes
	stop   context.CancelFunc
	work   sync.WaitGroup

	turn         sync.Mutex // held while an index is built
	hits, misses atomic.Int64

	mu       sync.Mutex
	lists    map[string]*indexedList
	making   map[wanted]bool          // indexes that are being built or wait for their turn
	later    map[wanted]time.Time     // until which a list is not built again
	readings map[string]chan struct{} // first readings; see ranking.reading
	short    map[string]bool          // lists that need no index
}

const (
	// indexAfter is how many rows a page must come after for an index to be worth it when the
	// total is known anyway.
	indexAfter = 500
	// indexRows is how many rows a list must have to be worth an index.
	indexRows = 2_000
	// indexTime is how long reading a page of a list with fewer rows must take for the list to
	// be worth an index.
	indexTime = 100 * time.Millisecond
	// maxBehind is up to how many changed rows a list is updated instead of being built again,
	// and maxPassed how many journal entries it reads for that.
	maxBehind, maxPassed = 2_000, 50_000
	// listBytes is the memory that a list uses in addition to its ids.
	listBytes = 512
	// laterPause is how long a list is not built again after there was no memory, or no need,
	// for it.
	laterPause = 10 * time.Minute
	// One part in contentsShare of the memory is for cached rows.
	contentsShare = 4
	// maxLater is how many lists are remembered as not to be built again for a while.
	maxLater = 1_000
	// maxMaking is how many indexes are being built or wait for their turn at most.
	maxMaking = 4
)

// IndexLists allows up to memory bytes for the order of long lists and the contents of
// courses. It is called before the store is used.
func (s *Store) IndexLists(memory int64) {
	s.contents.most = memory / contentsShare
	s.lists.memory = memory - s.contents.most
}

// ListStats are statistics about the indexes of lists.
type ListStats struct {
	Lists, Building int64
	Rows, Bytes     int64
	Hits, Misses    int64 // pages and totals from an index, and those for which rows were counted
}

// ListStats returns statistics about the indexes of lists.
func (s *Store) ListStats() ListStats {
	x := &s.lists
	stats := ListStats{Hits: x.hits.Load(), Misses: x.misses.Load()}
	x.mu.Lock()
	defer x.mu.Unlock()
	stats.Building = int64(len(x.making))
	for _, l := range x.lists {
		stats.Lists++
		stats.Rows += l.rows.Load()
		stats.Bytes += l.bytes()
	}
	return stats
}

func (x *listIndex) open(s *Store) {
	x.store, x.after, x.least, x.soon = s, indexAfter, indexRows, indexTime
	x.ctx, x.stop = context.WithCancel(context.Background())
	x.lists, x.later = map[string]*indexedList{}, map[wanted]time.Time{}
	x.making, x.readings, x.short = map[wanted]bool{}, map[string]chan struct{}{}, map[string]bool{}
}

func (x *listIndex) close() {
	x.stop()
	x.work.Wait()
}

// find returns the index of a list, or nil.
func (x *listIndex) find(school lyceum.SchoolID, r *ranking) *indexedList {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.lists) == 0 {
		return nil
	}
	name := r.name(school)
	l := x.lists[name]
	if l == nil {
		return nil
	}
	if l.dropped.Load() {
		delete(x.lists, name)
		return nil
	}
	l.requested.Store(time.Now().UnixNano())
	return l
}

// wanted identifies an index: a list by its name, and how many of its rows must expire at
// least.
type wanted struct {
	name     string
	expiring int64
}

// want builds an index in the background, one at a time, unless it exists, too many others are
// being built, or it was postponed lately. The first reading of the list then ends when the
// index is built.
func (x *listIndex) want(school lyceum.SchoolID, r *ranking, expiring int64) {
	w := wanted{r.name(school), expiring}
	x.mu.Lock()
	makes := x.lists[w.name] == nil && !x.making[w] && len(x.making) < maxMaking && x.ctx.Err() == nil &&
		!time.Now().Before(x.later[w])
	if makes {
		x.making[w] = true
	}
	x.mu.Unlock()
	if !makes {
		return
	}
	reading := r.reading
	r.reading = nil
	x.work.Go(func() {
		x.turn.Lock()
		x.build(school, w, r)
		x.turn.Unlock()
		x.mu.Lock()
		delete(x.making, w)
		x.mu.Unlock()
		if reading != nil {
			x.end(w.name, reading)
		}
	})
}

func (x *listIndex) build(school lyceum.SchoolID, w wanted, r *ranking) {
	l := &indexedList{ranking: r, school: school, types: r.follow.types()}
	l.requested.Store(time.Now().UnixNano())
	err := x.store.reads.survey(x.ctx, func(q *session) error { return l.fill(q, x.memory, w.expiring) })
	if err != nil {
		if x.ctx.Err() == nil && !errors.Is(err, errFewExpire) {
			x.store.log.Log(x.ctx, slog.LevelWarn, "a list has no index: the database counts its rows", "school", school,
				"table", r.table, "err", x.store.public(err))
		}
		x.postpone(w)
		return
	}
	x.mu.Lock()
	x.lists[w.name] = l
	x.mu.Unlock()
	x.makeRoom()
}

// postpone keeps an index from being built for a while.
func (x *listIndex) postpone(w wanted) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.later) >= maxLater {
		clear(x.later)
	}
	x.later[w] = time.Now().Add(laterPause)
}

// makeRoom drops the least recently used lists until the others use no more memory than they
// may.
func (x *listIndex) makeRoom() {
	x.mu.Lock()
	defer x.mu.Unlock()
	taken := int64(0)
	names := make([]string, 0, len(x.lists))
	for name, l := range x.lists {
		taken += l.bytes()
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Compare(x.lists[a].requested.Load(), x.lists[b].requested.Load())
	})
	for _, name := range names {
		if taken <= x.memory {
			return
		}
		taken -= x.lists[name].bytes()
		delete(x.lists, name)
	}
}

// indexedList is one list: the ids of its rows, from first to last in upward order.
type indexedList struct {
	*ranking // as of the first request

	school    lyceum.SchoolID
	types     []lyceum.EntryType
	requested atomic.Int64 // when it was last requested, in Unix nanoseconds
	rows      atomic.Int64
	dropped   atomic.Bool

	expiring int64 // rows that were going to expire when it was built

	mu    sync.RWMutex
	ids   []int32
	mark  mark
	since int64 // the moments for which it is valid, in Unix microseconds: from this one
	until int64 // until before this one, when the next row expires
}

func (l *indexedList) bytes() int64 { return 4*l.rows.Load() + listBytes }

// mark is the position of a journal or another log: the number and the time of its last entry.
type mark struct{ number, at int64 }

// markText selects the mark of the school $1. The last entry is single or ends a run.
const (
	markText = "COALESCE(" + markNumber + ", 0), COALESCE((SELECT j.at FROM journal j WHERE j.school_id = $1 AND " +
		"j.number = " + markNumber + "), (SELECT r.at FROM journal_runs r WHERE r.school_id = $1 AND r.last = " +
		markNumber + "), 0)"
	markNumber = "(SELECT c.value FROM counters c WHERE c.school_id = $1 AND c.name = '" + journalCounter + "')"
)

func (m *mark) scan() []any { return []any{scanInt(&m.number), scanInt(&m.at)} }

func readMark(q *session, school lyceum.SchoolID, text string) (m mark, err error) {
	_, err = q.one("SELECT "+text, []any{int64(school)}, m.scan()...)
	return m, err
}

// markAt returns the mark of an entry that is single or ends a run.
func markAt(q *session, school lyceum.SchoolID, number int64) (mark, error) {
	m := mark{number: number}
	_, err := q.one("SELECT at FROM journal WHERE school_id = $1 AND number = $2 UNION ALL "+
		"SELECT at FROM journal_runs WHERE school_id = $1 AND last = $2", []any{int64(school), number},
		scanInt(&m.at))
	return m, err
}

// seat has the rows of a page by their ids, and the total and the mark of its list.
type seat struct {
	ids   []int32
	total int64
	mark  mark
}

// seat finds a page. The caller holds the lock, at least for reading.
func (l *indexedList) seat(p lyceum.Page, down bool) seat {
	total := int64(len(l.ids))
	from := min(p.Offset(), total)
	to := min(from+int64(p.Size), total)
	if down {
		from, to = total-to, total-from
	}
	return seat{ids: slices.Clone(l.ids[from:to]), total: total, mark: l.mark}
}

// holds reports whether the list is valid at a moment.
func (l *indexedList) holds(at int64) bool { return l.since <= at && at < l.until }

// drop makes the list be built again when it is next needed.
func (l *indexedList) drop() { l.dropped.Store(true) }

// indexed reads a page by the index of a list, and returns its total. It returns false if
// there is no index that is valid; the caller then counts rows instead. The function read
// reads the page by the ids of its rows, and the mark in the same statement; it returns the
// mark and how many rows it found. For a page without rows it reads only the mark.
func (v *view) indexed(
	r *ranking, p lyceum.Page, read func(*session, seat) (mark, int, error),
) (total int64, done bool, err error) {
	if !v.indexes(r) {
		return 0, false, nil
	}
	x := &v.store.lists
	l := x.find(v.school, r)
	switch {
	case l != nil:
	case x.eager:
		x.build(v.school, wanted{name: r.name(v.school)}, r)
		l = x.find(v.school, r)
	case !v.q.began(): // nobody waits while holding a connection
		l = x.await(v.ctx, v.school, r)
	}
	if l == nil {
		return 0, false, nil
	}
	try := func(q *session, s seat) (bool, error) {
		total = s.total
		m, n, err := read(q, s)
		return m == s.mark && n == len(s.ids), err
	}
	l.mu.RLock()
	s, holds := l.seat(p, r.down), l.holds(r.at)
	l.mu.RUnlock()
	if holds {
		done, err = try(v.q, s)
	}
	if err == nil && !done {
		// The connection is acquired before the lock, because a caller that waits for the lock
		// may hold a connection.
		err = v.atOnce(func(q *session) (err error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			if done, err = l.advance(q, r.at, v.moment); err != nil || !done {
				return err
			}
			if done, err = try(q, l.seat(p, r.down)); err == nil && !done {
				x.store.log.Warn("the index of a list was wrong and is being rebuilt", "school", v.school, "table", r.table)
				l.drop()
			}
			return err
		})
	}
	if err == nil && done {
		x.hits.Add(1)
	}
	return total, done, err
}

// indexes reports whether a list may have an index here. It may not in a change, which sees
// what is not in the journal yet.
func (v *view) indexes(r *ranking) bool {
	return r != nil && v.store.lists.memory > 0 && v.q.pool != v.store.writes
}

// slow reports whether reading a page and its total would take long in a long list.
func (v *view) slow(count total, p lyceum.Page) bool {
	return !count.kept || p.Offset() >= v.store.lists.after
}

// manyExpire reports whether a list has an index and many rows that expire. Its total then
// comes from the index even if a counter has it as well.
func (v *view) manyExpire(r *ranking) bool {
	if r == nil || r.expires == "" || !v.indexes(r) {
		return false
	}
	l := v.store.lists.find(v.school, r)
	return l != nil && l.expiring >= v.store.lists.after
}

// wantIndex builds the index of a list whose rows were counted if there were many, or if it
// took long to find a few. If only the rows that expire were counted, there must be many of
// those.
func (v *view) wantIndex(r *ranking, slow bool, total int64, begin time.Time) {
	if !v.indexes(r) {
		return
	}
	x := &v.store.lists
	short := total < x.least && time.Since(begin) < x.soon
	if slow && short == (r.reading != nil) { // it is not as remembered
		x.remember(v.school, r, short)
	}
	switch {
	case short:
	case slow:
		x.misses.Add(1)
		x.want(v.school, r, 0)
	case r.expires != "":
		x.want(v.school, r, x.after)
	}
}

// forever is the end of what no time changes.
const forever = math.MaxInt64
