package sqlstore

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// The conditions of the journal's partial indexes, as in migrations 75 and 83. An engine uses
// such an index for a query that has its condition.
const (
	scarceEntries = "scarce IS NOT NULL"
	userEntries   = "substr(actor, 1, 5) = 'user:'"
)

// scarce has the types of entries of which a school has few. To add a type, a migration must
// mark the entries that a database already has.
var scarce = scarceTypes()

// userEntriesScanned is how many entries of one user a query looks at.
const userEntriesScanned = 20_000

// clockSkew is how much earlier an entry may be dated than the one before it: changes are
// dated before they wait for their turn, and each process has its own clock.
const clockSkew = 10 * time.Minute

func scarceTypes() map[lyceum.EntryType]bool {
	types := map[lyceum.EntryType]bool{}
	for _, kind := range lyceum.EntryKinds() {
		if !kind.Scarce() {
			continue
		}
		for _, t := range kind.Types() {
			types[t] = true
		}
	}
	return types
}

// scarceList returns the scarce types as an SQL list.
func scarceList() string {
	var list []string
	for _, t := range slices.Sorted(maps.Keys(scarce)) {
		list = append(list, "'"+string(t)+"'")
	}
	return strings.Join(list, ", ")
}

// markOf returns the value of an entry's column scarce.
func markOf(t lyceum.EntryType) any {
	if scarce[t] {
		return int64(1)
	}
	return nil
}

func (v *view) FindEntries(q lyceum.EntryQuery) (listing lyceum.EntryListing, err error) {
	err = v.atOnce(func(s *session) (err error) {
		e := entrySearch{EntryQuery: q, session: s, view: v, up: q.After > 0}
		listing, err = e.find()
		return err
	})
	if err != nil {
		return lyceum.EntryListing{}, v.public(fmt.Errorf("find entries: %w", err))
	}
	return listing, nil
}

// entrySearch is one search in the journal. It looks at the entries from low to high, upwards
// from the lowest or downwards from the highest.
type entrySearch struct {
	lyceum.EntryQuery

	session   *session
	view      *view
	up        bool
	low, high int64
}

func (e *entrySearch) find() (listing lyceum.EntryListing, err error) {
	if err := e.bound(); err != nil || e.low > e.high {
		return listing, err
	}
	low, high := e.low, e.high
	if listing.Span, err = e.span(); err != nil {
		return listing, err
	}
	if err := e.shorten(); err != nil {
		return listing, err
	}
	found, err := e.read()
	if err != nil {
		return listing, err
	}
	switch {
	case len(found) > e.Limit:
		found = found[:e.Limit]
		listing.More, listing.Through = true, found[e.Limit-1].Number
	case e.up:
		listing.More, listing.Through = e.high < high, e.high
	default:
		listing.More, listing.Through = e.low > low, e.low
	}
	if e.up {
		slices.Reverse(found)
	}
	listing.Entries = found
	return listing, nil
}

// bound sets low and high to the numbers between which the entries of the period are.
func (e *entrySearch) bound() error {
	_, err := e.session.one("SELECT value FROM counters WHERE school_id = $1 AND name = '"+journalCounter+"'",
		[]any{int64(e.view.school)}, scanInt(&e.high))
	if err != nil {
		return err
	}
	last := e.high
	e.low = max(1, e.After+1)
	if e.Before > 0 {
		e.high = min(e.high, e.Before-1)
	}
	if !e.Made.After.IsZero() {
		first, err := e.firstAt(e.Made.After.Add(time.Second-clockSkew), last)
		if err != nil {
			return err
		}
		e.low = max(e.low, first)
	}
	if !e.Made.Until.IsZero() {
		first, err := e.firstAt(e.Made.Until.Add(time.Second+clockSkew), last)
		if err != nil {
			return err
		}
		e.high = min(e.high, first-1)
	}
	return nil
}

