package sqlstore

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/lyceum-school/lyceum"
)

// group holds in memory what the changes of one transaction have done: rows that are not in
// the database yet, and the counters and the journal of their schools.
//
// Changes run one after the other, and each sees what the ones before it did:
//   - Rows stay in the log until a query may find one of them, a statement of another kind
//     runs, or the group ends. Then all of them are written, in an order that respects
//     foreign and unique keys.
//   - Counters are read once, and written with the journal at the end or before a statement
//     that mentions one of the two tables. So no statement sees them outdated.
//   - A change that fails and has written nothing to the database is cut off the log. A
//     change gets a savepoint just before its first write, after those of all earlier
//     changes, so that rolling back loses nothing of theirs.
//   - What fails for all, such as a row that a constraint rejects when it is written late,
//     loses the transaction. The group then runs again in the mode alone: every row is written
//     immediately, under the savepoint of its change, and only that change fails. A group
//     that runs without foreign keys but needs them first runs again with them.
type group struct {
	session   *session
	schools   map[lyceum.SchoolID]*books
	shared    bool       // there are several changes
	alone     bool       // each row is written immediately, under the savepoint of its change
	patient   bool       // it waits for its turn as long as allowed
	rehearsal *rehearsal // set while changes run without the database
	lookups   lookups
	guesses   *guesses // of results

	presumed    bool         // its guesses are presumed right: its rows are sent before the results come
	compared    bool         // the database checks the guesses, and writes nothing if one is wrong
	guessed     *rehearsal   // the queries that were guessed, or those of a change run with the database
	verdict     string       // "right" if the guesses were
	provisional *provisional // set if the database adds the counters to the values that follow them

	counters map[lyceum.SchoolID]map[string]int64 // known from earlier groups
	unkeyed  bool                                 // SQLite does not enforce foreign keys
	parents  map[parents]*roaring.Bitmap          // existing rows to which others may refer, as far as known

	log     []edit
	of      map[string][]int // by table, the places of its rows in log
	flushed int              // how many rows of log are in the database
	number  int              // of the running change, counted from 1
	mark    int              // how many rows of log are of earlier changes
	saved   bool             // the change has a savepoint
	settled bool             // some of the books are in the database
	broken  error            // why the transaction is lost for all changes

	inserted map[string]int // number of rows by table
	touched  map[lyceum.SchoolID]*touched
}

const (
	// maxUnwritten is how many rows wait at most.
	maxUnwritten = 2048
	// maxLooked is how many rows may have been written since a query if its result is still to be
	// used: as many as may wait for a query that finds some of them.
	maxLooked = maxUnwritten
)

func newGroup(q *session, shared, alone bool) *group {
	g := &group{
		session: q, shared: shared, alone: alone, lookups: lookups{}, guessed: &rehearsal{}, inserted: map[string]int{},
	}
	g.counters, g.parents = map[lyceum.SchoolID]map[string]int64{}, map[parents]*roaring.Bitmap{}
	g.reset()
	q.group = g
	return g
}

// reset forgets what the changes did.
func (g *group) reset() {
	g.schools, g.of = map[lyceum.SchoolID]*books{}, map[string][]int{}
	g.log, g.flushed, g.mark, g.saved, g.settled, g.touched = nil, 0, 0, false, false, nil
}

// lostError reports that changes cannot run together as they did.
type lostError struct{ err error }

