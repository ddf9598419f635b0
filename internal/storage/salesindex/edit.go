package salesindex

import (
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/lyceum-school/lyceum"
)

// edit derives the next main part from one that readers see. It copies each part that it writes
// to, once.
type edit struct {
	*main
	own owned
	ids ids
}

func (m *main) shallow() *main {
	copied := *m
	copied.cache = &cache{}
	return &copied
}

// bitmap returns the bitmap of a value, writable, or nil if there is none.
func (e *edit) bitmap(k kind, value int32) *bitmap {
	p := &e.postings[k]
	b := p.bitmaps[value]
	if b == nil || e.own.has(b) {
		return b
	}
	if !e.own.has(p) {
		p.bitmaps = maps.Clone(p.bitmaps)
		e.own.take(p)
	}
	b = b.clone()
	e.own.take(b)
	p.bitmaps[value] = b
	return b
}

// flag makes the bitmap of full refunds or chargebacks writable and returns it.
func (e *edit) flag(b **bitmap) *bitmap {
	if !e.own.has(*b) {
		*b = (*b).clone()
		e.own.take(*b)
	}
	return *b
}

// replace changes a sale whose place stays the same.
func (e *edit) replace(h uint32, old *lyceum.Transaction, r *row, x extra, now *lyceum.Transaction) {
	e.rowTable.set(e.own, h, r, x)
	at := e.find(keyOf(old))
	was, is := e.values(old), e.values(now)
	for k := range kinds {
		if was[k] == is[k] {
			continue
		}
		if was[k].Present {
			e.drop(k, was[k].Value, h, at)
		}
		if is[k].Present {
			e.add(k, is[k].Value, h, at)
		}
	}
	if old.FullyRefunded() != now.FullyRefunded() {
		flip(e.own, e.flag(&e.refunded), at, now.FullyRefunded())
	}
	if isChargeback(old) != isChargeback(now) {
		flip(e.own, e.flag(&e.chargebacks), at, isChargeback(now))
	}
	e.forget(at.block)
	if old.Paid != now.Paid || old.SaleID != now.SaleID || old.UserID != now.UserID {
		e.settle(int32(old.UserID))
		e.settle(int32(now.UserID))
	}
}

func isChargeback(t *lyceum.Transaction) bool { return t.HasChargeback == lyceum.Some(true) }

func flip(own owned, b *bitmap, at place, on bool) {
	m := b.own(own, at.block)
	if on {
		m.Add(uint32(at.offset))
	} else {
		m.Remove(uint32(at.offset))
	}
	b.count(at.block)
}

// add adds a sale in the main part to the postings of a value.
func (e *edit) add(k kind, value int32, h uint32, at place) {
	if b := e.bitmap(k, value); b != nil {
		flip(e.own, b, at, true)
		return
	}
	e.list(k, value, h)
}

// list adds a sale to the list of a value.
func (e *edit) list(k kind, value int32, h uint32) {
	p := &e.postings[k]
	list := p.lists.get(value)
	p.lists.insert(e.own, value, e.search(list, e.key(h)), h)
}

// grown converts the list of a value to a bitmap if it has become long.
func (e *edit) grown(k kind, value int32) {
	p := &e.postings[k]
	list := p.lists.get(value)
	if len(list) < e.bitmapFrom() || p.bitmaps[value] != nil {
		return
	}
	list = slices.Clone(list)
	p.lists.cut(e.own, value, 0, len(list))
	e.keep(e.own, k, value, list)
}

// drop removes a sale from the postings of a value.
func (e *edit) drop(k kind, value int32, h uint32, at place) {
	if b := e.bitmap(k, value); b != nil {
		flip(e.own, b, at, false)
		return
	}
	p := &e.postings[k]
	if i := slices.Index(p.lists.get(value), h); i >= 0 {
		p.lists.cut(e.own, value, i, i+1)
	}
}

// append adds sales that follow all others, in list order.
func (e *edit) append(sales []*lyceum.Transaction) {
	e.blocks = slices.Clone(e.blocks)
	for len(sales) > 0 {
		last := len(e.blocks) - 1
		if last < 0 || e.blocks[last].n == blockRows {
			e.blocks = append(e.blocks, &block{first: e.used})
			last++
		}
		was := e.blocks[last]
		b := &block{first: was.first, n: was.n, handles: was.handles}
		n := min(len(sales), blockRows-b.n)
		begin := b.n
		for _, t := range sales[:n] {
			h := e.row1(t)
			if b.handles == nil && h != b.first+uint32(b.n) {
				b.handles = b.list()
			}
			if b.handles != nil {
				b.handles = append(b.handles, h)
			}
			b.n++
		}
		e.blocks[last] = b
		e.count()
		e.appended(last, begin, sales[:n])
		sales = sales[n:]
	}
}

// appended updates the postings for sales at the end of a block.
func (e *edit) appended(block, begin int, sales []*lyceum.Transaction) {
	touched := map[*bitmap]struct{}{}
	set := func(b *bitmap, o int) {
		b.own(e.own, block).Add(uint32(o))
		touched[b] = struct{}{}
	}
	for i, t := range sales {
		h := e.blocks[block].handle(begin + i)
		for k, v := range e.values(t) {
			if !v.Present {
				continue
			}
			if b := e.bitmap(kind(k), v.Value); b != nil {
				set(b, begin+i)
			} else {
				e.list(kind(k), v.Value, h)
			}
		}
		if t.FullyRefunded() {
			set(e.flag(&e.refunded), begin+i)
		}
		if isChargeback(t) {
			set(e.flag(&e.chargebacks), begin+i)
		}
	}
	for b := range touched {
		b.count(block)
	}
	e.promote(sales)
	e.settleAll(sales)
}

