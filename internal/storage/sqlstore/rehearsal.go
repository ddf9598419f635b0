package sqlstore

import (
	"errors"
	"slices"
)

// rehearsal runs changes without the database to find out what they will query: where a query is
// a round trip, those of all changes are sent together. For a query whose result is not known, a
// guess is used for now, mostly no rows, so that the queries that follow it are found out, too.
// Then the changes run again, unless all guesses were right. Once all results are known, the
// outcome of the run counts. A change that needs more than query results, such as a query that
// depends on rows not yet written, is run again with the database.
type rehearsal struct {
	ahead      bool      // only to find out what a change will query
	missing    []*lookup // queries whose results are not known
	incomplete bool      // some result was missing
	ended      bool      // a change needs the database
	waits      bool      // unwritten rows exist that a query may find
}

// maxRehearsals is how often changes run without the database at most.
const maxRehearsals = 6

// errRehearsed stops a change that needs the database.
var errRehearsed = errors.New("the change needs the database")

func (r *rehearsal) end() error {
	r.ended = true
	return errRehearsed
}

// each runs a query of a change.
func (r *rehearsal) each(
	g *group, of *statement, in scope, text string, args, dest []any, visit func() error,
) error {
	if r.ahead {
		return r.pass(g, of, in, text, args, dest, visit)
	}
	rows, err := r.rows(g, of, in, text, args)
	if err != nil {
		return err
	}
	return visitRows(g.session, rows, dest, visit)
}

// rows returns what a query of a change finds, or is guessed to find.
func (r *rehearsal) rows(g *group, of *statement, in scope, text string, args []any) ([][]any, error) {
	met := g.met(of, in, args, 0)
	if met && !in.derivable() {
		return nil, r.end()
	}
	key := queryKeyOf(of, args)
	l := g.lookups[key]
	if l == nil {
		l = &lookup{text: text, args: args, in: in}
		l.guess, l.blind = g.guesses.find(of, in.likely)
		if met && in.tallies != nil {
			l.guess = g.likelyBefore(of, in, args)
		}
		g.lookups[key] = l
	}
	switch {
	case l.huge:
		return nil, r.end()
	case l.known:
		g.lookups.keep(l)
	case !l.wanted:
		l.wanted = true
		r.missing = append(r.missing, l)
	}
	r.incomplete = r.incomplete || !l.known
	if !met {
		return l.found(), nil
	}
	rows, ok, err := g.catchUp(of, in, args, l.found(), 0)
	if err == nil && !ok {
		err = r.end()
	}
	return rows, err
}

// likelyBefore returns what tallies likely were before the unwritten rows, given that with these
// rows they are the likely result.
func (g *group) likelyBefore(of *statement, in scope, args []any) [][]any {
	none := make([]any, len(in.tallies))
	for i := range none {
		none[i] = int64(0)
	}
	waiting, ok, _ := g.catchUp(of, in, args, [][]any{none}, 0)
	if !ok {
		return in.likely.rows
	}
	before := slices.Clone(in.likely.rows[0])
	for i, n := range waiting[0] {
		before[i] = max(0, before[i].(int64)-n.(int64))
	}
	return [][]any{before}
}

// pass records a query that a change will run, unless its result is known.
func (r *rehearsal) pass(
	g *group, of *statement, in scope, text string, args, dest []any, visit func() error,
) error {
	switch rows, known, err := g.fresh(of, in, args); {
	case err != nil:
		return err
	case known:
		return visitRows(g.session, rows, dest, visit)
	}
	isSame := func(l *lookup) bool { return l.text == text && slices.EqualFunc(l.args, args, equalValues) }
	if slices.ContainsFunc(r.missing, isSame) {
		return nil
	}
	l := &lookup{
		text: text, args: slices.Clone(args), in: in, width: len(dest),
		single: in.limit == 1 || text == in.byKey, behind: g.met(of, in, args, g.flushed),
	}
	r.missing, r.waits = append(r.missing, l), r.waits || l.behind && !in.derivable()
	return nil
}
