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

// group is what the changes of one transaction have in memory: rows that are not in
// the database yet, and the counters and the journal of their schools.
//
// Changes run one after the other, and each sees what the ones before it did:
//   - Rows stay in the log until a query may find one of them, a statement of another
//     kind comes, or the group ends. Then all are written, in an order that keeps
//     foreign and unique keys.
//   - Counters are read once and written with the journal at the end, or before a
//     statement that names one of the two tables. So no statement sees them late.
//   - A change that fails and has nothing in the database is cut off the log. A change
//     gets a savepoint just before it has something there, after all of the earlier
//     changes, so that going back loses nothing of theirs.
//   - What fails for all, such as a row that a constraint refuses when it is written
//     late, loses the transaction. The group then runs again alone: every row is written
//     at once, under the savepoint of its change, which fails with it. One without foreign
//     keys that needs them runs again with them first.
type group struct {
	session   *session
	schools   map[lyceum.SchoolID]*books
	shared    bool       // there are several changes
	alone     bool       // each is written at once, under its savepoint
	patient   bool       // it waits for its turn as long as it may
	rehearsal *rehearsal // set while changes run without the database
	answers   answers
	guesses   *guesses // of answers

	presumed    bool         // what it asked is presumed to be guessed right: its rows go before the answers
	compared    bool         // the database compares what was guessed, and writes nothing if that is wrong
	guessed     *rehearsal   // in which that was, or what a change that runs with the database asks
	verdict     string       // right, if it was
	provisional *provisional // set where the database adds counters to what follows them

	counters map[lyceum.SchoolID]map[string]int64 // that are known from groups before
	unkeyed  bool                                 // SQLite does not look for what rows refer to
	parents  map[parents]*roaring.Bitmap          // rows to which others may refer, as far as they are known

	log     []edit
	of      map[string][]int // the rows of a table in log
	flushed int              // how many of log are in the database
	number  int              // of the change that is run, from 1 on
	mark    int              // how many of log are of earlier changes
	saved   bool             // the change has a savepoint
	settled bool             // some of the books are in the database
	broken  error            // why the transaction is lost for all

	inserted map[string]int // rows, by table
	touched  map[lyceum.SchoolID]*touched
}

const (
	// maxUnwritten is how many rows wait at most.
	maxUnwritten = 2048
	// maxLooked is how many rows may have been written since an answer for it to be used: as many as
	// wait for a query that finds some of them.
	maxLooked = maxUnwritten
)

func newGroup(q *session, shared, alone bool) *group {
	g := &group{
		session: q, shared: shared, alone: alone, answers: answers{}, guessed: &rehearsal{}, inserted: map[string]int{},
	}
	g.counters, g.parents = map[lyceum.SchoolID]map[string]int64{}, map[parents]*roaring.Bitmap{}
	g.reset()
	q.group = g
	return g
}

// reset forgets what changes did.
func (g *group) reset() {
	g.schools, g.of = map[lyceum.SchoolID]*books{}, map[string][]int{}
	g.log, g.flushed, g.mark, g.saved, g.settled, g.touched = nil, 0, 0, false, false, nil
}

// lostError tells that changes cannot run together as they did.
type lostError struct{ err error }

func (e *lostError) Error() string { return "run changes together: " + e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// lose keeps in mind that the transaction is lost.
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

// query runs a query, after rows that it may find.
func (g *group) query(of *statement, in scope, text string, args, dest []any, visit func() error) error {
	if g.rehearsal != nil {
		return g.rehearsal.each(g, of, in, text, args, dest, visit)
	}
	rows, known, err := g.fresh(of, in, args)
	met := !known && g.met(of, in, args, g.flushed)
	if err == nil && met && in.told() && !g.answers.since(of, args, g.flushed) {
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
	if len(g.answers) >= maxRemembered || g.settled && of.ofBooks() {
		return g.ask(text, args, dest, visit)
	}
	return g.remember(in, text, args, dest, visit, len(g.log))
}

// change runs a statement that is neither a query nor the write of one row, after all
// rows that wait.
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
	return g.ask(text, args, dest, visit)
}

// ask runs a statement now. PostgreSQL ends a transaction in which one failed,
// unless there is a savepoint.
func (g *group) ask(text string, args, dest []any, visit func() error) error {
	if g.guessed.ended = true; g.presumed { // nothing waits for an answer now
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

// add takes a row that a change inserts or updates.
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

// again puts an update into the row that the change wrote just before, if it is the same
// and waits.
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
	maps.DeleteFunc(g.answers, func(key asked, a *answer) bool { return a.since > at && key.of.words[w.table] })
	return true
}

func (g *group) note(w edit) {
	g.of[w.table] = append(g.of[w.table], len(g.log))
	g.log = append(g.log, w)
}

// met reports whether a query may find a row of the log, from a place in it on.
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

// protect sets a savepoint behind what earlier changes did.
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
		maps.DeleteFunc(g.answers, func(_ asked, a *answer) bool { return a.since > g.mark })
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
		clear(g.parents) // some may have been of this change
		if err := g.later("ROLLBACK TO SAVEPOINT member"); err != nil {
			return fmt.Errorf("roll back to savepoint: %w", err)
		}
	}
	if err := g.later("RELEASE SAVEPOINT member"); err != nil {
		return fmt.Errorf("release savepoint: %w", err)
	}
	return nil
}

// write writes all rows that wait, for a change that is being run.
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
	if len(g.log) > maxLooked { // nobody looks for answers then
		for i := range rows {
			rows[i].columns, rows[i].values, rows[i].before = nil, nil, nil
		}
	}
	return nil
}

// writeBatch writes rows of one table that are inserted, or updated by one statement.
func (g *group) writeBatch(rows []edit) error {
	first := &rows[0]
	if first.columns == nil {
		return nil // a statement, which has run
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

// insert inserts rows, each with the school; rest is how a statement ends.
func (g *group) insert(table, columns string, rows [][]any, rest string) error {
	if len(rows) == 0 {
		return nil
	}
	return g.insertEach(table, columns, len(rows), len(rows[0]), rest, func(args []any, i int) []any {
		return append(args, rows[i]...)
	})
}

// insertEach inserts rows in as few statements as the engine allows. Values appends those
// of a row, as many as it is wide.
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

// later runs a statement before the next answer is needed. What fails then is not
// the fault of the change that runs.
func (g *group) later(text string, args ...any) error {
	switch {
	case g.alone:
		return g.session.run(text, args)
	case g.compared && !strings.Contains(text, ifRight):
		return g.lose(errGuessed)
	}
	return g.lose(g.session.later(text, args))
}

// close writes what waits.
func (g *group) close() error {
	err := g.flush(len(g.log))
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