// firstAt returns the approximate number of the first entry that is not before a time, or else
// the number after the last entry.
func (e *entrySearch) firstAt(at time.Time, last int64) (int64, error) {
	from, until := int64(1), last+1
	for from < until {
		middle := from + (until-from)/2
		_, made, err := e.near(firstFrom, middle)
		if err != nil {
			return 0, err
		}
		if made < micros(at) {
			from = middle + 1
		} else {
			until = middle
		}
	}
	return from, nil
}

// byUser reports whether the index of users' changes contains what is wanted.
func (e *entrySearch) byUser() bool { return strings.HasPrefix(e.Actor.Value, "user:") }

// byType reports whether the index of scarce types contains exactly what is wanted.
func (e *entrySearch) byType() bool { return e.Kind.Scarce() && !e.Actor.Present && !e.Object.Present }

// shorten reduces the range from low to high to what one query may look at.
func (e *entrySearch) shorten() error {
	narrowed := e.Kind != "" || e.Actor.Present || e.Object.Present
	switch {
	case e.byType() || !narrowed || e.byUser() && e.Kind == "" && !e.Object.Present:
		return nil // an index contains only these
	case !e.byUser():
		err := e.passOver()
		if e.up {
			e.high = min(e.high, e.low+lyceum.EntriesScanned-1)
		} else {
			e.low = max(e.low, e.high-lyceum.EntriesScanned+1)
		}
		return err
	}
	w := e.where()
	w.and(userEntries)
	w.and("actor = ?", e.Actor.Value)
	var reached int64
	there, err := e.session.one("SELECT number FROM journal"+w.String()+
		e.order()+" LIMIT 1 OFFSET "+w.arg(int64(userEntriesScanned)), w.args, scanInt(&reached))
	switch {
	case err != nil || !there:
	case e.up:
		e.high = reached
	default:
		e.low = reached
	}
	return err
}

// span counts the entries from low to high, without the numbers that restores skipped.
func (e *entrySearch) span() (int64, error) {
	span := e.high - e.low + 1
	if span <= leap {
		return span, nil
	}
	restored := entrySearch{
		EntryQuery: lyceum.EntryQuery{Limit: math.MaxInt32}, session: e.session, view: e.view, low: e.low, high: e.high,
	}
	entries, err := restored.readNarrowed(func(w *where) {
		w.and(scarceEntries)
		w.and("type = ?", string(lyceum.SchoolRestored))
	})
	ends := []int64{e.high} // where a range of skipped numbers may end
	for i := range entries {
		ends = append(ends, entries[i].Number-1)
	}
	for _, end := range ends {
		last, _, failed := e.near(lastUntil, end)
		if failed != nil {
			return 0, failed
		}
		span -= max(0, end-max(last, e.low-1))
	}
	return span, err
}

// passOver begins the search at the first entry that exists: after a restore, a million
// numbers have none.
func (e *entrySearch) passOver() error {
	from, nearest := e.high, lastUntil
	if e.up {
		from, nearest = e.low, firstFrom
	}
	number, _, err := e.near(nearest, from)
	switch {
	case err != nil || number == 0:
	case e.up:
		e.low = max(e.low, number)
	default:
		e.high = min(e.high, number)
	}
	return err
}

const (
	// firstFrom finds a school's first entry from a number on, or the run that it is in.
	firstFrom = "SELECT number, at FROM (SELECT number, at FROM journal WHERE school_id = $1 AND number >= $2 " +
		"ORDER BY number LIMIT 1) j UNION ALL SELECT number, at FROM (SELECT number, at FROM journal_runs " +
		"WHERE school_id = $1 AND last >= $2 ORDER BY last LIMIT 1) r ORDER BY number LIMIT 1"
	// lastUntil finds the last entry up to a number, or the end of its run.
	lastUntil = "SELECT number, at FROM (SELECT number, at FROM journal WHERE school_id = $1 AND number <= $2 " +
		"ORDER BY number DESC LIMIT 1) j UNION ALL SELECT number, at FROM (SELECT last AS number, at FROM journal_runs " +
		"WHERE school_id = $1 AND number <= $2 ORDER BY last DESC LIMIT 1) r ORDER BY number DESC LIMIT 1"
)

