package sqlstore

import (
	"fmt"
	"regexp"
	"strings"
)

// maxCombined is how many queries are combined at most.
const maxCombined = 256

var numbered = regexp.MustCompile(`\$([0-9]+)`)

// combine gives the query of PostgreSQL that answers many of one text, with arguments of
// these types: each argument is an array with that of every query, and the first column
// tells whose the row is. The OFFSET keeps the database from another plan than that of
// the query alone. It is planned once, because the lengths of the arrays are hidden: a plan
// for few elements looks cheaper than one for any number, and would be made each time.
func combine(text string, types []string) string {
	names := make([]string, len(types))
	for i := range types {
		names[i] = fmt.Sprintf("x%d", i+1)
	}
	one := numbered.ReplaceAllString(text, "a.x$1")
	return "SELECT a.place, q.* FROM unnest(" + strings.Join(hidden(types), ", ") + ") WITH ORDINALITY AS a (" +
		strings.Join(names, ", ") + ", place), LATERAL (SELECT * FROM (" + one + ") one OFFSET 0) q"
}

// hidden gives arguments that are arrays of these types, without a look at how long they are.
func hidden(types []string) []string {
	arrays := make([]string, len(types))
	for i, name := range types {
		arrays[i] = fmt.Sprintf("(SELECT $%d::%s[])", i+1, name)
	}
	return arrays
}

// plain gives arguments that are arrays of these types, as they are. A statement that does no more for
// each element than to insert it is planned once all the same.
func plain(types []string) []string {
	arrays := make([]string, len(types))
	for i, name := range types {
		arrays[i] = fmt.Sprintf("$%d::%s[]", i+1, name)
	}
	return arrays
}

// combination is how queries of one text go together, as far as they do.
type combination struct {
	text    string // the query of PostgreSQL that answers many
	compare string // compares what that finds with rows of so many columns
	columns int
}

// learn finds out how the queries of texts can be combined. It is for a connection
// outside a transaction, which a text that cannot be combined would end.
func (p *pipeline) learn() {
	for text := range p.wanted {
		asked, err := p.conn.Prepare(p.ctx, "", text)
		if err != nil {
			return // the next group tries again
		}
		columns := make([]uint32, len(asked.Fields))
		for i, field := range asked.Fields {
			columns[i] = field.DataTypeOID
		}
		args := p.typeNames(asked.ParamOIDs)
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

// typeNames gives the names of types, and none if one is not known.
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

// takes reports whether PostgreSQL takes a text.
func (p *pipeline) takes(text string) bool {
	_, err := p.conn.Prepare(p.ctx, "", text)
	return err == nil
}

// questions sorts what is missing into those that go together.
func (p *pipeline) questions(missing []*answer) [][]*answer {
	var all [][]*answer
	of := map[string]int{}
	for _, a := range missing {
		at, again := of[a.text]
		if again && len(all[at]) < maxCombined && p.combines(a.text) {
			all[at] = append(all[at], a)
			continue
		}
		of[a.text] = len(all)
		all = append(all, []*answer{a})
	}
	return all
}

// combines reports whether a query can go together with others of its text.
func (p *pipeline) combines(text string) bool { return p.together(text).text != "" }

// together gives how queries of a text go together, as far as that is known.
func (p *pipeline) together(text string) combination {
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

// ask lets queries of one text go with the next round trip.
func (p *pipeline) ask(together []*answer) error {
	if p.asked == nil {
		p.asked = map[int][]*answer{}
	}
	p.asked[p.queue.Len()] = together
	return p.later(p.textOf(together), argsOf(together))
}

// argsOf gives the arguments of the statement that answers queries of one text.
func argsOf(together []*answer) []any {
	first := together[0]
	if len(together) == 1 {
		return first.args
	}
	values := make([]any, 0, len(together)*len(first.args))
	for _, a := range together {
		values = append(values, a.args...)
	}
	return arraysOf(values, len(first.args))
}

// textOf gives the statement that answers queries of one text.
func (p *pipeline) textOf(together []*answer) string {
	text := together[0].text
	if len(together) == 1 {
		return text
	}
	return p.together(text).text
}
