package salesindex

import (
	"slices"
	"sync"

	"github.com/lyceum-school/lyceum"
)

// buyerMarks determines the marks of one buyer's sales, which must be passed to it in list order.
type buyerMarks struct {
	few  []int32 // paid sales, while they are few
	many map[int32]struct{}
}

// manySales is the number of sales above which a map is used.
const manySales = 16

func (b *buyerMarks) of(isPaid bool, sale int32) lyceum.SaleMarks {
	if !isPaid {
		return lyceum.SaleMarks{}
	}
	first := len(b.few) == 0
	if b.many == nil {
		for _, s := range b.few {
			if s == sale {
				return lyceum.SaleMarks{Renewal: true}
			}
		}
		if b.few = append(b.few, sale); len(b.few) > manySales {
			b.many = make(map[int32]struct{}, 4*manySales)
			for _, s := range b.few {
				b.many[s] = struct{}{}
			}
		}
		return lyceum.SaleMarks{First: first}
	}
	_, paidBefore := b.many[sale]
	b.many[sale] = struct{}{}
	return lyceum.SaleMarks{Renewal: paidBefore}
}

// marks returns the marks of a sale of the main part.
func (s *rowTable) marks(h uint32) lyceum.SaleMarks {
	c, i, bit := s.chunks[h/chunkRows], h/pageRows%chunkPages, uint64(1)<<(h%pageRows)
	return lyceum.SaleMarks{First: c.first[i]&bit != 0, Renewal: c.renewal[i]&bit != 0}
}

func (c *chunk) mark(h uint32, m lyceum.SaleMarks) {
	i, bit := h/pageRows%chunkPages, uint64(1)<<(h%pageRows)
	c.first[i] &^= bit
	c.renewal[i] &^= bit
	if m.First {
		c.first[i] |= bit
	}
	if m.Renewal {
		c.renewal[i] |= bit
	}
}

// firstOf maps ids to the first paid sale with that id, as its handle plus 1.
type firstOf map[uint32]*[firstPage]uint32

const firstPage = 1024

// add returns the handle of the first paid sale with an id, which is h if there was none before.
func (f firstOf) add(id int32, h uint32) (first uint32, known bool) {
	p := f[uint32(id)/firstPage]
	if p == nil {
		p = new([firstPage]uint32)
		f[uint32(id)/firstPage] = p
	}
	at := &p[uint32(id)%firstPage]
	if *at == 0 {
		*at = h + 1
		return h, false
	}
	return *at - 1, true
}

// markAll determines the marks of all sales. Their handles must be in list order.
func (m *main) markAll() {
	users, sales := firstOf{}, firstOf{}
	type buyer struct{ sale, user int32 }
	others := map[buyer]struct{}{} // users who paid for a sale for which someone else had paid before
	for h := range m.used {
		r := m.row(h)
		if r.flags&paid == 0 {
			continue
		}
		_, bought := users.add(r.user, h)
		marks := lyceum.SaleMarks{First: !bought}
		var first uint32
		if first, marks.Renewal = sales.add(r.sale, h); marks.Renewal && m.row(first).user != r.user {
			_, marks.Renewal = others[buyer{r.sale, r.user}]
			others[buyer{r.sale, r.user}] = struct{}{}
		}
		if marks != (lyceum.SaleMarks{}) {
			m.chunks[h/chunkRows].mark(h, marks)
		}
	}
}

// eachOf calls visit with the handles of a user's sales in list order.
func (m *main) eachOf(user int32, visit func(h uint32)) {
	of := m.set(&lyceum.TransactionFilter{UserID: lyceum.Some(lyceum.UserID(user))})
	var space [64]uint32
	for from := 0; from < of.len(); from += len(space) {
		for _, h := range of.handles(space[:0], from, min(len(space), of.len()-from)) {
			visit(h)
		}
	}
}

// settle updates the marks of a user's sales.
func (e *edit) settle(user int32) {
	var b buyerMarks
	e.eachOf(user, func(h uint32) {
		r := e.row(h)
		e.setMarks(h, b.of(r.flags&paid != 0, r.sale))
	})
}

// settleAll updates the marks of the buyers of some sales.
func (e *edit) settleAll(sales []*lyceum.Transaction) {
	settled := make(map[lyceum.UserID]struct{}, len(sales))
	for _, t := range sales {
		if _, done := settled[t.UserID]; !done {
			settled[t.UserID] = struct{}{}
			e.settle(int32(t.UserID))
		}
	}
}

func (e *edit) setMarks(h uint32, m lyceum.SaleMarks) {
	if e.marks(h) == m {
		return
	}
	e.ownChunk(e.own, h).mark(h, m)
	e.forget(e.find(e.key(h)).block)
}

// forget gives a block whose sales have changed a new place for its sums, because a reader of an
// older version may be about to store sums in the old one.
func (e *edit) forget(at int) {
	b := e.blocks[at]
	if e.own.has(b) {
		return
	}
	fresh := &block{first: b.first, n: b.n, handles: b.handles}
	e.own.take(fresh)
	e.blocks = slices.Clone(e.blocks)
	e.blocks[at] = fresh
}

// lateMarks are the marks of the sales in the tail, and the changed marks of sales in the main
// part because of them.
type lateMarks struct {
	once  sync.Once
	tail  []lyceum.SaleMarks
	wrong []wrongMarks
}

type wrongMarks struct {
	handle  uint32
	was, is lyceum.SaleMarks
}

// marked returns the marks that result from the tail.
func (v *version) marked() *lateMarks {
	v.late.once.Do(func() { v.late.find(v) })
	return v.late
}

func (l *lateMarks) find(v *version) {
	l.tail = make([]lyceum.SaleMarks, len(v.tail))
	of := map[lyceum.UserID][]int{}
	for i, t := range v.tail {
		of[t.UserID] = append(of[t.UserID], i)
	}
	for user, places := range of {
		var b buyerMarks
		next := func(before key, all bool) {
			for len(places) > 0 && (all || keyOf(v.tail[places[0]]).compare(before) < 0) {
				t := v.tail[places[0]]
				l.tail[places[0]] = b.of(t.Paid, int32(t.SaleID))
				places = places[1:]
			}
		}
		v.main.eachOf(int32(user), func(h uint32) {
			r := v.main.row(h)
			next(r.key(), false)
			if was, is := v.main.marks(h), b.of(r.flags&paid != 0, r.sale); was != is {
				l.wrong = append(l.wrong, wrongMarks{h, was, is})
			}
		})
		next(key{}, true)
	}
}