// near returns the number and the time, in microseconds, of an entry near a number, or zeros
// if there is none.
func (e *entrySearch) near(text string, number int64) (found, at int64, err error) {
	_, err = e.session.one(text, []any{int64(e.view.school), number}, scanInt(&found), scanInt(&at))
	return found, at, err
}

// where narrows to the entries from low to high.
func (e *entrySearch) where() *where {
	w := &where{}
	w.and("school_id = ?", int64(e.view.school))
	w.and("number >= ?", e.low)
	w.and("number <= ?", e.high)
	return w
}

func (e *entrySearch) order() string {
	if e.up {
		return " ORDER BY number"
	}
	return " ORDER BY number DESC"
}

// read reads the entries in the order of the search, up to one more than the limit.
func (e *entrySearch) read() ([]lyceum.Entry, error) {
	switch {
	case e.byUser():
		return e.readNarrowed(func(w *where) {
			w.and(userEntries)
			oneOf(w, "type", e.Kind.Types())
		})
	case !e.byType():
		return e.readAll()
	}
	var found []lyceum.Entry
	for _, one := range e.Kind.Types() {
		some, err := e.readNarrowed(func(w *where) {
			w.and(scarceEntries)
			w.and("type = ?", string(one))
		})
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	return e.first(found), nil
}

// first returns the entries that come first, up to one more than the limit.
func (e *entrySearch) first(found []lyceum.Entry) []lyceum.Entry {
	slices.SortFunc(found, func(a, b lyceum.Entry) int {
		if e.up {
			return cmp.Compare(a.Number, b.Number)
		}
		return cmp.Compare(b.Number, a.Number)
	})
	return found[:min(len(found), e.Limit+1)]
}

// readAll reads entries, including those in runs.
func (e *entrySearch) readAll() ([]lyceum.Entry, error) {
	ofKind := func(w *where) { oneOf(w, "type", e.Kind.Types()) }
	found, err := e.readNarrowed(ofKind)
	if err != nil {
		return nil, err
	}
	runs := runSearch{
		low: e.low, high: e.high, down: !e.up, limit: e.Limit + 1,
		narrow: func(w *where) { ofKind(w); e.narrow(w) },
		object: e.Object,
	}
	if len(found) == runs.limit { // runs beyond the last one are not needed
		if last := found[e.Limit].Number; e.up {
			runs.high = last
		} else {
			runs.low = last
		}
	}
	folded, err := runs.find(e.session, e.view.school)
	return e.first(append(found, folded...)), err
}

// narrow narrows to the actor and the period that are wanted.
func (e *entrySearch) narrow(w *where) {
	if e.Actor.Present {
		w.and("actor = ?", e.Actor.Value)
	}
	if !e.Made.After.IsZero() {
		w.and("at >= ?", micros(e.Made.After.Add(time.Second)))
	}
	if !e.Made.Until.IsZero() {
		w.and("at < ?", micros(e.Made.Until.Add(time.Second)))
	}
}

func (e *entrySearch) readNarrowed(narrow func(*where)) ([]lyceum.Entry, error) {
	w := e.where()
	narrow(w)
	e.narrow(w)
	if e.Object.Present {
		w.and("object_id = ?", int64(e.Object.Value))
	}
	var found []lyceum.Entry
	var row lyceum.Entry
	err := e.session.each("SELECT "+entryColumns+" FROM journal"+w.String()+e.order()+" LIMIT "+
		w.arg(int64(e.Limit)+1), w.args, scanEntry(&row), func() error { found = append(found, row); return nil })
	return found, err
}
