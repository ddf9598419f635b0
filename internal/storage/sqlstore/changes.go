package sqlstore

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/lyceum-school/lyceum"
)

// loader loads the objects of one noun by id.
type loader func(q *session, school lyceum.SchoolID, ids []int32) (map[int32]any, error)

// feedObject is how the change feed shows the objects of a noun.
type feedObject struct {
	load    loader
	weigh   func(any) int // how many bytes of JSON an object takes at most
	largest int           // how many bytes an imported object takes at most
}

// feedObjects maps the nouns of entry types to their feed objects. Nouns that have nothing to
// show are missing: credentials, and what is only an event of something else.
var feedObjects = sync.OnceValue(func() map[string]feedObject {
	objects := map[string]feedObject{"school": {load: loadSchools, weigh: weighSchool, largest: 4 << 10}}
	for _, table := range reflect.ValueOf(&tables).Elem().Fields() {
		if noun, ok := table.Interface().(interface {
			feed() (string, feedObject, bool)
		}); ok {
			if entries, o, shown := noun.feed(); shown {
				objects[entries] = o
			}
		}
	}
	return objects
})

func nounOf(t lyceum.EntryType) string {
	name, _, _ := strings.Cut(string(t), ".")
	return name
}

func loadSchools(q *session, school lyceum.SchoolID, _ []int32) (map[int32]any, error) {
	found := lyceum.School{ID: school}
	there, err := q.one("SELECT "+schoolColumns+" FROM schools WHERE school_id = $1", []any{int64(school)},
		scanSchool(&found)...)
	if err != nil || !there {
		return nil, err
	}
	return map[int32]any{int32(school): found}, nil
}

func (v *view) FindChanges(f lyceum.ChangeFilter) (listing lyceum.ChangeListing, err error) {
	err = v.atOnce(func(q *session) (err error) {
		listing, err = v.store.listChanges(q, v.school, f)
		return err
	})
	if err != nil {
		return lyceum.ChangeListing{}, v.public(fmt.Errorf("find changes: %w", err))
	}
	return listing, nil
}

func (s *Store) listChanges(
	q *session, school lyceum.SchoolID, f lyceum.ChangeFilter,
) (listing lyceum.ChangeListing, err error) {
	last, runs, err := s.marks(q, school, f.After, &listing)
	if err != nil {
		return listing, err
	}
	var full bool
	listing.Last = last.Number
	if listing.Changes, full, err = findChanges(q, school, f, last.Number, runs); err != nil {
		return listing, err
	}
	switch n := len(listing.Changes); {
	case full:
		listing.Through = listing.Changes[n-1].Entry
		listing.More = listing.Through.Number < last.Number
	case last.Number > f.After:
		listing.Through = last // the entries that were skipped need not be read again
	default:
		listing.Through = listing.Before
	}
	listing.Next = max(listing.Through.Number, f.After)
	return listing, nil
}

// marks returns the last entry of a school's journal, and fills in the origin of a listing and
// the entry before it; runs reports whether later entries are in runs. It is a single
// statement, because everyone who changes a sale waits for it.
func (s *Store) marks(
	q *session, school lyceum.SchoolID, after int64, listing *lyceum.ChangeListing,
) (last lyceum.Entry, runs bool, err error) {
	var number, lastRun int64
	var beforeRun, endRun entryRun
	dest := []any{scanText(&listing.Origin), scanInt(&number), scanInt(&lastRun)}
	dest = slices.Concat(dest, optional(scanEntry(&listing.Before)), optional(scanEntry(&last)),
		optional(scanRun(&beforeRun)), optional(scanRun(&endRun)))
	const firstRun = "(SELECT min(last) FROM journal_runs WHERE school_id = $1 AND last >= "
	_, err = q.one("SELECT "+s.dialect.origin+`, COALESCE(c.value, 0),
		COALESCE((SELECT max(last) FROM journal_runs WHERE school_id = $1), 0), `+entryColumnsOf("b")+", "+
		entryColumnsOf("l")+", "+runColumnsOf("rb")+", "+runColumnsOf("rl")+` FROM (SELECT 1 AS one) o
		LEFT JOIN counters c ON c.school_id = $1 AND c.name = '`+journalCounter+`'
		LEFT JOIN journal b ON b.school_id = $1 AND b.number = $2
		LEFT JOIN journal l ON l.school_id = $1 AND l.number = c.value
		LEFT JOIN journal_runs rb ON rb.school_id = $1 AND rb.last = `+firstRun+`$2)
		LEFT JOIN journal_runs rl ON rl.school_id = $1 AND rl.last = c.value`,
		[]any{int64(school), after}, dest...)
	if err == nil && listing.Before.Number == 0 {
		listing.Before, err = beforeRun.entry(after)
	}
	if err == nil && last.Number == 0 {
		last, err = endRun.entry(number)
	}
	return last, lastRun > after, err
}

