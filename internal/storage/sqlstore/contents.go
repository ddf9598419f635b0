package sqlstore

import (
	"cmp"
	"sync"

	"github.com/lyceum-school/lyceum"
)

// contents caches rows that are read often and seldom changed: courses, and what is in them.
// The cached rows of a school are dropped when a journal entry is about any of them. The cache
// is used where the journal and the rows are read from one snapshot.
type contents struct {
	most int64 // in bytes; 0: nothing is cached

	mu      sync.Mutex
	bytes   int64
	schools map[lyceum.SchoolID]*schoolContents
}

// schoolContents holds the cached rows of a school, by the query that reads them.
type schoolContents struct {
	mu   sync.Mutex
	mark mark // of the journal when the rows were current
	rows map[string]keptRows
}

// keptRows holds a []T that nobody changes.
type keptRows struct {
	rows  any
	bytes int
}

// contentsFollow returns the types of the entries that concern cached nouns.
var contentsFollow = sync.OnceValue(func() []lyceum.EntryType {
	f := follow{rows: "course", ends: []string{"lecture_section", "lecture", "attachment", "author"}}
	return f.types()
})

// keeps reports whether cached rows may be read here: not in a change, which sees what is not
// in the journal yet, and not outside a snapshot, where they would need one of their own.
func (v *view) keeps() bool {
	return v.moment && v.store.contents.most > 0 && v.q.pool == v.store.reads
}

// journalMark returns the mark of the journal in the view's snapshot.
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

// find returns cached rows, if there are any, after bringing the cache of the school up to the
// view's snapshot.
func (c *contents) find(v *view, name string) (found keptRows, err error) {
	now, err := v.journalMark()
	if err != nil {
		return keptRows{}, err
	}
	s := c.of(v.school)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mark != now {
		if now.number < s.mark.number { // an earlier snapshot
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

// same reports whether none of the cached rows have changed up to a mark.
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

// keep caches rows as they are in the view's snapshot.
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
	if c.bytes+int64(k.bytes) > c.most { // other schools use all of it
		return
	}
	s.rows[name] = k
	c.bytes += int64(k.bytes)
}

// drop evicts all rows of a school. The caller holds the school's lock.
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

// keptRows returns cached rows, or else reads and caches them. Nobody may change them.
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

// getKept is get for cached rows.
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

// eachKept is Each for cached rows.
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
