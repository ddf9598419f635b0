package sqlstore

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lyceum-school/lyceum"
)

const (
	maxAhead     = 8  // queries that one statement combines
	maxAheadRows = 64 // rows that one of them may return; if there are more, it runs again by itself
)

// Ahead collects the queries without running them, as a rehearsal does. It then runs the ones
// that return at most one row, the query for the counters of ids, and one query that returns
// several rows, up to maxAhead of them in one statement.
func (t *tx) Ahead(wanted ...lyceum.Wanted) error {
	g, of := t.q.group, t.stamp.School
	var ids []string
	for _, w := range wanted {
		if w.ID != "" {
			ids = append(ids, string(w.ID))
		}
	}
	if g.rehearsal != nil {
		t.passAhead(wanted)
		if len(ids) == 0 {
			return nil
		}
		return g.know(of, ids...)
	}
	r := &rehearsal{ahead: true}
	g.rehearsal = r
	questions := t.passAhead(wanted)
	g.rehearsal = nil
	if len(ids) > 0 {
		ids = g.unknown(of, append(ids, journalCounter))
	}
	if len(ids) > 0 {
		questions = slices.Insert(questions, 0, questionOfCounters(of, ids))
	}
	if len(questions) < 2 {
		return nil // a single query can run when it is needed
	}
	if r.waits {
		if err := g.write(); err != nil {
			return err
		}
	}
	for together := range slices.Chunk(questions, maxAhead) {
		if err := g.askTogether(together); err != nil {
			return err
		}
	}
	for i, name := range ids {
		value, _ := questions[0].rows[0][i].(int64)
		g.booksOf(of).kept[name] = value
	}
	return nil
}

// passAhead collects the queries without running them, and returns those that can share a
// statement. Only the last of them may return several rows.
func (t *tx) passAhead(wanted []lyceum.Wanted) (questions []*answer) {
	from, r := lyceum.Tx{Tables: &tables, Changes: t}, t.q.group.rehearsal
	var several *answer
	for _, w := range wanted {
		if w.Ask == nil {
			continue
		}
		before := len(r.missing)
		w.Ask(from)
		for _, a := range r.missing[before:] {
			switch {
			case a.single:
				questions = append(questions, a)
			case w.All && several == nil && orderOf(a.text) != nil:
				several = a
			}
		}
	}
	if several != nil {
		questions = append(questions, several)
	}
	return questions
}

func questionOfCounters(school lyceum.SchoolID, names []string) *answer {
	a := &answer{args: []any{int64(school)}, single: true, width: len(names)}
	values := make([]string, len(names))
	for i, name := range names {
		values[i] = "(SELECT value FROM counters WHERE school_id = $1 AND name = $" + strconv.Itoa(i+2) + ")"
		a.args = append(a.args, name)
	}
	a.text = "SELECT " + strings.Join(values, ", ")
	return a
}

// askTogether runs queries in one statement and remembers their results.
func (g *group) askTogether(questions []*answer) error {
	var args, dest []any
	columns := make([][]valueColumn, len(questions))
	for i, a := range questions {
		args = append(args, a.args...)
		columns[i] = make([]valueColumn, 1+a.width)
		for j := range columns[i] {
			dest = append(dest, &columns[i][j])
		}
	}
	err := g.ask(textTogether(questions), args, dest, func() error {
		for i, a := range questions {
			found := columns[i][0].value != nil
			switch {
			case !found || a.single && len(a.rows) > 0:
			case len(a.rows) == maxAheadRows:
				a.huge, a.rows = true, nil
				return errFull
			default:
				a.rows = append(a.rows, valuesOf(columns[i][1:]))
			}
		}
		return nil
	})
	if err := unlessFull(err); err != nil {
		return fmt.Errorf("ask ahead: %w", err)
	}
	for _, a := range questions {
		if a.since, a.number = len(g.log), g.number; a.behind {
			a.since = g.flushed
		}
		g.answers.keep(a)
	}
	return nil
}

// textsTogether caches the statements of textTogether. There are few, because few kinds of
// changes ask ahead.
var textsTogether sync.Map // [maxAhead]*statement -> text

// textTogether returns the statement that runs several queries. For each query it returns 1
// and the columns of the row that was found, or NULLs if none was found. Only the last query
// may return several rows.
func textTogether(questions []*answer) string {
	var key [maxAhead]*statement
	for i, a := range questions {
		key[i] = statementOf(a.text)
	}
	if kept, ok := textsTogether.Load(key); ok {
		return kept.(string)
	}
	rows, joins, before := make([]string, len(questions)), "", 0
	for i, a := range questions {
		name := "a" + strconv.Itoa(i)
		rows[i] = name + ".*"
		one := numbered.ReplaceAllStringFunc(a.text, func(place string) string {
			n, _ := strconv.Atoi(place[1:])
			return "$" + strconv.Itoa(n+before)
		})
		joins += " LEFT JOIN (SELECT 1 AS found, one.* FROM (" + one + ") one) " + name + " ON 1 = 1"
		before += len(a.args)
	}
	text := "SELECT " + strings.Join(rows, ", ") + " FROM (SELECT 1) o" + joins
	if last := len(questions) - 1; !questions[last].single {
		terms := orderOf(questions[last].text)
		for i := range terms {
			terms[i] = "a" + strconv.Itoa(last) + "." + terms[i]
		}
		text += " ORDER BY " + strings.Join(terms, ", ")
	}
	textsTogether.Store(key, text)
	return text
}

var orderTerm = regexp.MustCompile(`^([a-z_]+)( DESC)?$`)

// orderOf returns the terms of a query's ORDER BY clause if all of them are columns that it
// selects, and nil otherwise.
func orderOf(text string) []string {
	query, order, ordered := strings.Cut(text, " ORDER BY ")
	shown, _, _ := strings.Cut(query, " FROM ")
	columns := strings.Split(strings.TrimPrefix(shown, "SELECT "), ", ")
	terms := strings.Split(order, ", ")
	for _, term := range terms {
		column := orderTerm.FindStringSubmatch(term)
		if column == nil || !slices.Contains(columns, column[1]) {
			return nil
		}
	}
	if !ordered {
		return nil
	}
	return terms
}
