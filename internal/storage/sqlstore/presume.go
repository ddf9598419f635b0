package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// If a group's queries are likely to be guessed right, this is presumed: the group's rows are
// sent before it has the results. If the database is near, the program compares the results with
// the guesses while PostgreSQL writes the rows, and sends the commit if they are equal (see
// outstanding). If it is distant, the rows are sent with the queries and the commit, in one round
// trip: PostgreSQL compares what it finds with the guesses, and writes nothing if anything
// differs. The setting lyceum.guessed, which lasts until the end of the transaction, carries the
// verdict to the later statements. A single change is also sent like this when its guesses are
// not certain enough to go ahead.
const (
	right   = "right"
	ifRight = "current_setting('lyceum.guessed') = 'right'"
	compare = "SELECT set_config('lyceum.guessed', CASE WHEN " +
		"current_setting('lyceum.guessed', true) IS DISTINCT FROM 'wrong' AND " +
		"(SELECT array_agg(q) FROM (%s) q) IS NOT DISTINCT FROM (SELECT array_agg(g) FROM unnest(%s) g) " +
		"THEN 'right' ELSE 'wrong' END, true)"
)

// errGuessed means that a group's guesses were presumed to be right and were not, and that
// nothing was written.
var errGuessed = errors.New("a result is not what was guessed")

// comparing returns the statement that compares the results of many queries with the same text
// with the guessed rows. args and columns are the types of the query's arguments and columns.
func comparing(text string, args, columns []string) string {
	arrays := hidden(slices.Concat(args, []string{"int8"}, columns))
	return fmt.Sprintf(compare, combine(text, args), strings.Join(arrays[len(args):], ", "))
}

// A database is distant if a round trip takes longer than having the database compare a group's
// results. longest is the longest round trip of a database that is not distant, and trips is how
// many are measured.
const longest, trips = 200 * time.Microsecond, 5

// distant reports whether the database is distant. It measures several pings and takes the
// shortest.
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

// comparable reports whether the database can compare the results of what a rehearsal queried.
func (g *group) comparable(r *rehearsal) bool {
	p, known := g.session.link.(*pipeline), true
	for _, l := range r.missing { // all of them, so that all are learned at once
		known = p.combinationOf(l.text).compare != "" && known
	}
	return known && len(g.touched) == 0
}

// presume sends the rows of a rehearsed group without waiting for the results of its queries, if
// the guesses can be trusted. It reports whether the group is done, and if not, whether it was
// meanwhile run again with counters other than those of the database.
func (s *Store) presume(g *group, members []*change, r *rehearsal) (done, stale bool, err error) {
	if !r.incomplete || r.ended {
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
	case queryFirst:
		return false, false, nil
	case butCounters:
		if alike, err := s.runProvisionally(g, members, r.missing); err != nil || !alike {
			return false, true, err
		}
	}
	return true, false, s.laterCompared(g, members, r)
}

// maxLooks is how often a group looks for what it can only guess blindly. Changes that continue
// from there may query more.
const maxLooks = 2

// look queries what the rehearsal of a group could only guess blindly, such as a plan that is sold
// for the first time, so that the group can go ahead. This is before the group's transaction begins,
// and others may still change it: it is only a guess. It reports whether the rehearsal should be
// repeated with it.
func (s *Store) look(g *group, members []*change, r *rehearsal) (bool, error) {
	unlikely := func(c *change) bool { return !s.guesses.promises(c) }
	if s.distant || !g.shared || r.ended || slices.ContainsFunc(members, unlikely) {
		return false, nil
	}
	var blind []*lookup
	for _, l := range r.missing {
		if l.blind {
			blind = append(blind, &lookup{text: l.text, args: l.args, in: l.in})
		}
	}
	if blind == nil {
		return false, nil
	}
	p := g.session.link.(*pipeline)
	begin := p.queue
	p.queue = &pgx.Batch{}
	err := p.fetch(blind)
	if p.queue = begin; err != nil {
		return false, &lostError{errors.Join(errGuessed, err)}
	}
	s.guesses.look(blind)
	return true, nil
}

// goAhead sends the turns of a group and its queries, and leaves the results for later. It
// reports whether it did.
func (s *Store) goAhead(g *group, members []*change, r *rehearsal) (bool, error) {
	p := g.session.link.(*pipeline)
	if s.guesses.trusts(r, s.aheadAfter) != entirely {
		return false, nil
	}
	queries, ahead := p.goesAhead(s.turnOf(g), r.missing)
	if !ahead {
		return false, nil
	}
	g.presumed, g.guessed = true, r
	s.takeTurns(g, members)
	if err := p.sendAhead(queries); err != nil {
		return false, &lostError{err}
	}
	s.writes.ahead.Add(1)
	return true, nil
}

// wentAhead reports whether the group did not wait for the results of its queries.
func (g *group) wentAhead() bool { return g.presumed && !g.compared }

// laterCompared queues the turns and the comparisons, to be sent with the next message.
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
	for _, together := range p.grouped(r.missing) {
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

// conclude returns the outcome of a group whose guesses were presumed to be right, given the
// error of its transaction. If they were wrong, the group is lost and none of it was written.
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
		return s.rerunCommitted(g, members)
	}
	return err
}

// compare queues a comparison of what queries with one text find with what was guessed, to be
// sent with the next round trip.
func (p *pipeline) compare(together []*lookup, verdict *string) error {
	combined := p.combinationOf(together[0].text)
	var values, guessed []any
	for i, l := range together {
		l.known, l.rows = true, l.guess // unless the comparison finds otherwise
		values = append(values, l.args...)
		for _, row := range l.guess {
			guessed = append(append(guessed, int64(i+1)), row...)
		}
	}
	args := append(arraysOf(values, len(together[0].args)), arraysOf(guessed, 1+combined.columns)...)
	return p.laterText(verdict, combined.compare, args)
}

// laterText is later for a statement whose single value is stored in a string.
func (p *pipeline) laterText(to *string, text string, args []any) error {
	if p.texts == nil {
		p.texts = map[int]*string{}
	}
	p.texts[p.queue.Len()] = to
	return p.later(text, args)
}

// comparedInsertion is insertion for a group whose guesses the database compares.
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
