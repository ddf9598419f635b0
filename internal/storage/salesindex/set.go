package salesindex

import (
	"sort"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/lyceum-school/lyceum"
)

// set is a set of sales of the main part in list order.
type set interface {
	// len returns the number of members.
	len() int
	// rank returns the number of members before the sale with a key, which is not in the main
	// part.
	rank(k key) int
	// handles appends the handles of up to n members after the first skip.
	handles(to []uint32, skip, n int) []uint32
}

// span is a range of the list.
type span struct {
	m      *main
	lo, hi place
}

func (s span) len() int { return s.m.position(s.hi) - s.m.position(s.lo) }

func (s span) rank(k key) int {
	return min(max(s.m.position(s.m.find(k)), s.m.position(s.lo)), s.m.position(s.hi)) - s.m.position(s.lo)
}

func (s span) handles(to []uint32, skip, n int) []uint32 {
	skip += s.m.position(s.lo)
	i := find(len(s.m.blocks), skip, func(i int) int { return s.m.before[i] })
	for o := skip - s.m.before[i]; n > 0 && i < len(s.m.blocks); n-- {
		to = append(to, s.m.blocks[i].handle(o))
		if o++; o == s.m.blocks[i].n {
			i, o = i+1, 0
		}
	}
	return to
}

// listed is a list of handles.
type listed struct {
	m    *main
	list []uint32
}

func (s listed) len() int       { return len(s.list) }
func (s listed) rank(k key) int { return s.m.search(s.list, k) }

func (s listed) handles(to []uint32, skip, n int) []uint32 {
	return append(to, s.list[skip:min(skip+n, len(s.list))]...)
}

// mapped is the members of a bitmap, or all others, within a range.
type mapped struct {
	m      *main
	b      *bitmap
	others bool
	lo, hi place
	first  int // number of members before lo
	last   int // number of members before hi
}

func newMapped(m *main, b *bitmap, others bool, lo, hi place) mapped {
	s := mapped{m: m, b: b, others: others, lo: lo, hi: hi}
	s.first, s.last = s.countBefore(lo), s.countBefore(hi)
	return s
}

func (s mapped) before(block int) int {
	if s.others {
		return s.m.before[block] - s.b.countBefore(block)
	}
	return s.b.countBefore(block)
}

func (s mapped) countBefore(p place) int {
	n := rank(s.b.in(p.block), p.offset)
	if s.others {
		n = p.offset - n
	}
	return s.before(p.block) + n
}

func (s mapped) len() int { return s.last - s.first }

func (s mapped) rank(k key) int {
	return min(max(s.countBefore(s.m.find(k)), s.first), s.last) - s.first
}

func (s mapped) handles(to []uint32, skip, n int) []uint32 {
	want := len(to) + n
	skip += s.first
	for i := find(len(s.m.blocks), skip, s.before); i < len(s.m.blocks) && len(to) < want; i++ {
		in := s.b.in(i)
		switch first := skip - s.before(i); {
		case s.others:
			to = strangers(to, s.m.blocks[i], in, first, want-len(to))
		case in != nil:
			to = members(to, s.m.blocks[i], in, first, want-len(to))
		}
		skip = s.before(i + 1)
	}
	return to
}

// strangers is members for the sales that are not at the offsets.
func strangers(to []uint32, b *block, offsets *roaring.Bitmap, skip, n int) []uint32 {
	if offsets == nil {
		offsets = roaring.New()
	}
	o := sort.Search(b.n, func(o int) bool { return o+1-rank(offsets, o+1) > skip })
	it := offsets.Iterator()
	it.AdvanceIfNeeded(uint32(o))
	for ; n > 0 && o < b.n; o++ {
		if it.HasNext() && it.PeekNext() == uint32(o) {
			it.Next()
			continue
		}
		to = append(to, b.handle(o))
		n--
	}
	return to
}

// set returns the sales of the main part that match a filter.
func (m *main) set(f *lyceum.TransactionFilter) set {
	lo, hi := m.period(f.Created)
	if m.position(lo) >= m.position(hi) {
		return listed{m: m}
	}
	q, none := m.terms(f)
	switch {
	case none:
		return listed{m: m}
	case q.list != nil:
		list := m.within(q.list, f.Created)
		if q.n == 1 {
			return listed{m, list}
		}
		return m.cache.get(cacheKey(f, lo, hi), func() set { return m.filtered(list, f) })
	case q.n == 0:
		return span{m, lo, hi}
	case q.n == 1 && len(q.with) == 1:
		return newMapped(m, q.with[0], false, lo, hi)
	case q.n == 1:
		return newMapped(m, q.without[0], true, lo, hi)
	default:
		return m.cache.get(cacheKey(f, lo, hi), func() set { return newCrossed(m, q, lo, hi) })
	}
}

// terms are the postings that a filter selects.
type terms struct {
	list          []uint32 // the shortest of the lists
	with, without []*bitmap
	n             int
}

// terms looks up what a filter selects; none reports that nothing matches.
func (m *main) terms(f *lyceum.TransactionFilter) (q terms, none bool) {
	for k, want := range named(f) {
		if !want.Present {
			continue
		}
		q.n++
		p := &m.postings[k]
		if b := p.bitmaps[want.Value]; b != nil {
			q.with = append(q.with, b)
			continue
		}
		list := p.lists.get(want.Value)
		if len(list) == 0 {
			return q, true
		}
		if q.list == nil || len(list) < len(q.list) {
			q.list = list
		}
	}
	for _, flag := range [...]struct {
		want lyceum.Opt[bool]
		b    *bitmap
	}{{f.FullyRefunded, m.refunded}, {f.Chargeback, m.chargebacks}} {
		switch {
		case !flag.want.Present:
			continue
		case flag.want.Value:
			q.with = append(q.with, flag.b)
		default:
			q.without = append(q.without, flag.b)
		}
		q.n++
	}
	return q, false
}

// period returns the range of the list in a period.
func (m *main) period(p lyceum.Period) (lo, hi place) {
	hi = m.end()
	if !p.After.IsZero() {
		lo = m.find(afterKey(p.After))
	}
	if !p.Until.IsZero() {
		hi = m.find(afterKey(p.Until))
	}
	return lo, hi
}

// within returns the part of a list in a period.
func (m *main) within(list []uint32, p lyceum.Period) []uint32 {
	if !p.Until.IsZero() {
		list = list[:m.search(list, afterKey(p.Until))]
	}
	if !p.After.IsZero() {
		list = list[m.search(list, afterKey(p.After)):]
	}
	return list
}

// filtered returns the members of a list that match a filter.
func (m *main) filtered(list []uint32, f *lyceum.TransactionFilter) set {
	var passed []uint32
	for _, h := range list {
		if m.matches(f, h) {
			passed = append(passed, h)
		}
	}
	return listed{m, passed}
}
