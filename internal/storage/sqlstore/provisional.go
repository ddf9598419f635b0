package sqlstore

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lyceum-school/lyceum"
)

// provisional handles a school that another process changes, too, so that its counters cannot be
// guessed. A group then runs twice without the database: with the last known counters, which are
// mostly too low, and with provisional ones, which are too high. If both runs did the same except
// for ids that follow counters, then so would a run with any counters in between. The group's
// rows are sent to the database with the distances of those ids from their counters, and
// PostgreSQL adds the counters, unless they are not in between after all. Once it has reported
// them, the changes run once more, for the results that they return to their callers. Only the
// counters of ids and of the journal never fall; a group that needs any other counter is not
// written this way.
type provisional struct {
	names  []string    // of counters
	falls  bool        // one of the counters may fall
	of     []counterOf // the counters of the schools
	values string      // their values, as a PostgreSQL array
}

// counterOf is a counter of a school.
type counterOf struct {
	school    lyceum.SchoolID
	name      string
	low, high int64 // in the two runs
}

// rises reports whether a counter never falls.
func rises(name string) bool { return name == journalCounter || strings.HasSuffix(name, "_id") }

// Provisional counters begin above provisionalBase and are provisionalSpan apart.
const (
	provisionalBase = 1 << 30
	provisionalSpan = 1 << 24
	maxProvisional  = (lyceum.MaxID-provisionalBase)/provisionalSpan - 1
)

// count returns the provisional value of a counter.
func (p *provisional) count(name string) int64 {
	at := slices.Index(p.names, name)
	if at < 0 {
		at = len(p.names)
		p.names = append(p.names, name)
		p.falls = p.falls || !rises(name)
	}
	return provisionalBase + int64(at)*provisionalSpan
}

// distance returns the counter that a value follows, and its distance from it, given the value of
// a run with low counters and of one with provisional ones. A value that follows no counter is
// the same in both.
func (p *provisional) distance(low map[string]int64, a, b any) (name string, value any, ok bool) {
	if equalValues(a, b) {
		return "", a, true
	}
	from, isID := a.(int64)
	to, _ := b.(int64)
	at, far := (to-provisionalBase)/provisionalSpan, (to-provisionalBase)%provisionalSpan
	if !isID || to <= provisionalBase || at >= int64(len(p.names)) || from-low[p.names[at]] != far {
		return "", nil, false
	}
	return p.names[at], far, true
}

// trial is the outcome of running a group without the database.
type trial struct {
	log     []edit
	schools map[lyceum.SchoolID]*books
	failed  []bool // by change
}

func (g *group) trial(members []*change) trial {
	t := trial{g.log, g.schools, make([]bool, len(members))}
	for i, c := range members {
		t.failed[i] = c.result != nil
	}
	return t
}

// follow compares a trial with low counters with one with provisional counters, and replaces
// values in the latter by their distances. It reports whether the two did the same.
func (p *provisional) follow(low, high trial) bool {
	if p.falls || len(p.names) > maxProvisional || len(low.log) != len(high.log) ||
		!slices.Equal(low.failed, high.failed) || len(low.schools) != len(high.schools) {
		return false
	}
	for i := range high.log {
		a, b := &low.log[i], &high.log[i]
		if !a.writesLike(b) {
			return false
		}
		values, follows, ok := p.followEach(low.counters(lyceum.SchoolID(a.school)), a.values, b.values)
		if !ok || follows != nil && b.update != "" {
			return false
		}
		b.values, b.follows = values, follows
	}
	for school, b := range high.schools {
		if a := low.schools[school]; a == nil || !p.followBooks(a, b) {
			return false
		}
		for name, high := range b.kept {
			p.of = append(p.of, counterOf{school, name, low.schools[school].kept[name], high})
		}
	}
	return true
}

// place returns the position of a counter in the array of values, from 1 on, or nil for no
// counter.
func (p *provisional) place(school lyceum.SchoolID, name string) any {
	if name == "" {
		return nil
	}
	is := func(c counterOf) bool { return c.school == school && c.name == name }
	return int64(slices.IndexFunc(p.of, is) + 1)
}

// countersRead is the array of counters that readCounters read.
const countersRead = "(SELECT CAST(current_setting('lyceum.counters') AS bigint[]))"

