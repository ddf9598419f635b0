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

// listIndex has the rows of long lists in order, by their ids, so that a page is found
// by its number and a total by their count. Each list is made when it is first needed
// and may be dropped at any time. It answers only where the journal has come no
// further, in the statement that reads the page, than the list knows.
type listIndex struct {
	store  *Store
	memory int64           // bytes that all lists may take; 0: there are none
	after  int64           // indexAfter
	least  int64           // indexRows
	soon   time.Duration   // indexTime
	eager  bool            // a list is made for the first page that is asked for; tests
	ctx    context.Context //nolint:containedctx // ends what is being made when the store closes
	stop   context.CancelFunc
	work   sync.WaitGroup

	turn         sync.Mutex // of who makes an index
	hits, misses atomic.Int64

	mu       sync.Mutex
	lists    map[string]*indexedList
	making   map[wanted]bool          // what is being made, or waits for its turn
	later    map[wanted]time.Time     // before which a list is not made again
	readings map[string]chan struct{} // first ones, as ranking.reading
	short    map[string]bool          // lists that need no index
}

const (
	// indexAfter is how many rows a page must come after for an index to be worth it
	// where the total is known anyway.
	indexAfter = 500
	// indexRows is how many rows a list must have to be worth an index.
	indexRows = 2_000
	// indexTime is how long it must take to read a page of a list that has fewer.
	indexTime = 100 * time.Millisecond
	// maxBehind is how many changed rows a list takes in rather than being made again,
	// and maxPassed how many entries of the journal it reads for them.
	maxBehind, maxPassed = 2_000, 50_000
	// listBytes is what a list takes besides its ids.
	listBytes = 512
	// laterPause is how long a list is not made again for which there is no room, or no need.
	laterPause = 10 * time.Minute
	// contentsShare is which part of the memory is for rows that are kept.
	contentsShare = 4
	// maxLater is how many such lists are remembered.
	maxLater = 1_000
	// maxMaking is how many indexes are made or wait for their turn.
	maxMaking = 4
)

// IndexLists lets up to so many bytes of memory hold the order of long lists, and the
// contents of courses. It is called before the store is used.
func (s *Store) IndexLists(memory int64) {
	s.contents.most = memory / contentsShare
	s.lists.memory = memory - s.contents.most
}

// ListStats is how the indexes of lists do.
type ListStats struct {
	Lists, Building int64
	Rows, Bytes     int64
	Hits, Misses    int64 // pages and totals that an index gave, and that rows were counted for
}

// ListStats returns how the indexes of lists do.
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
	l.asked.Store(time.Now().UnixNano())
	return l
}

// wanted is an index of a list, by its name, of whose rows so many expire at least.
type wanted struct {
	name     string
	expiring int64
}

// want has an index made, one after the other, unless it is there, many others are being made or
// it was not to be made lately. Its first reading ends when it is made.
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
	l.asked.Store(time.Now().UnixNano())
	err := x.store.reads.survey(x.ctx, func(q *session) error { return l.fill(q, x.memory, w.expiring) })
	if err != nil {
		if x.ctx.Err() == nil && !errors.Is(err, errFewExpire) {
			x.store.log.Log(x.ctx, slog.LevelWarn, "no index of a list: the database counts its rows", "school", school,
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

// postpone has an index not made for a while.
func (x *listIndex) postpone(w wanted) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.later) >= maxLater {
		clear(x.later)
	}
	x.later[w] = time.Now().Add(laterPause)
}

// makeRoom drops the lists that were asked for least recently, while all take more
// than they may.
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
		return cmp.Compare(x.lists[a].asked.Load(), x.lists[b].asked.Load())
	})
	for _, name := range names {
		if taken <= x.memory {
			return
		}
		taken -= x.lists[name].bytes()
		delete(x.lists, name)
	}
}