// findChanges reads changes until the limit on their number or on their size is reached; full
// reports whether one was.
func findChanges(
	q *session, school lyceum.SchoolID, f lyceum.ChangeFilter, last int64, runs bool,
) (changes []lyceum.ChangeRecord, full bool, err error) {
	var entries []lyceum.ChangeRecord
	ended := false
	for left := lyceum.ResponseBytes; len(changes) < f.Limit; {
		if len(entries) == 0 && !ended {
			read := f
			read.Limit = min(f.Limit-len(changes), entriesAtOnce)
			if entries, err = findEntries(q, school, read, last, runs); err != nil {
				return nil, false, err
			}
			ended = len(entries) < read.Limit
		}
		if len(entries) == 0 {
			return changes, false, nil
		}
		part := entries[:affordable(entries)]
		if err := fillObjects(q, school, part); err != nil {
			return nil, false, err
		}
		changes = slices.Grow(changes, len(part))
		for i := range part {
			if left -= weigh(&part[i]); left < 0 && len(changes) > 0 {
				return changes, true, nil
			}
			changes = append(changes, part[i])
		}
		f.After, entries = part[len(part)-1].Number, entries[len(part):]
	}
	return changes, true, nil
}

// findEntries reads the first entries after f.After up to last; runs says whether some of them
// are in runs.
func findEntries(
	q *session, school lyceum.SchoolID, f lyceum.ChangeFilter, last int64, runs bool,
) ([]lyceum.ChangeRecord, error) {
	w := &where{}
	w.and("school_id = ?", int64(school))
	w.and("number > ?", f.After)
	w.and("number <= ?", last)
	if f.Events {
		w.and("event IS NOT NULL")
	}
	oneOf(w, "event", f.Names)
	oneOf(w, "type", f.Types)
	runs = runs && !f.Events && len(f.Names) == 0
	limit := inText(f.Limit)
	if !runs {
		limit = w.arg(int64(f.Limit))
	}
	tail := " FROM journal" + w.String() + " ORDER BY number LIMIT " + limit
	text := "SELECT " + entryColumns + tail
	found := make([]lyceum.ChangeRecord, 0, max(0, min(int64(f.Limit), last-f.After)))
	var e lyceum.Entry
	if !runs {
		err := q.each(text, w.args, scanEntry(&e),
			func() error { found = append(found, lyceum.ChangeRecord{Entry: e}); return nil })
		return found, err
	}
	s := runSearch{
		low: f.After + 1, high: last, limit: f.Limit,
		narrow: func(w *where) { oneOf(w, "type", f.Types) },
	}
	const noObject = "NULL AS object_id, NULL AS event, NULL AS detail"
	text = "SELECT " + entryColumnsOf("j") + ", NULL AS last, NULL AS object_ids FROM (" + text + ") j UNION ALL " +
		"SELECT r.number, r.at, r.actor, r.type, " + noObject + ", r.last, r.object_ids FROM (" + s.text(w, school) + ") r"
	var r entryRun
	dest := append(optional(scanEntry(&e)), optional([]any{scanInt(&r.last), scanBytes(&r.ids)})...)
	folded, through := 0, int64(0) // how many entries of runs were read, and the highest number of one
	err := q.each(text, w.args, dest, func() error {
		all := []lyceum.Entry{e}
		if r.last > 0 {
			r.Entry = e
			if all = nil; folded < f.Limit || e.Number < through { // otherwise the page ends before this run
				var err error
				if all, err = s.entries(&r); err != nil {
					return err
				}
			}
			if folded += len(all); len(all) > 0 {
				through = max(through, all[len(all)-1].Number)
			}
		}
		for i := range all {
			found = append(found, lyceum.ChangeRecord{Entry: all[i]})
		}
		e, r = lyceum.Entry{}, entryRun{}
		return nil
	})
	slices.SortFunc(found, func(a, b lyceum.ChangeRecord) int { return cmp.Compare(a.Number, b.Number) })
	return found[:min(len(found), f.Limit)], err
}

func fillObjects(q *session, school lyceum.SchoolID, changes []lyceum.ChangeRecord) error {
	ids := map[string][]int32{}
	for i := range changes {
		name := nounOf(changes[i].Type)
		ids[name] = append(ids[name], changes[i].ObjectID)
	}
	loaded := map[string]map[int32]any{}
	for name, wanted := range ids {
		object, ok := feedObjects()[name]
		if !ok {
			continue
		}
		slices.Sort(wanted)
		found, err := object.load(q, school, slices.Compact(wanted))
		if err != nil {
			return err
		}
		loaded[name] = found
	}
	for i := range changes {
		changes[i].Object = loaded[nounOf(changes[i].Type)][changes[i].ObjectID]
	}
	return nil
}
