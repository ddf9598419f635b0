package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// A group whose questions are likely to be guessed right is presumed to be: its rows go before
// it has the answers. Where the database is near, the program compares the answers with what was
// guessed, while PostgreSQL writes the rows, and sends the commit if they are the same (see
// outstanding). Where it is distant, the rows go with the questions and the commit, in one round
// trip: PostgreSQL compares what it finds with what was guessed, and writes nothing if anything
// differs. The setting lyceum.guessed, which ends with the transaction, tells its statements what
// came of that. A change alone goes like this, too, where it is not likely enough to go ahead.
const (
	right   = "right"
	ifRight = "current_setting('lyceum.guessed') = 'right'"
	compare = "SELECT set_config('lyceum.guessed', CASE WHEN " +
		"current_setting('lyceum.guessed', true) IS DISTINCT FROM 'wrong' AND " +
		"(SELECT array_agg(q) FROM (%s) q) IS NOT DISTINCT FROM (SELECT array_agg(g) FROM unnest(%s) g) " +
		"THEN 'right' ELSE 'wrong' END, true)"
)

// errGuessed tells that a group was presumed to be right and was not, and that nothing was written.
var errGuessed = errors.New("an answer is not what was guessed")

// comparing gives the statement that compares what many queries of a text find, which have
// arguments and columns of these types, with rows.
func comparing(text string, args, columns []string) string {
	arrays := hidden(slices.Concat(args, []string{"int8"}, columns))
	return fmt.Sprintf(compare, combine(text, args), strings.Join(arrays[len(args):], ", "))
}

// A database is distant if a round trip takes longer than a comparison of a group's answers
// costs it: longest is that of one that is not.
const longest, trips = 200 * time.Microsecond, 5

// distant reports whether the database is. It asks nothing, several times.
func (p *pool) distant(ctx context.Context) (bool, error) {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close() }()
	shortest := time.Duration(math.MaxInt64)
	for range trips {
		begin := time.Now()
		if err := conn.PingContext(ctx); err != nil {
			return false, fmt.Errorf("measure a round trip: %w", err)
		}
		shortest = min(shortest, time.Since(begin))
	}
	return shortest > longest, nil
}

// comparable reports whether the database can compare what a rehearsal asked.
func (g *group) comparable(r *rehearsal) bool {
	p, known := g.session.link.(*pipeline), true
	for _, a := range r.missing { // all of them, so that they are learned at once
		known = p.together(a.text).compare != "" && known
	}
	return known && len(g.touched) == 0
}

// presume lets the rows of a group that was rehearsed go without waiting for what it asked,
// where the guesses are to be trusted. It reports whether the group is done, and if not
// whether it was run again meanwhile, with counters that are not those of the database.
func (s *Store) presume(g *group, members []*change, r *rehearsal) (done, stale bool, err error) {
	if !r.asked || r.ended {
		return false, false, nil
	}
	if !s.distant {
		if done, err = s.goAhead(g, members, r); done || err != nil || g.shared {
			return done, false, err
		}
	}
	if !g.comparable(r) {
		return false, false, nil
	}
	switch s.guesses.trusts(r, leastStreak) {
	case askFirst:
		return false, false, nil
	case butCounters:
		if alike, err := s.runProvisionally(g, members, r.missing); err != nil || !alike {
			return false, true, err
		}
	}
	return true, false, s.laterCompared(g, members, r)
}

// goAhead sends the turns of a group and what it asked, and leaves the answers for later. It reports
// whether it did.
func (s *Store) goAhead(g *group, members []*change, r *rehearsal) (bool, error) {
	p := g.session.link.(*pipeline)
	if s.guesses.trusts(r, s.aheadAfter) != entirely {
		return false, nil
	}
	questions, ahead := p.goesAhead(s.turnOf(g), r.missing)
	if !ahead {
		return false, nil
	}
	g.presumed, g.guessed = true, r
	s.takeTurns(g, members)
	if err := p.askAhead(questions); err != nil {
		return false, &lostError{err}
	}
	s.writes.ahead.Add(1)
	return true, nil
}

// wentAhead reports whether the group did not wait for the answers to its questions.
func (g *group) wentAhead() bool { return g.presumed && !g.compared }

// laterCompared lets the turns and the comparisons go with the next message.
func (s *Store) laterCompared(g *group, members []*change, r *rehearsal) error {
	p := g.session.link.(*pipeline)
	g.presumed, g.compared, g.guessed = true, true, r
	var schools []any
	for _, id := range schoolsOf(members) {
		schools = append(schools, int64(id))
	}
	turns := s.hastyTurns
	if g.patient {
		turns = s.dialect.turns
	}
	if err := p.later(turns, arraysOf(schools, 1)); err != nil {
		return err
	}
	for _, together := range p.questions(r.missing) {
		if g.provisional != nil && together[0].counts() {
			continue
		}
		if err := p.compare(together, &g.verdict); err != nil {
			return err
		}
	}
	if g.provisional != nil {
		return p.readCounters(g.provisional, &g.verdict)
	}
	return nil
}

// conclude tells what became of a group that was presumed to be guessed right, by the error of its
// transaction. One that was not is lost, and nothing of it was written.
func (s *Store) conclude(g *group, members []*change, err error) error {
	failed, queued := errors.AsType[*queuedError](err)
	schools := schoolsOf(members)
	switch {
	case queued && g.wentAhead() && 1 <= failed.at && failed.at <= len(schools) && s.dialect.fault(err) == faultBusy:
		return s.turned(schools, true, err)
	case queued || errors.Is(err, errGuessed) || err == nil && g.compared && g.verdict != right:
		if fault := s.dialect.fault(err); fault != faultBusy && fault != faultRetry {
			s.guesses.distrust(g.guessed)
		}
		return &lostError{errors.Join(errGuessed, err)}
	case err == nil && g.provisional != nil:
		return s.retell(g, members)
	}
	return err
}

// compare lets a comparison of what queries of one text find with what was guessed go with
// the next round trip.
func (p *pipeline) compare(together []*answer, verdict *string) error {
	combined := p.together(together[0].text)
	var values, guessed []any
	for i, a := range together {
		a.known, a.rows = true, a.guess // unless the comparison says otherwise
		values = append(values, a.args...)
		for _, row := range a.guess {
			guessed = append(append(guessed, int64(i+1)), row...)
		}
	}
	args := append(arraysOf(values, len(together[0].args)), arraysOf(guessed, 1+combined.columns)...)
	return p.laterText(verdict, combined.compare, args)
}

// laterText is later for a statement whose one value goes to a text.
func (p *pipeline) laterText(to *string, text string, args []any) error {
	if p.texts == nil {
		p.texts = map[int]*string{}
	}
	p.texts[p.queue.Len()] = to
	return p.later(text, args)
}

// comparedInsertion is insertion of a group whose guesses the database compares.
func (p *pool) comparedInsertion(table, columns string, rows int, values []any) (text string, args []any) {
	width := len(values) / rows
	if rows > 1 {
		text, args = p.insertionOfArrays(table, columns, width, values)
		return text + " WHERE " + ifRight, args
	}
	shown := make([]string, width)
	for i, name := range p.typesOf(table, columns) {
		shown[i] = fmt.Sprintf("$%d::%s", i+1, name)
	}
	text = "INSERT INTO " + table + " (school_id, " + columns + ") SELECT " + strings.Join(shown, ", ") +
		" WHERE " + ifRight
	return text, slices.Clone(values)
}
