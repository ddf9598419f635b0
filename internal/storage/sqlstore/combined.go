package sqlstore

import (
	"fmt"
	"regexp"
	"strings"
)

// maxCombined is how many queries are combined at most.
const maxCombined = 256

var numbered = regexp.MustCompile(`\$([0-9]+)`)

// combine returns the PostgreSQL query that answers many queries of one text, whose arguments
// have these types. Each of its arguments is an array with that argument of every query, and
// its first column is the number of the query to which the row belongs. The OFFSET keeps the
// database from choosing another plan than for a single query. The query is planned once,
// because the lengths of the arrays are hidden: a plan for few elements looks cheaper than one
// for any number, and would be made each time.
func combine(text string, types []string) string {
	names := make([]string, len(types))
	for i := range types {
		names[i] = fmt.Sprintf("x%d", i+1)
	}
	one := numbered.ReplaceAllString(text, "a.x$1")
	return "SELECT a.place, q.* FROM unnest(" + strings.Join(hidden(types), ", ") + ") WITH ORDINALITY AS a (" +
		strings.Join(names, ", ") + ", place), LATERAL (SELECT * FROM (" + one + ") one OFFSET 0) q"
}

// hidden returns placeholders for arrays of these types as subqueries, which hide the lengths
// of the arrays from the planner.
func hidden(types []string) []string {
	arrays := make([]string, len(types))
	for i, name := range types {
		arrays[i] = fmt.Sprintf("(SELECT $%d::%s[])", i+1, name)
	}
	return arrays
}

// plain returns placeholders for arrays of these types as they are. A statement that only
// inserts the elements is planned once anyway.
func plain(types []string) []string {
	arrays := make([]string, len(types))
	for i, name := range types {
		arrays[i] = fmt.Sprintf("$%d::%s[]", i+1, name)
	}
	return arrays
}

// combination says how queries of one text can be combined, if they can.
type combination struct {
	text    string // the PostgreSQL query that answers many of them
	compare string // the query that compares their results with given rows
	columns int
}

// learn finds out how the wanted texts can be combined. It must be called outside a
// transaction, which a text that cannot be combined would end.
func (p *pipeline) learn() {
	for text := range p.wanted {
		described, err := p.conn.Prepare(p.ctx, "", text)
		if err != nil {
			return // the next group tries again
		}
		columns := make([]uint32, len(described.Fields))
		for i, field := range described.Fields {
			columns[i] = field.DataTypeOID
		}
		args := p.typeNames(described.ParamOIDs)
		var of combination
		if len(args) > 0 && p.takes(combine(text, args)) {
			of.text, of.columns = combine(text, args), len(columns)
			types := p.typeNames(columns)
			if text := comparing(text, args, types); len(types) == len(columns) && p.takes(text) {
				of.compare = text
			}
		}
		if p.conn.IsClosed() {
			return
		}
		p.combined.Store(text, of)
	}
}

// typeNames returns the names of types, or none if one of them is unknown.
func (p *pipeline) typeNames(oids []uint32) []string {
	names := make([]string, len(oids))
	for i, oid := range oids {
		t, known := p.conn.TypeMap().TypeForOID(oid)
		if !known {
			return nil
		}
		names[i] = t.Name
	}
	return names
}

// takes reports whether PostgreSQL accepts a text.
func (p *pipeline) takes(text string) bool {
	_, err := p.conn.Prepare(p.ctx, "", text)
	return err == nil
}

// grouped groups the missing queries that can be combined.
func (p *pipeline) grouped(missing []*lookup) [][]*lookup {
	var all [][]*lookup
	of := map[string]int{}
	for _, l := range missing {
		at, again := of[l.text]
		if again && len(all[at]) < maxCombined && p.combines(l.text) {
			all[at] = append(all[at], l)
			continue
		}
		of[l.text] = len(all)
		all = append(all, []*lookup{l})
	}
	return all
}

// combines reports whether queries of a text can be combined.
func (p *pipeline) combines(text string) bool { return p.combinationOf(text).text != "" }

// combinationOf returns how queries of a text can be combined, as far as that is known.
func (p *pipeline) combinationOf(text string) combination {
	kept, known := p.combined.Load(text)
	if !known {
		if p.wanted == nil {
			p.wanted = map[string]bool{}
		}
		p.wanted[text] = true
		return combination{}
	}
	return kept.(combination)
}

// enqueue queues queries of one text for the next round trip.
func (p *pipeline) enqueue(together []*lookup) error {
	if p.queries == nil {
		p.queries = map[int][]*lookup{}
	}
	p.queries[p.queue.Len()] = together
	return p.later(p.textOf(together), argsOf(together))
}

// argsOf returns the arguments of the statement that answers queries of one text.
func argsOf(together []*lookup) []any {
	first := together[0]
	if len(together) == 1 {
		return first.args
	}
	values := make([]any, 0, len(together)*len(first.args))
	for _, l := range together {
		values = append(values, l.args...)
	}
	return arraysOf(values, len(first.args))
}

// textOf returns the statement that answers queries of one text.
func (p *pipeline) textOf(together []*lookup) string {
	text := together[0].text
	if len(together) == 1 {
		return text
	}
	return p.combinationOf(text).text
}
