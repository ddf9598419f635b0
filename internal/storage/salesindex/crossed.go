package salesindex

import "sync/atomic"

// crossed is the set of sales in a range that match several bitmaps. It knows how many there are
// in each block, and computes the members of a block when a page needs them.
type crossed struct {
	m      *main
	terms  terms
	lo, hi place
	before []uint32 // number of members before each block, from that of lo on, and in total
	last   atomic.Pointer[crossing]
}

// crossing holds the members in one block.
type crossing struct {
	block   int
	members bitset
}

func newCrossed(m *main, q terms, lo, hi place) *crossed {
	s := &crossed{m: m, terms: q, lo: lo, hi: hi, before: make([]uint32, 1, hi.block-lo.block+2)}
	var all, one bitset
	n := uint32(0)
	for i := lo.block; i <= hi.block && i < len(m.blocks); i++ {
		if s.cross(&all, &one, i) {
			n += uint32(all.count())
		}
		s.before = append(s.before, n)
	}
	return s
}

// cross computes the members in a block of the range, and reports whether there can be any. one
// is scratch space for a bitmap.
func (s *crossed) cross(all, one *bitset, block int) bool {
	for _, with := range s.terms.with {
		if with.in(block) == nil {
			return false
		}
	}
	from, to := 0, s.m.blocks[block].n
	if block == s.lo.block {
		from = s.lo.offset
	}
	if block == s.hi.block {
		to = s.hi.offset
	}
	if len(s.terms.with) == 0 {
		all.fill()
	}
	for i, with := range s.terms.with {
		if i == 0 {
			all.set(with.in(block))
			continue
		}
		one.set(with.in(block))
		all.and(one)
	}
	for _, without := range s.terms.without {
		if w := without.in(block); w != nil {
			one.set(w)
			all.andNot(one)
		}
	}
	all.keep(from, to)
	return true
}

// in returns the members in a block of the range.
func (s *crossed) in(block int) *bitset {
	if last := s.last.Load(); last != nil && last.block == block {
		return &last.members
	}
	made := &crossing{block: block}
	var one bitset
	s.cross(&made.members, &one, block)
	s.last.Store(made)
	return &made.members
}

func (s *crossed) len() int { return int(s.before[len(s.before)-1]) }

func (s *crossed) rank(k key) int {
	at := s.m.find(k)
	i := at.block - s.lo.block
	switch last := len(s.before) - 1; {
	case i < 0:
		return 0
	case i >= last:
		return s.len()
	case at.offset == 0:
		return int(s.before[i])
	default:
		return int(s.before[i]) + s.in(at.block).rank(at.offset)
	}
}

func (s *crossed) handles(to []uint32, skip, n int) []uint32 {
	want := len(to) + n
	blocks := len(s.before) - 1
	for i := find(blocks, skip, func(i int) int { return int(s.before[i]) }); i < blocks && len(to) < want; i++ {
		if s.before[i+1] > s.before[i] {
			block := s.lo.block + i
			to = s.in(block).handles(to, s.m.blocks[block], skip-int(s.before[i]), want-len(to))
		}
		skip = int(s.before[i+1])
	}
	return to
}