// indexedList is one list: the ids of its rows, from the first to the last in upward
// order.
type indexedList struct {
	*ranking // as of the first question

	school  lyceum.SchoolID
	types   []lyceum.EntryType
	asked   atomic.Int64 // when it was asked for last, in Unix nanoseconds
	rows    atomic.Int64
	dropped atomic.Bool

	expiring int64 // rows that were to expire when it was made

	mu    sync.RWMutex
	ids   []int32
	mark  mark
	since int64 // the moments that it holds for, in Unix microseconds: from this one
	until int64 // up to this one, when the next row expires
}

func (l *indexedList) bytes() int64 { return 4*l.rows.Load() + listBytes }

// mark is how far a journal, or another log, has come: the number of its last entry, and
// when that was.
type mark struct{ number, at int64 }

// markText reads the mark of a school, which is $1. The last entry is alone or ends a run.
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

// markAt returns the mark of an entry that is alone or ends a run.
func markAt(q *session, school lyceum.SchoolID, number int64) (mark, error) {
	m := mark{number: number}
	_, err := q.one("SELECT at FROM journal WHERE school_id = $1 AND number = $2 UNION ALL "+
		"SELECT at FROM journal_runs WHERE school_id = $1 AND last = $2", []any{int64(school), number},
		scanInt(&m.at))
	return m, err
}

// seat is which rows a page has.
type seat struct {
	ids   []int32
	total int64
	mark  mark
}

// seat finds a page. It is called with the lock, if only for reading.
func (l *indexedList) seat(p lyceum.Page, down bool) seat {
	total := int64(len(l.ids))
	from := min(p.Offset(), total)
	to := min(from+int64(p.Size), total)
	if down {
		from, to = total-to, total-from
	}
	return seat{ids: slices.Clone(l.ids[from:to]), total: total, mark: l.mark}
}

// holds reports whether the list is that of a moment.
func (l *indexedList) holds(at int64) bool { return l.since <= at && at < l.until }

// drop has the list made again when it is asked for.
func (l *indexedList) drop() { l.dropped.Store(true) }

// indexed reads a page by the index of a list, and returns its total. It returns false
// where there is no index, or none that holds; the caller counts rows instead. The page
// is read by read, by the ids of its rows and with the mark in the same statement; it
// returns how many rows there were. Of a page without rows it reads the mark alone.
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
	case !v.q.began(): // nobody waits for a connection that is waiting
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
		// The connection comes before the lock: whoever waits for one may hold the other.
		err = v.atOnce(func(q *session) (err error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			if done, err = l.advance(q, r.at, v.moment); err != nil || !done {
				return err
			}
			if done, err = try(q, l.seat(p, r.down)); err == nil && !done {
				x.store.log.Warn("the index of a list was wrong and is made again", "school", v.school, "table", r.table)
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

// indexes reports whether a list may have an index here. A change sees what no journal
// has yet.
func (v *view) indexes(r *ranking) bool {
	return r != nil && v.store.lists.memory > 0 && v.q.pool != v.store.writes
}

// slow reports whether a page and its total take long in a long list.
func (v *view) slow(count total, p lyceum.Page) bool {
	return !count.kept || p.Offset() >= v.store.lists.after
}

// manyExpire reports whether a list has an index and many rows that expire. A total that
// a counter keeps all the same is then that of the index.
func (v *view) manyExpire(r *ranking) bool {
	if r == nil || r.expires == "" || !v.indexes(r) {
		return false
	}
	l := v.store.lists.find(v.school, r)
	return l != nil && l.expiring >= v.store.lists.after
}

// wantIndex has the index of a list made whose rows were counted, if they are many, or
// few that took long to find. Where only those were counted that expire, they must be many.
func (v *view) wantIndex(r *ranking, slow bool, total int64, begin time.Time) {
	if !v.indexes(r) {
		return
	}
	x := &v.store.lists
	short := total < x.least && time.Since(begin) < x.soon
	if slow && short == (r.reading != nil) { // it is not as was remembered
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
