package sqlstore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// books holds the counters and the journal of one school within a group. All writes of the
// group to these tables go through it.
type books struct {
	school   lyceum.SchoolID
	kept     map[string]int64 // counters that were read, with their values in the database
	added    map[string]int64 // what changes have added since
	entries  []dated          // that are not in the database yet
	promises []promise
}

// promise is a change that receives the number of its last entry once it is known.
type promise struct {
	last *int64
	of   int64 // how many entries the books had when the change ended
}

// dated is an entry with the stamp of its change.
type dated struct {
	lyceum.Entry

	stamp   lyceum.Stamp
	follows string // the counter to which the object's id is relative, if any
}

func (g *group) booksOf(school lyceum.SchoolID) *books {
	b := g.schools[school]
	if b == nil {
		b = &books{school: school, kept: g.counters[school], added: map[string]int64{}}
		if b.kept == nil {
			b.kept = map[string]int64{}
		}
		g.schools[school] = b
	}
	return b
}

// counter returns the value of a counter, including what earlier changes of the group have
// added.
func (g *group) counter(school lyceum.SchoolID, name string) (int64, error) {
	if err := g.know(school, name); err != nil {
		return 0, err
	}
	b := g.booksOf(school)
	return b.kept[name] + b.added[name], nil
}

// readTogether lists counters that are read together, because a change that needs one needs
// the others.
var readTogether = []string{
	string(lyceum.EntitlementSequence), string(lyceum.EnrollmentSequence), string(lyceum.ProgressSequence),
}

// know reads the counters that have not been read yet. It also reads that of the journal,
// which almost every change needs at its end.
func (g *group) know(school lyceum.SchoolID, names ...string) error {
	b := g.booksOf(school)
	names = g.unknown(school, append(slices.Clip(names), journalCounter))
	if g.provisional != nil {
		for _, name := range names {
			b.kept[name] = g.provisional.count(name)
		}
		return nil
	}
	for len(names) > 0 {
		n := chunkOf(len(names))
		part := []any{int64(school)}
		for _, name := range names[:n] {
			part = append(part, name)
		}
		names = names[n:]
		read := make(map[string]int64, n)
		var name string
		var value int64
		text := counterValues + placeholders(2, n) + " ORDER BY name"
		in := scope{likely: likely{by: part, counters: true}}
		err := g.query(statementOf(text), in, text, part, []any{scanText(&name), scanInt(&value)},
			func() error { read[name] = value; return nil })
		if err != nil {
			return fmt.Errorf("read counters: %w", err)
		}
		for _, name := range part[1:] {
			b.kept[name.(string)] = read[name.(string)]
		}
	}
	return nil
}

// counterValues is the beginning of the query for counters.
const counterValues = "SELECT name, value FROM counters WHERE school_id = $1 AND name IN "

// rowsOfCounters returns what the query for counters with these arguments finds if the schools
// have the given counters. A counter that was never added to has no row.
func rowsOfCounters(args []any, of map[lyceum.SchoolID]map[string]int64) (rows [][]any) {
	counters := of[lyceum.SchoolID(args[0].(int64))]
	for _, name := range args[1:] {
		if n := counters[name.(string)]; n > 0 {
			rows = append(rows, []any{name, n})
		}
	}
	slices.SortFunc(rows, func(a, b []any) int { return strings.Compare(a[0].(string), b[0].(string)) })
	return rows
}

