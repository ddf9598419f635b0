package salesindex

import (
	"maps"
	"sync"
	"time"
	"unsafe"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/lyceum-school/lyceum"
)

// Kinds of a subset, in addition to the kinds of values.
const (
	everySale = kinds + iota
	fullyRefundedSales
	chargebackSales
)

// subset is all sales of the main part, those in a bitmap, or those not in it.
type subset struct {
	kind    kind
	value   int32
	members *bitmap // nil means all sales
	others  bool
}

// in returns the members in a block, or nil; nil also if the subset is all sales.
func (s subset) in(block int) *roaring.Bitmap {
	if s.members == nil {
		return nil
	}
	return s.members.in(block)
}

// sole returns the subset that matches a filter without conditions, or with a single one for
// which there is a bitmap.
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

// blockSums caches the sums of a block that were needed, as long as they are small compared with
// their sales.
type blockSums struct {
	mu    sync.Mutex
	kept  map[sumsKey]*keptSums
	cells [2]int64 // cost of the sums of all sales, and of subsets
}

type sumsKey struct {
	group lyceum.SalesGroup
	kind  kind
	value int32
}

// keptSums are the sums of a block, or of some members of it, by one group.
type keptSums struct {
	members *roaring.Bitmap // nil means all sales
	list    []cell
	over    bool   // the list would be too long
	zone    string // time zone of the days
	refunds span64
}

const cellBytes = int64(unsafe.Sizeof(cell{}))

// cost is the memory of the sums, as a number of cells.
func (k *keptSums) cost() int64 { return int64(len(k.list)) + 2 }

// Limits, which tests change.
var (
	// keptBytes is how many bytes per sale the sums of all sales may take, and again those of
	// subsets.
	keptBytes int64 = 7
	// membersPerCell is the smallest number of a subset's members per cell for sums to be kept.
	membersPerCell int64 = 3
)

// sumsOf returns the sums of a block, or of the members of a subset in it. It computes them
// unless they are kept, and keeps them if they are small enough.
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

// keep stores sums as long as their total cost does not exceed most. The first sums of all sales
// stay; those of subsets are evicted for the next.
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

// cost is the memory of all kept sums, as a number of cells.
func (s *blockSums) cost() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cells[0] + s.cells[1]
}
