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
	queries, waits := t.collectAhead(wanted)
	if len(ids) > 0 {
		ids = g.unknown(of, append(ids, journalCounter))
	}
	if len(ids) > 0 {
		queries = slices.Insert(queries, 0, lookupOfCounters(of, ids))
	}
	if len(queries) < 2 {
		return nil // a single query can run when it is needed
	}
	if waits {
		if err := g.write(); err != nil {
			return err
		}
	}
	for together := range slices.Chunk(queries, maxAhead) {
		if err := g.runTogether(together); err != nil {
			return err
		}
	}
	for i, name := range ids {
		value, _ := queries[0].rows[0][i].(int64)
		g.booksOf(of).kept[name] = value
	}
	return nil
}

// collectAhead is passAhead outside a rehearsal. It also reports whether rows must be written before
// the queries run.
func (t *tx) collectAhead(wanted []lyceum.Wanted) (queries []*lookup, waits bool) {
	g, r := t.q.group, &rehearsal{ahead: true}
	g.rehearsal = r
	defer func() { g.rehearsal = nil }() // also if a query panics
	queries = t.passAhead(wanted)
	return queries, r.waits
}

// passAhead collects the queries without running them, and returns those that can share a
// statement. Only the last of them may return several rows.
func (t *tx) passAhead(wanted []lyceum.Wanted) (queries []*lookup) {
	from, r := lyceum.Tx{Tables: &tables, Changes: t}, t.q.group.rehearsal
	var several *lookup
	for _, w := range wanted {
		if w.Query == nil {
			continue
		}
		before := len(r.missing)
		w.Query(from)
		for _, l := range r.missing[before:] {
			switch {
			case l.single:
				queries = append(queries, l)
			case w.All && several == nil && orderOf(l.text) != nil:
				several = l
			}
		}
	}
	if several != nil {
		queries = append(queries, several)
	}
	return queries
}

func lookupOfCounters(school lyceum.SchoolID, names []string) *lookup {
	l := &lookup{args: []any{int64(school)}, single: true, width: len(names)}
	values := make([]string, len(names))
	for i, name := range names {
		values[i] = "(SELECT value FROM counters WHERE school_id = $1 AND name = $" + strconv.Itoa(i+2) + ")"
		l.args = append(l.args, name)
	}
	l.text = "SELECT " + strings.Join(values, ", ")
	return l
}

// runTogether runs queries in one statement and remembers their results.
func (g *group) runTogether(queries []*lookup) error {
	var args, dest []any
	columns := make([][]valueColumn, len(queries))
	for i, l := range queries {
		args = append(args, l.args...)
		columns[i] = make([]valueColumn, 1+l.width)
		for j := range columns[i] {
			dest = append(dest, &columns[i][j])
		}
	}
	err := g.runNow(textTogether(queries), args, dest, func() error {
		for i, l := range queries {
			found := columns[i][0].value != nil
			switch {
			case !found || l.single && len(l.rows) > 0:
			case len(l.rows) == maxAheadRows:
				l.huge, l.rows = true, nil
				return errFull
			default:
				l.rows = append(l.rows, valuesOf(columns[i][1:]))
			}
		}
		return nil
	})
	if err := unlessFull(err); err != nil {
		return fmt.Errorf("query ahead: %w", err)
	}
	for _, l := range queries {
		if l.since, l.number = len(g.log), g.number; l.behind {
			l.since = g.flushed
		}
		g.lookups.keep(l)
	}
	return nil
}

// textsTogether caches the statements of textTogether. There are few, because few kinds of
// changes query ahead.
var textsTogether sync.Map // [maxAhead]*statement -> text

// textTogether returns the statement that runs several queries. For each query it returns 1
// and the columns of the row that was found, or NULLs if none was found. Only the last query
// may return several rows.
func textTogether(queries []*lookup) string {
	var key [maxAhead]*statement
	for i, l := range queries {
		key[i] = statementOf(l.text)
	}
	if kept, ok := textsTogether.Load(key); ok {
		return kept.(string)
	}
	rows, joins, before := make([]string, len(queries)), "", 0
	for i, l := range queries {
		name := "a" + strconv.Itoa(i)
		rows[i] = name + ".*"
		one := numbered.ReplaceAllStringFunc(l.text, func(place string) string {
			n, _ := strconv.Atoi(place[1:])
			return "$" + strconv.Itoa(n+before)
		})
		joins += " LEFT JOIN (SELECT 1 AS found, one.* FROM (" + one + ") one) " + name + " ON 1 = 1"
		before += len(l.args)
	}
	text := "SELECT " + strings.Join(rows, ", ") + " FROM (SELECT 1) o" + joins
	if last := len(queries) - 1; !queries[last].single {
		terms := orderOf(queries[last].text)
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
