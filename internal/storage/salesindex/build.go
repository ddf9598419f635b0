package salesindex

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// Builder builds the index of a school from all of its sales.
type Builder struct {
	rows    rowTable
	ids     ids
	courses map[lyceum.PricingPlanID]lyceum.Opt[lyceum.CourseID]
	sorted  bool // sales were added in list order
}

// NewBuilder returns a builder without sales.
func NewBuilder() *Builder {
	return &Builder{ids: ids{}, courses: map[lyceum.PricingPlanID]lyceum.Opt[lyceum.CourseID]{}, sorted: true}
}

// Plan sets the course of a pricing plan. It may be called before or after the plan's sales are
// added.
func (b *Builder) Plan(id lyceum.PricingPlanID, course lyceum.Opt[lyceum.CourseID]) {
	b.courses[id] = course
}

// Add adds a sale. Any order is allowed; list order is fastest. It fails if the sale was already
// added or the index cannot represent it. The pointer is not kept.
func (b *Builder) Add(t *lyceum.Transaction) error {
	r, x, err := encode(t, &b.rows.names)
	if err != nil {
		return err
	}
	if _, is := b.ids.get(t.ID); is {
		return fmt.Errorf("transaction %d is there twice", t.ID)
	}
	b.sorted = b.sorted && (b.rows.used == 0 || b.rows.key(b.rows.used-1).compare(r.key()) < 0)
	b.ids.set(r.id, b.rows.append(nil, &r, x))
	return nil
}

// Build returns the index for a state. The builder cannot be used again.
func (b *Builder) Build(state lyceum.Version) *Index {
	if !b.sorted {
		b.sort()
	}
	x, err := assemble(b.rows, b.courses, b.ids)
	if err != nil {
		panic(err) // Add has already rejected it
	}
	x.current.Load().state = state // there are no readers yet
	return x
}

// sort renumbers the rows so that their handles are in list order.
func (b *Builder) sort() {
	old := b.rows
	s := sorter{pairs: make([]pair, old.used)}
	for h := range s.pairs {
		s.pairs[h].handle = uint32(h)
	}
	for _, digits := range [...]func(r *row) uint32{
		func(r *row) uint32 { return uint32(r.id) ^ 1<<31 }, // negative ids come first
		func(r *row) uint32 { return r.createdLow },
		func(r *row) uint32 { return uint32(r.createdHigh) },
	} {
		for i := range s.pairs {
			p := &s.pairs[i]
			p.value = digits(old.row(p.handle))
		}
		s.sort()
	}
	b.rows = makeRows(old.used, old.names)
	spread(len(b.rows.chunks), func() func(int) {
		return func(c int) { b.rows.copyChunk(c, &old, s.pairs) }
	})
	b.ids = nil
}

// copyChunk fills a chunk with rows of another table in the given order.
func (s *rowTable) copyChunk(c int, from *rowTable, order []pair) {
	first := c * chunkRows
	order = order[first:min(first+chunkRows, len(order))]
	for i := range chunkPages {
		if len(order) == 0 {
			return
		}
		p := &page{}
		var extras []extra
		n := min(pageRows, len(order))
		for o, at := range order[:n] {
			p[o] = *from.row(at.handle)
			if p[o].flags&hasExtra != 0 {
				x := *from.extra(at.handle)
				x.offset = uint8(o)
				extras = append(extras, x)
			}
		}
		s.chunks[c].pages[i], s.chunks[c].extras[i] = p, slices.Clone(extras)
		order = order[n:]
	}
}