// readCounters queues the query of the counters for the next round trip. The setting
// lyceum.counters holds their values until the end of the transaction. If one is not between
// those of the two runs, the verdict is that they were guessed wrong.
func (p *pipeline) readCounters(of *provisional, verdict *string) error {
	var keys []any
	for _, c := range of.of {
		keys = append(keys, int64(c.school), c.name, c.low, c.high)
	}
	args := arraysOf(keys, 4)
	const from = " FROM unnest((SELECT $1::int4[]), (SELECT $2::text[]), (SELECT $3::int8[]), (SELECT $4::int8[])) " +
		"WITH ORDINALITY a (school, name, low, high, place) " +
		"LEFT JOIN counters c ON c.school_id = a.school AND c.name = a.name"
	err := p.laterText(&of.values, "SELECT set_config('lyceum.counters', "+
		"CAST(array_agg(COALESCE(c.value, 0) ORDER BY a.place) AS TEXT), true)"+from, args)
	if err != nil {
		return err
	}
	return p.laterText(verdict, "SELECT set_config('lyceum.guessed', CASE WHEN "+ifRight+
		" AND bool_and(COALESCE(c.value, 0) >= a.low AND COALESCE(c.value, 0) < a.high) THEN 'right' ELSE 'wrong' END, true)"+
		from, args)
}

// read parses the counters that the database returned.
func (p *provisional) read() (map[lyceum.SchoolID]map[string]int64, error) {
	values := strings.Split(strings.Trim(p.values, "{}"), ",")
	if len(values) != len(p.of) {
		return nil, fmt.Errorf("read %d counters: %q", len(p.of), p.values)
	}
	of := map[lyceum.SchoolID]map[string]int64{}
	for i, c := range p.of {
		n, err := strconv.ParseInt(values[i], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read counters: %w", err)
		}
		if of[c.school] == nil {
			of[c.school] = map[string]int64{}
		}
		of[c.school][c.name] = n
	}
	return of, nil
}

// writesLike reports whether two edits write a row in the same way, whatever its values.
func (w *edit) writesLike(other *edit) bool {
	return w.table == other.table && w.update == other.update && w.school == other.school &&
		len(w.values) == len(other.values)
}

func (t *trial) counters(school lyceum.SchoolID) map[string]int64 {
	if b := t.schools[school]; b != nil {
		return b.kept
	}
	return nil
}

// followEach calls distance for each pair of values.
func (p *provisional) followEach(low map[string]int64, a, b []any) (values []any, follows []string, ok bool) {
	values = b
	for i := range b {
		name, far, ok := p.distance(low, a[i], b[i])
		switch {
		case !ok:
			return nil, nil, false
		case name == "":
			continue
		case follows == nil:
			values, follows = slices.Clone(b), make([]string, len(b))
		}
		values[i], follows[i] = far, name
	}
	return values, follows, true
}

// followBooks is follow for the books of a school.
func (p *provisional) followBooks(a, b *books) bool {
	if !slices.Equal(a.changed(), b.changed()) || !maps.Equal(a.added, b.added) || len(a.entries) != len(b.entries) ||
		len(a.promises) != len(b.promises) {
		return false
	}
	for i := range b.entries {
		of, to := a.entries[i], &b.entries[i]
		name, far, ok := p.distance(a.kept, int64(of.ObjectID), int64(to.ObjectID))
		if !ok {
			return false
		}
		of.ObjectID = to.ObjectID
		if of.Entry != to.Entry || of.stamp.Actor != to.stamp.Actor || !of.stamp.At.Equal(to.stamp.At) {
			return false
		}
		to.ObjectID, to.follows = int32(far.(int64)), name
	}
	_, runs := rowsOfEntries(nil, b.school, 0, b.entries)
	return runs == nil
}

// runProvisionally runs a group again with provisional counters. It reports whether it did the
// same as before and can be written that way.
func (s *Store) runProvisionally(g *group, members []*change, missing []*lookup) (alike bool, err error) {
	compared := func(l *lookup) bool { return !l.counts() }
	gone := func(c *change) bool { return c.ctx.Err() != nil }
	if !slices.ContainsFunc(missing, compared) || slices.ContainsFunc(members, gone) {
		return false, nil
	}
	low, r, p := g.trial(members), &rehearsal{}, &provisional{}
	g.reset()
	g.rehearsal, g.provisional = r, p
	err = s.rerun(g, members)
	g.rehearsal, g.provisional = nil, nil
	alike = err == nil && !r.ended && len(r.missing) == 0 && len(g.touched) == 0 && p.follow(low, g.trial(members))
	if alike {
		g.provisional = p
	}
	for _, l := range r.missing {
		l.wanted = false // its result is not queried unless a later run wants it
	}
	return alike, err
}

// rerun runs changes again, including those whose callers have gone.
func (s *Store) rerun(g *group, members []*change) error {
	for _, c := range members {
		if err := g.begin(); err != nil {
			return err
		}
		c.result = guard(g.session, c.run)
		if err := g.end(c.result != nil); err != nil {
			return err
		}
	}
	return nil
}

