package sqlstore

import (
	"cmp"
	"sync"

	"github.com/lyceum-school/lyceum"
)

// contents keeps rows that are read again and again and seldom changed: courses, and
// what is in them. What is kept of a school is dropped when an entry of the journal is
// about any of it. It is used where a journal and rows are read at one moment.
type contents struct {
	most int64 // bytes; 0: nothing is kept

	mu      sync.Mutex
	bytes   int64
	schools map[lyceum.SchoolID]*schoolContents
}

// schoolContents are the rows that are kept of a school, by what asks for them.
type schoolContents struct {
	mu   sync.Mutex
	mark mark // that they are of
	rows map[string]keptRows
}

// keptRows are a []T, which nobody changes.
type keptRows struct {
	rows  any
	bytes int
}

// contentsFollow says which nouns are kept.
var contentsFollow = sync.OnceValue(func() []lyceum.EntryType {
	f := follow{rows: "course", ends: []string{"lecture_section", "lecture", "attachment", "author"}}
	return f.types()
})

// keeps reports whether rows that are kept may be read here: a change sees what no
// journal has yet, and outside of a moment they would need a moment of their own.
func (v *view) keeps() bool {
	return v.moment && v.store.contents.most > 0 && v.q.pool == v.store.reads
}

// journalMark returns how far the journal has come at the moment of the view.
func (v *view) journalMark() (mark, error) {
	if v.marked == nil {
		m, err := readMark(v.q, v.school, markText)
		if err != nil {
			return mark{}, err
		}
		v.marked = &m
	}
	return *v.marked, nil
}

// find returns rows that are kept, if they are, and brings what is kept of the school up
// to the moment of a view.
func (c *contents) find(v *view, name string) (found keptRows, err error) {
	now, err := v.journalMark()
	if err != nil {
		return keptRows{}, err
	}
	s := c.of(v.school)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mark != now {
		if now.number < s.mark.number { // a moment of before
			return keptRows{}, nil
		}
		same, err := s.same(v, now)
		if err != nil {
			return keptRows{}, err
		}
		if !same {
			c.drop(s)
		}
		s.mark = now
	}
	return s.rows[name], nil
}

// same reports whether nothing that is kept has changed up to a mark.
func (s *schoolContents) same(v *view, now mark) (bool, error) {
	if len(s.rows) == 0 || now.number-s.mark.number > maxPassed || now.number == s.mark.number {
		return false, nil
	}
	known, err := markAt(v.q, v.school, s.mark.number)
	if err != nil || known != s.mark {
		return false, err
	}
	entries, err := findEntries(v.q, v.school,
		lyceum.ChangeFilter{After: s.mark.number, Limit: 1, Types: contentsFollow()}, now.number, true)
	return len(entries) == 0, err
}

// keep keeps rows as they are at the moment of a view.
func (c *contents) keep(v *view, name string, k keptRows) {
	s := c.of(v.school)
	s.mu.Lock()
	defer s.mu.Unlock()
	c.mu.Lock()
	full := c.bytes+int64(k.bytes) > c.most
	c.mu.Unlock()
	if full {
		c.drop(s)
	}
	if _, there := s.rows[name]; there || s.mark != *v.marked || int64(k.bytes) > c.most/8 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes+int64(k.bytes) > c.most { // other schools have it all
		return
	}
	s.rows[name] = k
	c.bytes += int64(k.bytes)
}

// drop forgets what is kept of a school. It is called with the school's lock.
func (c *contents) drop(s *schoolContents) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range s.rows {
		c.bytes -= int64(k.bytes)
	}
	clear(s.rows)
}

func (c *contents) of(school lyceum.SchoolID) *schoolContents {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.schools[school]
	if s == nil {
		if c.schools == nil {
			c.schools = map[lyceum.SchoolID]*schoolContents{}
		}
		s = &schoolContents{rows: map[string]keptRows{}}
		c.schools[school] = s
	}
	return s
}

// keptRows returns rows that are kept, or else reads them and keeps them. Nobody may
// change them.
func (n *noun[ID, T, F]) keptRows(v *view, name string, read func(add func(*T)) error) ([]T, error) {
	c := &v.store.contents
	k, err := c.find(v, name)
	if err != nil {
		return nil, err
	}
	if k.rows == nil {
		rows := []T{}
		err := read(func(row *T) {
			rows = append(rows, *row)
			k.bytes += columnCost*(1+len(n.columns)) + textCost*n.weigh(row)
		})
		if err != nil {
			return nil, err
		}
		k.bytes += len(name) + columnCost
		k.rows = rows
		c.keep(v, name, k)
	} else if a := lyceum.AllowanceOf(v.q.ctx); a != nil {
		if err := a.Allow(v.q.ctx, k.bytes); err != nil {
			return nil, err
		}
	}
	return k.rows.([]T), nil
}

// visitKept calls visit with a copy of each row.
func (n *noun[ID, T, F]) visitKept(rows []T, visit func(*T) error) error {
	for i := range rows {
		row := rows[i]
		if n.clone != nil {
			n.clone(&row)
		}
		if err := visit(&row); err != nil {
			return err
		}
	}
	return nil
}

// getKept is get for rows that are kept.
func (n *noun[ID, T, F]) getKept(v *view, id ID) (row T, found bool, err error) {
	name := string(appendArgs([]byte(n.name+"#"), n.key.arg(id)))
	rows, err := n.keptRows(v, name, func(add func(*T)) error {
		row, found, err := n.get(v, id)
		if found {
			add(&row)
		}
		return err
	})
	err = cmp.Or(err, n.visitKept(rows, func(kept *T) error {
		row, found = *kept, true
		return nil
	}))
	return row, found, err
}

// eachKept is Each for rows that are kept.
func (n *noun[ID, T, F]) eachKept(v *view, f F, visit func(*T) error) error {
	w := n.where(v, f)
	tail := w.String() + n.ordered(f)
	rows, err := n.keptRows(v, string(appendArgs([]byte(n.name+tail), w.args...)), func(add func(*T)) error {
		r := n.reader()
		defer n.done(r)
		return v.q.each("SELECT "+n.list()+" FROM "+n.from(v, f)+tail, w.args, r.dest, func() error {
			add(&r.row)
			return v.ctx.Err()
		})
	})
	if err != nil {
		return err
	}
	return n.visitKept(rows, visit)
}
