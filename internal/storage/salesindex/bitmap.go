package salesindex

import (
	"slices"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"
)

// bitmap holds the offsets in each block of the sales with a value. Blocks beyond its end have
// none.
type bitmap struct {
	blocks []*roaring.Bitmap // nil means none
	before []uint32          // number of members in all blocks before each one, and in total
}

// in returns the members in a block, or nil.
func (b *bitmap) in(block int) *roaring.Bitmap {
	if block >= len(b.blocks) {
		return nil
	}
	return b.blocks[block]
}

func (b *bitmap) cardinality() int { return b.countBefore(len(b.blocks)) }

// countBefore returns the number of members in all blocks before one.
func (b *bitmap) countBefore(block int) int {
	if len(b.blocks) == 0 {
		return 0
	}
	return int(b.before[min(block, len(b.blocks))])
}

// rank returns the number of members at offsets before o.
func rank(m *roaring.Bitmap, o int) int {
	if m == nil || o == 0 {
		return 0
	}
	return int(m.Rank(uint32(o - 1)))
}

// clone returns a copy that shares the blocks' bitmaps.
func (b *bitmap) clone() *bitmap {
	return &bitmap{blocks: slices.Clone(b.blocks), before: slices.Clone(b.before)}
}

// own makes the members of a block writable; b itself must be writable.
func (b *bitmap) own(own owned, block int) *roaring.Bitmap {
	for len(b.blocks) <= block {
		b.blocks = append(b.blocks, nil)
	}
	switch m := b.blocks[block]; {
	case m == nil:
		b.blocks[block] = roaring.New()
	case own.has(m):
		return m
	default:
		b.blocks[block] = m.Clone()
	}
	own.take(b.blocks[block])
	return b.blocks[block]
}

// count updates before from a block on.
func (b *bitmap) count(from int) {
	if len(b.before) == 0 {
		b.before = []uint32{0}
	}
	from = min(from, len(b.before)-1)
	b.before = b.before[:from+1]
	for i := from; i < len(b.blocks); i++ {
		n := b.before[i]
		if m := b.blocks[i]; m != nil {
			n += uint32(m.GetCardinality())
		}
		b.before = append(b.before, n)
	}
}

// replace replaces a block with other blocks.
func (b *bitmap) replace(block int, by []*roaring.Bitmap) {
	for len(b.blocks) <= block {
		b.blocks = append(b.blocks, nil)
	}
	b.blocks = slices.Replace(b.blocks, block, block+1, by...)
	b.count(0)
}

// find returns the block that contains member n.
func find(blocks, n int, before func(block int) int) int {
	return sort.Search(blocks, func(i int) bool { return before(i+1) > n })
}