// rerunCommitted runs the changes of a committed group once more with the counters of the database
// instead of the provisional ones, for the results that they return to their callers.
func (s *Store) rerunCommitted(g *group, members []*change) error {
	counters, err := g.provisional.read()
	if err != nil {
		return &commitError{err}
	}
	for _, l := range g.guessed.missing {
		if l.counts() {
			l.known, l.rows = true, rowsOfCounters(l.args, counters)
		}
	}
	high, r := g.trial(members), &rehearsal{}
	g.reset()
	g.rehearsal, g.provisional = r, nil
	err = s.rerun(g, members)
	g.rehearsal = nil
	if err == nil && (r.incomplete || r.ended || !confirms(high, g.trial(members))) {
		err = errors.New("a change was not the same with other counters")
	}
	if err != nil {
		s.guesses.distrust(g.guessed)
		return &commitError{err}
	}
	for _, b := range g.schools {
		b.settled(b.kept[journalCounter])
	}
	return nil
}

// confirms reports whether a run did what was written, given the counters that it had.
func confirms(written, run trial) bool {
	if !slices.Equal(written.failed, run.failed) || len(written.log) != len(run.log) {
		return false
	}
	for i := range run.log {
		a, b := &written.log[i], &run.log[i]
		if a.values == nil { // dropped, because there were too many rows
			continue
		}
		if !a.writesLike(b) {
			return false
		}
		of := run.counters(lyceum.SchoolID(a.school))
		for j, value := range a.values {
			if far, follows := value.(int64); follows && a.follows != nil && a.follows[j] != "" {
				value = far + of[a.follows[j]]
			}
			if !equalValues(value, b.values[j]) {
				return false
			}
		}
	}
	return true
}

// settleFollowing is settle with provisional counters. Journal entries are inserted before their
// counter is raised, because they read it.
func (g *group) settleFollowing() error {
	var counters [][]any
	var entries []edit
	for _, school := range slices.Sorted(maps.Keys(g.schools)) {
		b := g.schools[school]
		for _, name := range b.changed() {
			counters = append(counters, []any{int64(school), name, b.added[name]})
		}
		rows, _ := rowsOfEntries(nil, school, 0, b.entries)
		for i, row := range rows {
			follows := make([]string, len(row)-1)
			follows[0], follows[4] = journalCounter, b.entries[i].follows
			entries = append(entries, edit{school: int64(school), values: row[1:], follows: follows})
		}
	}
	if err := g.insertFollowing("journal", journalColumns, entries); err != nil {
		return err
	}
	return g.insert("counters", "name, value", counters, addCounters)
}

// insertFollowing inserts rows that have values which follow counters.
func (g *group) insertFollowing(table, columns string, rows []edit) error {
	if len(rows) == 0 {
		return nil
	}
	g.inserted[table] += len(rows)
	width := 1 + len(rows[0].values)
	following := make([]bool, width)
	for i := range rows {
		for j, name := range rows[i].follows {
			following[1+j] = following[1+j] || name != ""
		}
	}
	var values, places []any
	for i := range rows {
		values = append(append(values, rows[i].school), rows[i].values...)
		for j := range width {
			switch {
			case !following[j]:
			case rows[i].follows == nil:
				places = append(places, nil)
			default:
				places = append(places, g.provisional.place(lyceum.SchoolID(rows[i].school), rows[i].follows[j-1]))
			}
		}
	}
	follow := arraysOf(places, len(places)/len(rows))
	if r := g.session.pool.recordInsertion(table, columns); r != nil {
		text := r.textFollowing(following)
		if args, ok := g.session.link.(*pipeline).insertionOfRecords(r, text, len(rows), values); ok {
			return g.later(text, append(args, follow...)...)
		}
	}
	args := append(arraysOf(values, width), follow...)
	return g.later(g.session.pool.insertFollowingText(table, columns, following), args...)
}

// followed is what is added to a value that follows the counter at a place of the counters.
func followed(place string) string { return " + COALESCE(" + countersRead + "[u." + place + "], 0)" }

var followingTexts sync.Map // table and following columns -> text

// insertFollowingText returns the statement of insertFollowing.
func (p *pool) insertFollowingText(table, columns string, following []bool) string {
	key := fmt.Sprint(table, following)
	if kept, ok := followingTexts.Load(key); ok {
		return kept.(string)
	}
	types := p.typesOf(table, columns)
	var shown, as, places []string
	for i := range types {
		x := fmt.Sprintf("x%d", i+1)
		as = append(as, x)
		if !following[i] {
			shown = append(shown, "u."+x)
			continue
		}
		place := fmt.Sprintf("y%d", i+1)
		places = append(places, place)
		shown = append(shown, "u."+x+followed(place))
	}
	types = append(types, slices.Repeat([]string{"int4"}, len(places))...)
	text := "INSERT INTO " + table + " (school_id, " + columns + ") SELECT " + strings.Join(shown, ", ") +
		" FROM unnest(" + strings.Join(plain(types), ", ") + ") u (" + strings.Join(append(as, places...), ", ") +
		") WHERE " + ifRight
	followingTexts.Store(key, text)
	return text
}