func (e *edit) promote(sales []*lyceum.Transaction) {
	for _, t := range sales {
		for k, v := range e.values(t) {
			if v.Present {
				e.grown(kind(k), v.Value)
			}
		}
	}
}

// row1 stores a sale under a new handle.
func (e *edit) row1(t *lyceum.Transaction) uint32 {
	r, x, err := encode(t, &e.names)
	if err != nil {
		panic(err) // Update encoded it before
	}
	h := e.rowTable.append(e.own, &r, x)
	e.ids.set(r.id, h)
	return h
}

// insert adds late sales of one block, in list order.
func (e *edit) insert(sales []*lyceum.Transaction) {
	at := e.find(keyOf(sales[0])).block
	old := e.blocks[at].list()
	merged := make([]uint32, 0, len(old)+len(sales))
	for _, t := range sales {
		n := e.search(old, keyOf(t))
		merged = append(append(merged, old[:n]...), e.row1(t))
		old = old[n:]
	}
	merged = append(merged, old...)
	for _, t := range sales {
		h, _ := e.ids.get(t.ID)
		for k, v := range e.values(t) {
			if v.Present && e.postings[k].bitmaps[v.Value] == nil {
				e.list(kind(k), v.Value, h)
			}
		}
	}
	e.rewrite(at, merged)
	e.promote(sales)
	e.settleAll(sales)
}

// remove removes a sale from the main part. Its row stays behind, unused.
func (e *edit) remove(h uint32, t *lyceum.Transaction) {
	at := e.find(keyOf(t))
	for k, v := range e.values(t) {
		if v.Present {
			e.drop(kind(k), v.Value, h, at)
		}
	}
	e.ids.remove(t.ID)
	e.rewrite(at.block, slices.Delete(slices.Clone(e.blocks[at.block].list()), at.offset, at.offset+1))
	e.settle(int32(t.UserID))
}

// rewrite replaces the handles of a block: without any the block is removed, with too many it is
// split in two. Every bitmap gets its members of the new blocks.
func (e *edit) rewrite(at int, handles []uint32) {
	var blocks []*block
	switch {
	case len(handles) > blockRows:
		half := len(handles) / 2
		blocks = []*block{makeBlock(handles[:half:half]), makeBlock(handles[half:])}
	case len(handles) > 0:
		blocks = []*block{makeBlock(handles)}
	}
	e.blocks = slices.Replace(slices.Clone(e.blocks), at, at+1, blocks...)
	e.count()

	found := map[*bitmap][]*roaring.Bitmap{}
	for k := range kinds {
		for value := range e.postings[k].bitmaps {
			found[e.bitmap(k, value)] = make([]*roaring.Bitmap, len(blocks))
		}
	}
	found[e.flag(&e.refunded)] = make([]*roaring.Bitmap, len(blocks))
	found[e.flag(&e.chargebacks)] = make([]*roaring.Bitmap, len(blocks))
	for i, b := range blocks {
		for o := range b.n {
			e.mark(found, i, b.handle(o), uint32(o))
		}
	}
	for b, members := range found {
		for _, m := range members {
			if m != nil {
				e.own.take(m)
			}
		}
		b.replace(at, members)
	}
}

// mark adds a handle, at an offset of new block i, to the bitmaps to which it belongs.
func (e *edit) mark(found map[*bitmap][]*roaring.Bitmap, i int, h, offset uint32) {
	set := func(b *bitmap) {
		in := found[b]
		if in[i] == nil {
			in[i] = roaring.New()
		}
		in[i].Add(offset)
	}
	r := e.row(h)
	for k := range kinds {
		if v, some := e.rowValue(k, r); some {
			if b := e.postings[k].bitmaps[v]; b != nil {
				set(b)
			}
		}
	}
	if e.fullyRefunded(h) {
		set(e.refunded)
	}
	if r.flags&chargeback != 0 {
		set(e.chargebacks)
	}
}

// gatherCourse builds the postings of a course from those of its plans.
func (e *edit) gatherCourse(course lyceum.CourseID) {
	p := &e.postings[byCourse]
	if p.bitmaps[int32(course)] != nil {
		if !e.own.has(p) {
			p.bitmaps = maps.Clone(p.bitmaps)
			e.own.take(p)
		}
		delete(p.bitmaps, int32(course))
	} else if n := len(p.lists.get(int32(course))); n > 0 {
		p.lists.cut(e.own, int32(course), 0, n)
	}
	b := &bitmap{}
	for plan, of := range e.courses {
		if of == lyceum.Some(course) {
			e.unite(b, int32(plan))
		}
	}
	b.count(0)
	if n := b.cardinality(); n > 0 {
		e.keep(e.own, byCourse, int32(course), newMapped(e.main, b, false, place{}, e.end()).handles(make([]uint32, 0, n), 0,
			n))
	}
}

// unite adds the sales of a pricing plan to a bitmap, without updating its counts.
func (e *edit) unite(b *bitmap, plan int32) {
	if of := e.postings[byPlan].bitmaps[plan]; of != nil {
		for i, m := range of.blocks {
			if m != nil {
				b.own(e.own, i).Or(m)
			}
		}
		return
	}
	for _, h := range e.postings[byPlan].lists.get(plan) {
		at := e.find(e.key(h))
		b.own(e.own, at.block).Add(uint32(at.offset))
	}
}

// sold reports whether the main part has sales of a pricing plan.
func (e *edit) sold(plan lyceum.PricingPlanID) bool {
	return e.postings[byPlan].bitmaps[int32(plan)] != nil || len(e.postings[byPlan].lists.get(int32(plan))) > 0
}
