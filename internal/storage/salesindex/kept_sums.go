package salesindex

import (
	"maps"
	"sync"
	"time"
	"unsafe"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/lyceum-school/lyceum"
)

// What a subset is of, besides the kinds of values.
const (
	everySale = kinds + iota
	fullyRefundedSales
	chargebackSales
)

// subset is all sales of the main part, those that a bitmap has, or all others.
type subset struct {
	kind    kind
	value   int32
	members *bitmap // nil: all sales
	others  bool
}

// in gives the members in a block; nil also where all sales are meant.
func (s subset) in(block int) *roaring.Bitmap {
	if s.members == nil {
		return nil
	}
	return s.members.in(block)
}

// sole returns the sales that pass a filter of nothing, or of one thing that many
// sales have.
func (m *main) sole(f *lyceum.TransactionFilter) (subset, bool) {
	q, none := m.terms(f)
	if none || q.n > 1 || q.list != nil {
		return subset{}, false
	}
	s := subset{kind: everySale}
	for k, want := range named(f) {
		if want.Present {
			s.kind, s.value = kind(k), want.Value
		}
	}
	switch {
	case f.FullyRefunded.Present:
		s.kind = fullyRefundedSales
	case f.Chargeback.Present:
		s.kind = chargebackSales
	}
	switch {
	case len(q.with) == 1:
		s.members = q.with[0]
	case len(q.without) == 1:
		s.members, s.others = q.without[0], true
	}
	return s, true
}

// blockSums are the sums of a block, as far as they were asked for and are small
// beside the sales that they are of.
type blockSums struct {
	mu    sync.Mutex
	kept  map[sumsKey]*keptSums
	cells [2]int64 // what they cost: those of all sales, and of subsets
}

type sumsKey struct {
	group lyceum.SalesGroup
	kind  kind
	value int32
}

// keptSums are the sums of a block, or of members of it, by one group.
type keptSums struct {
	members *roaring.Bitmap // nil: all
	list    []cell
	over    bool   // the list would be too long
	zone    string // of days
	refunds span64
}

const cellBytes = int64(unsafe.Sizeof(cell{}))

// cost is how many cells they take as much memory as.
func (k *keptSums) cost() int64 { return int64(len(k.list)) + 2 }

// Bounds, which tests change.
var (
	// keptBytes is what sums of all sales, and again those of subsets, may take a sale.
	keptBytes int64 = 7
	// membersPerCell is how many members of a subset a cell stands for at least.
	membersPerCell int64 = 3
)

// sumsOf returns the sums of a block, or of the members of a subset in it. It makes
// them and, where they may be kept, keeps them.
func (m *main) sumsOf(at int, of subset, group lyceum.SalesGroup, zone *time.Location) *keptSums {
	b, members := m.blocks[at], of.in(at)
	key := sumsKey{group, of.kind, of.value}
	b.sums.mu.Lock()
	was := b.sums.kept[key]
	b.sums.mu.Unlock()
	if was != nil && was.members == members && (group != lyceum.SalesByDay || was.zone == zone.String()) {
		return was
	}
	a := newAdder(m, group, zone, allTime)
	a.part(of, at)
	made := &keptSums{
		members: members, list: append([]cell(nil), a.list...), zone: zone.String(), refunds: a.refunds,
	}
	if members == nil || made.cost()*membersPerCell <= int64(members.GetCardinality()) {
		b.sums.keep(key, *made, int64(b.n)*keptBytes/cellBytes)
	}
	return made
}

// keep keeps sums that cost at most so much together. Of all sales, the first of them
// stay; those of subsets make room for the next.
func (s *blockSums) keep(key sumsKey, made keptSums, most int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[sumsKey]*keptSums{}
	}
	cells := &s.cells[0]
	if made.members != nil {
		cells = &s.cells[1]
	}
	if was := s.kept[key]; was != nil {
		*cells -= was.cost()
		delete(s.kept, key)
	}
	if *cells+made.cost() > most {
		if made.members == nil {
			made.list, made.over = nil, true
		} else {
			maps.DeleteFunc(s.kept, func(_ sumsKey, k *keptSums) bool { return k.members != nil })
			*cells = 0
		}
	}
	if made.members == nil || made.cost() <= most {
		s.kept[key] = &made
		*cells += made.cost()
	}
}

// cost is how many cells all of them take as much memory as.
func (s *blockSums) cost() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cells[0] + s.cells[1]
}
