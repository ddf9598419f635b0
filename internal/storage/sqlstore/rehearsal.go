package sqlstore

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// rehearsal runs changes without the database, to find out what they will ask: where a
// question is a round trip, those of all changes go together. A query whose answer is
// not known finds nothing for now, so that what comes after it is asked for, too; then
// the changes run again. Once all answers are known, what they did is what counts. A
// change that needs more than answers, such as a query after rows that were not written,
// is run again with the database.
type rehearsal struct {
	missing []*answer // that were asked for and are not known
	asked   bool      // something was missing
	ended   bool      // a change needs the database
}

// maxRehearsals is how often changes run without the database at most.
const maxRehearsals = 6

// errRehearsed ends a change that needs the database.
var errRehearsed = errors.New("the change needs the database")

func (r *rehearsal) end() error {
	r.ended = true
	return errRehearsed
}

// each answers a query of a change.
func (r *rehearsal) each(
	g *group, of *statement, in scope, text string, args, dest []any, visit func() error,
) error {
	if g.met(of, in, 0) {
		return r.end()
	}
	key := keyOf(text, args)
	a := g.answers[key]
	if a == nil {
		a = &answer{text: text, args: args}
		g.answers[key] = a
	}
	switch {
	case a.huge:
		return r.end()
	case a.known:
		return a.each(g.session, dest, visit)
	case !a.wanted:
		a.wanted = true
		r.missing = append(r.missing, a)
	}
	r.asked = true
	return nil
}

// answers are rows of queries by text and arguments.
type answers map[string]*answer

// answer is what a query found.
type answer struct {
	text   string
	args   []any
	rows   [][]any
	wanted bool // it is among those that are missing
	known  bool
	huge   bool // there are too many rows to keep
}

// maxAnswer is how many rows are kept of a query.
const maxAnswer = 1024

// find returns the answer to a query, if it is known.
func (a answers) find(text string, args []any) *answer {
	if len(a) == 0 {
		return nil
	}
	if found := a[keyOf(text, args)]; found != nil && found.known && !found.huge {
		return found
	}
	return nil
}

func keyOf(text string, args []any) string {
	var b strings.Builder
	b.WriteString(text)
	for _, arg := range args {
		b.WriteByte(0)
		switch v := arg.(type) {
		case int64:
			b.WriteString(strconv.FormatInt(v, 10))
		case string:
			b.WriteString(strconv.Quote(v))
		default:
			fmt.Fprintf(&b, "%T %v", v, v)
		}
	}
	return b.String()
}

// each visits the rows.
func (a *answer) each(s *session, dest []any, visit func() error) error {
	meter := s.meter(dest)
	for _, row := range a.rows {
		if err := scanRow(row, dest); err != nil {
			return err
		}
		if err := meter.row(); err != nil {
			return err
		}
		if err := visit(); err != nil {
			return err
		}
	}
	return meter.settle()
}