// unknown returns the names of the counters that have not been read yet, including those that
// are read together with one of them.
func (g *group) unknown(school lyceum.SchoolID, names []string) (missing []string) {
	b := g.booksOf(school)
	if slices.ContainsFunc(names, func(name string) bool { return slices.Contains(readTogether, name) }) {
		names = slices.Concat(names, readTogether)
	}
	for _, name := range names {
		if _, known := b.kept[name]; !known && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// keep records the entries of a change and what it added to counters. Settling the books sets
// last to the number of the last entry; without entries last is left as it is.
func (g *group) keep(stamp lyceum.Stamp, added map[string]int64, entries []lyceum.Entry, last *int64) error {
	b := g.booksOf(stamp.School)
	if len(entries) > 0 && g.rehearsal != nil { // along with the other queries
		if err := g.know(stamp.School); err != nil {
			return err
		}
	}
	for name, n := range added {
		b.added[name] += n
	}
	b.entries = slices.Grow(b.entries, len(entries))
	for _, e := range entries {
		b.entries = append(b.entries, dated{Entry: e, stamp: stamp})
	}
	if len(entries) > 0 {
		b.added[journalCounter] += int64(len(entries))
		b.promises = append(b.promises, promise{last, b.added[journalCounter]})
	}
	return nil
}

// ofBooks reports whether a statement mentions a table of the books.
func (s *statement) ofBooks() bool {
	return s.words["counters"] || s.words["journal"] || s.words["journal_runs"]
}

// settleFor settles the books if they have changed and the statement mentions their tables.
func (g *group) settleFor(of *statement) error {
	if !of.ofBooks() {
		return nil
	}
	for _, b := range g.schools {
		if len(b.changed()) == 0 {
			continue
		}
		if g.rehearsal != nil {
			return g.rehearsal.end()
		}
		return g.settle()
	}
	return nil
}

// changed lists the counters that need to be written.
func (b *books) changed() []string {
	maps.DeleteFunc(b.added, func(_ string, n int64) bool { return n == 0 })
	return slices.Sorted(maps.Keys(b.added))
}

// addCounters makes an INSERT into counters add to the existing values.
const addCounters = " ON CONFLICT (school_id, name) DO UPDATE SET value = counters.value + excluded.value"

// settle writes the counters and entries of all changes that have ended. Schools are written
// in a fixed order, so that two processes cannot deadlock on their counters.
func (g *group) settle() (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("keep counters and entries: %w", err)
		}
	}()
	if g.provisional != nil {
		return g.settleFollowing()
	}
	var counters, entries, runs [][]any
	for _, school := range slices.Sorted(maps.Keys(g.schools)) {
		b := g.schools[school]
		rows, err := g.addJournal(b)
		if err != nil {
			return err
		}
		counters = append(counters, rows...)
		first := b.kept[journalCounter]
		singles, folded := rowsOfEntries(entries, school, first, b.entries)
		entries, runs = singles, append(runs, folded...)
		b.settled(first)
		g.settled = true
	}
	if err := g.insert("counters", "name, value", counters, addCounters); err != nil {
		return err
	}
	if err := g.insert("journal_runs", runColumns, runs, ""); err != nil {
		return err
	}
	return g.insert("journal", journalColumns, entries, "")
}

// settled gives the changes the numbers of their last entries, counted from after, and forgets
// what is in the database now.
func (b *books) settled(after int64) {
	for _, p := range b.promises {
		*p.last = after + p.of
	}
	for name, n := range b.added {
		if _, known := b.kept[name]; known {
			b.kept[name] += n
		}
	}
	b.added, b.entries, b.promises = map[string]int64{}, nil, nil
}

// addJournal returns the rows to add to the counters of a school. If the school has entries
// but the journal's counter has not been read yet, it adds to the counter immediately, which
// also returns its value.
func (g *group) addJournal(b *books) (rows [][]any, err error) {
	names := b.changed()
	if at := slices.Index(names, journalCounter); at > 0 {
		names = slices.Insert(slices.Delete(names, at, at+1), 0, journalCounter)
	}
	rows = make([][]any, len(names))
	for i, name := range names {
		rows[i] = []any{int64(b.school), name, b.added[name]}
	}
	if _, known := b.kept[journalCounter]; known || len(b.entries) == 0 {
		return rows, nil
	}
	n := g.session.pool.insertsAtOnce(len(rows))
	text, args := g.session.pool.insertion("counters", "name, value", n, slices.Concat(rows[:n]...))
	var name string
	var value int64
	dest := []any{scanText(&name), scanInt(&value)}
	err = g.runNow(text+addCounters+" RETURNING name, value", args, dest, func() error {
		if name == journalCounter {
			b.kept[name] = value - b.added[name]
		}
		return nil
	})
	if err != nil {
		return nil, g.lose(err)
	}
	return rows[n:], nil
}