// assemble builds an index from rows in list order. known are the handles by id, or nil. It fails
// if an id occurs twice.
func assemble(r rowTable, courses map[lyceum.PricingPlanID]lyceum.Opt[lyceum.CourseID], known ids) (*Index, error) {
	m := &main{rowTable: r, courses: courses, cache: &cache{}}
	for from := uint32(0); from < m.used; from += uint32(blockRows) {
		m.blocks = append(m.blocks, &block{first: from, n: int(min(uint32(blockRows), m.used-from))})
	}
	m.blocks = slices.Clip(m.blocks)
	m.count()

	x := &Index{ids: known}
	var err error
	parts := []func(s *sorter){
		func(s *sorter) { m.post(byUser, s) },
		func(*sorter) {
			if known == nil {
				x.ids, err = m.number()
			}
		},
		func(s *sorter) { m.post(byPlan, s) },
		func(s *sorter) { m.post(byCourse, s) },
		func(s *sorter) { m.post(byAuthor, s) },
		func(s *sorter) { m.post(byAffiliate, s) },
		func(*sorter) { m.flag() },
		func(*sorter) { m.markAll() },
	}
	spread(len(parts), func() func(int) {
		var s sorter
		return func(i int) { parts[i](&s) }
	})
	x.current.Store(&version{main: m, late: &lateMarks{}})
	return x, err
}

// number maps every id to its handle.
func (m *main) number() (ids, error) {
	all := ids{}
	var p *idPage
	var last uint32 // number of p; kept because ids are mostly in order
	for h := range m.used {
		id := m.row(h).id
		page, at := idPlace(uint32(id))
		if p == nil || page != last {
			p, last = all.own(page), page
		}
		if p[at] != 0 {
			return nil, fmt.Errorf("transaction %d is there twice", id)
		}
		p[at] = h + 1
	}
	return all, nil
}

// flag builds the bitmaps of full refunds and chargebacks.
func (m *main) flag() {
	var refunded, chargebacks []uint32
	for h := range m.used {
		if m.fullyRefunded(h) {
			refunded = append(refunded, h)
		}
		if m.row(h).flags&chargeback != 0 {
			chargebacks = append(chargebacks, h)
		}
	}
	m.refunded, m.chargebacks = m.bitmapOf(refunded), m.bitmapOf(chargebacks)
}

// post builds the postings of a kind.
func (m *main) post(k kind, s *sorter) {
	s.pairs = slices.Grow(s.pairs[:0], int(m.used))
	for h := range m.used {
		if v, some := m.rowValue(k, m.row(h)); some {
			s.pairs = append(s.pairs, pair{uint32(v), h})
		}
	}
	s.sort()
	m.postings[k].bitmaps = map[int32]*bitmap{}
	for rest := s.pairs; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].value/pageLists == rest[0].value/pageLists {
			n++
		}
		m.postPage(k, rest[:n])
		rest = rest[n:]
	}
}

// postPage builds the postings of the values whose lists are in one page.
func (m *main) postPage(k kind, pairs []pair) {
	p := &m.postings[k]
	first := int32(pairs[0].value / pageLists * pageLists)
	page, _ := p.lists.own(nil, first)
	short := make([]uint32, 0, len(pairs))
	for i := range pageLists {
		value := first + int32(i)
		begin := len(short)
		for len(pairs) > 0 && pairs[0].value == uint32(value) {
			short = append(short, pairs[0].handle)
			pairs = pairs[1:]
		}
		switch of := short[begin:]; {
		case len(of) >= m.bitmapFrom():
			p.bitmaps[value] = m.bitmapOf(of)
			short = short[:begin]
		case len(of) >= longRows:
			page.long = append(page.long, longList{i, slices.Clone(of)})
			short = short[:begin]
		}
		page.from[i+1] = uint32(len(short))
	}
	page.handles = slices.Clone(short)
}

// keep builds the postings of a value that has none yet.
func (m *main) keep(own owned, k kind, value int32, handles []uint32) {
	p := &m.postings[k]
	if len(handles) < m.bitmapFrom() {
		p.lists.insert(own, value, 0, handles...)
		return
	}
	if !own.has(p) {
		p.bitmaps = maps.Clone(p.bitmaps)
		own.take(p)
	}
	b := m.bitmapOf(handles)
	own.take(b)
	p.bitmaps[value] = b
}