func (e *lostError) Error() string { return "run changes together: " + e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// lose records that the transaction is lost.
func (g *group) lose(err error) error {
	if err != nil && g.broken == nil && !g.alone {
		g.broken = &lostError{err}
	}
	return err
}

// each runs a statement of a change and visits its rows.
func (g *group) each(in scope, text string, args, dest []any, visit func() error) error {
	of := statementOf(text)
	if !of.reads() {
		return g.change(of, text, args, dest, visit)
	}
	if err := g.settleFor(of); err != nil {
		return err
	}
	return g.query(of, in, text, args, dest, visit)
}

// query answers a query from memory if possible. Otherwise it runs it, after writing the rows
// that it may find.
func (g *group) query(of *statement, in scope, text string, args, dest []any, visit func() error) error {
	if g.rehearsal != nil {
		return g.rehearsal.each(g, of, in, text, args, dest, visit)
	}
	if of.pages { // all rows first: otherwise a change that writes a page back would undo them
		if err := g.write(); err != nil {
			return err
		}
		return g.runNow(text, args, dest, visit)
	}
	rows, known, err := g.fresh(of, in, args)
	met := !known && g.met(of, in, args, g.flushed)
	if err == nil && met && in.derivable() && !g.lookups.since(of, args, g.flushed) {
		err = g.remember(in, text, args, nowhere(len(dest)), func() error { return nil }, g.flushed)
		if err == nil {
			rows, known, err = g.fresh(of, in, args)
		}
	}
	switch {
	case err != nil:
		return err
	case known:
		return visitRows(g.session, rows, dest, visit)
	case met:
		g.guessed.ended = true
		if err := g.write(); err != nil {
			return err
		}
	}
	if len(g.lookups) >= maxRemembered || g.settled && of.ofBooks() {
		return g.runNow(text, args, dest, visit)
	}
	return g.remember(in, text, args, dest, visit, len(g.log))
}

// change runs a statement that is neither a query nor the write of a single row, after writing
// all rows that wait.
func (g *group) change(of *statement, text string, args, dest []any, visit func() error) error {
	switch {
	case g.rehearsal != nil:
		return g.rehearsal.end()
	case g.unkeyed:
		return g.lose(errKeys)
	}
	if err := g.write(); err != nil {
		return err
	}
	if err := g.settleFor(of); err != nil {
		return err
	}
	for _, table := range of.writes {
		g.note(edit{table: table})
		g.forgetRows(table)
	}
	g.flushed = len(g.log)
	return g.runNow(text, args, dest, visit)
}

// runNow runs a statement now. On PostgreSQL, a statement that fails ends its transaction unless
// there is a savepoint.
func (g *group) runNow(text string, args, dest []any, visit func() error) error {
	if g.guessed.ended = true; g.presumed { // such a group does not wait for results
		return g.lose(errGuessed)
	}
	var failed error
	err := g.session.rows(text, args, dest, func() error { failed = visit(); return failed })
	_, queued := errors.AsType[*queuedError](err)
	if queued || failed == nil && g.shared && !g.saved && g.session.pool.dialect.pipelined {
		return g.lose(err)
	}
	return err
}

// add adds a row that a change inserts, updates or deletes.
func (g *group) add(w edit) error {
	if g.again(w) {
		return nil
	}
	g.note(w)
	switch {
	case g.alone:
		return g.write()
	case len(g.log)-g.flushed < maxUnwritten:
		return nil
	case g.rehearsal != nil:
		return g.rehearsal.end()
	}
	return g.write()
}

// again merges an update into the row that the change wrote just before, if it is the same row
// and still waits.
func (g *group) again(w edit) bool {
	at := len(g.log) - 1
	if w.update == "" || w.gone || at < max(g.mark, g.flushed) {
		return false
	}
	last := &g.log[at]
	if last.table != w.table || last.school != w.school || last.columns == nil ||
		!equalValues(last.values[0], w.values[0]) || last.update != "" && last.update != w.update {
		return false
	}
	last.values = w.values
	maps.DeleteFunc(g.lookups, func(key queryKey, l *lookup) bool { return l.since > at && key.of.words[w.table] })
	return true
}

func (g *group) note(w edit) {
	g.of[w.table] = append(g.of[w.table], len(g.log))
	g.log = append(g.log, w)
}

// met reports whether a query may find a row of the log from the given place on.
func (g *group) met(of *statement, in scope, args []any, from int) bool {
	for table, places := range g.of {
		if !of.words[table] {
			continue
		}
		for i := len(places) - 1; i >= 0 && places[i] >= from; i-- {
			if g.log[places[i]].meets(of, in, args) {
				return true
			}
		}
	}
	return false
}

// begin begins a change.
func (g *group) begin() error {
	g.mark = len(g.log)
	g.number++
	if g.alone {
		return g.protect()
	}
	return nil
}

// protect sets a savepoint after everything that earlier changes did.
func (g *group) protect() error {
	if g.saved || !g.shared {
		return nil
	}
	if err := g.flush(g.mark); err != nil {
		return err
	}
	if err := g.settle(); err != nil {
		return err
	}
	if err := g.later("SAVEPOINT member"); err != nil {
		return fmt.Errorf("open savepoint: %w", err)
	}
	g.saved = true
	return nil
}

// end ends a change, which is kept unless it failed.
func (g *group) end(failed bool) error {
	if failed {
		g.log = g.log[:g.mark]
		maps.DeleteFunc(g.lookups, func(_ queryKey, l *lookup) bool { return l.since > g.mark })
		for table, places := range g.of {
			for len(places) > 0 && places[len(places)-1] >= g.mark {
				places = places[:len(places)-1]
			}
			g.of[table] = places
		}
		g.flushed = min(g.flushed, g.mark)
	}
	if !g.saved {
		return nil
	}
	g.saved = false
	if failed {
		clear(g.parents) // some of the rows may be of this change
		if err := g.later("ROLLBACK TO SAVEPOINT member"); err != nil {
			return fmt.Errorf("roll back to savepoint: %w", err)
		}
	}
	if err := g.later("RELEASE SAVEPOINT member"); err != nil {
		return fmt.Errorf("release savepoint: %w", err)
	}
	return nil
}

// write writes all rows that wait, on behalf of the running change.
func (g *group) write() error {
	if err := g.protect(); err != nil {
		return err
	}
	return g.flush(len(g.log))
}

// flush writes the rows up to a place in the log.
func (g *group) flush(until int) error {
	if until <= g.flushed {
		return nil
	}
	rows := g.log[g.flushed:until]
	g.flushed = until
	for _, batch := range g.session.pool.ranks.batches(rows) {
		if err := g.writeBatch(batch); err != nil {
			return err
		}
	}
	if len(g.log) > maxLooked { // no result is derived from them any more
		for i := range rows {
			rows[i].columns, rows[i].values, rows[i].before = nil, nil, nil
		}
	}
	return nil
}

// writeBatch writes rows of one table that are inserted or deleted, or updated by the same
// statement.
func (g *group) writeBatch(rows []edit) error {
	first := &rows[0]
	if first.columns == nil {
		return nil // a statement, which has run already
	}
	if first.gone {
		return g.deleteEach(rows)
	}
	if g.unkeyed {
		if err := g.refer(rows); err != nil {
			return g.lose(err)
		}
	}
	if first.update != "" && (len(rows) > 1 || g.compared) {
		text, args := g.session.pool.updating(rows)
		if g.compared {
			text += " AND " + ifRight
		}
		if err := g.later(text, args...); err != nil {
			return fmt.Errorf("update %s: %w", first.table, err)
		}
		return nil
	}
	if first.update != "" {
		if err := g.later(first.update, append([]any{first.school}, first.taken()...)...); err != nil {
			return fmt.Errorf("update %s: %w", first.table, err)
		}
		return nil
	}
	if g.provisional != nil {
		return g.insertFollowing(first.table, first.list, rows)
	}
	return g.insertEach(first.table, first.list, len(rows), 1+len(first.values), "", func(args []any, i int) []any {
		return append(append(args, rows[i].school), rows[i].values...)
	})
}

// deleteEach deletes rows of one table in as few statements as the engine allows.
func (g *group) deleteEach(rows []edit) error {
	table, p := rows[0].table, g.session.pool
	if g.unkeyed && p.keys.to(table) {
		return g.lose(errKeys)
	}
	g.forgetRows(table)
	for len(rows) > 0 {
		text, args, n := p.deleting(rows)
		if g.compared {
			text += " AND " + ifRight
		}
		if err := g.later(text, args...); err != nil {
			return fmt.Errorf("delete from %s: %w", table, err)
		}
		rows = rows[n:]
	}
	return nil
}

// insert inserts rows, each with its school; rest is the end of the statement.
func (g *group) insert(table, columns string, rows [][]any, rest string) error {
	if len(rows) == 0 {
		return nil
	}
	return g.insertEach(table, columns, len(rows), len(rows[0]), rest, func(args []any, i int) []any {
		return append(args, rows[i]...)
	})
}

// insertEach inserts rows in as few statements as the engine allows. values appends the values
// of a row, as many as width.
func (g *group) insertEach(
	table, columns string, rows, width int, rest string, values func(args []any, i int) []any,
) error {
	var args []any
	for i := 0; i < rows; {
		n := g.session.pool.insertsAtOnce(rows - i)
		g.inserted[table] += n
		args = slices.Grow(args[:0], n*width)
		for range n {
			args = values(args, i)
			i++
		}
		if err := g.insertSome(table, columns, n, args, rest); err != nil {
			return fmt.Errorf("insert %s: %w", table, err)
		}
	}
	return nil
}

func (g *group) insertSome(table, columns string, rows int, values []any, rest string) error {
	if p, ok := g.session.link.(*pipeline); ok && rows >= leastCopied && rest == "" && !g.alone && !g.presumed {
		return g.lose(p.copyIn(table, columns, rows, values))
	}
	if rows > 1 && rest == "" {
		if done, err := g.insertRecords(table, columns, rows, values); done {
			return err
		}
	}
	insertion := g.session.pool.insertion
	if g.compared {
		insertion = g.session.pool.comparedInsertion
	}
	text, args := insertion(table, columns, rows, values)
	if d, ok := g.session.link.(*direct); ok && rows == chunk && !g.alone {
		d.insert(text+rest, args)
		return nil
	}
	return g.later(text+rest, args...)
}

// later runs a statement no later than when the next result is needed. If it fails then, the
// running change is not at fault.
func (g *group) later(text string, args ...any) error {
	switch {
	case g.alone:
		return g.session.run(text, args)
	case g.compared && !strings.Contains(text, ifRight):
		return g.lose(errGuessed)
	}
	return g.lose(g.session.later(text, args))
}

// close writes everything that waits.
func (g *group) close() error {
	err := g.sayReferred()
	if err == nil {
		err = g.flush(len(g.log))
	}
	if err == nil {
		err = g.settle()
	}
	if err == nil {
		err = g.keepTouched()
	}
	if g.broken != nil {
		return g.broken
	}
	return err
}
