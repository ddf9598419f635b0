package salesindex

import (
	"math/bits"

	"github.com/RoaringBitmap/roaring/v2"
)

// bitset has a bit for each offset of a block. Bitmaps are converted to bitsets to be
// intersected, because that costs less word by word than container by container.
type bitset [maxBlockRows / 64]uint64

func (s *bitset) set(m *roaring.Bitmap) {
	*s = bitset{}
	m.WriteDenseTo(s[:])
}

func (s *bitset) fill() {
	for i := range s {
		s[i] = ^uint64(0)
	}
}

func (s *bitset) and(o *bitset) {
	for i := range s {
		s[i] &= o[i]
	}
}

func (s *bitset) andNot(o *bitset) {
	for i := range s {
		s[i] &^= o[i]
	}
}

// keep removes all offsets outside [from, to).
func (s *bitset) keep(from, to int) {
	clear(s[:from/64])
	if from/64 < len(s) {
		s[from/64] &= ^uint64(0) << (from % 64)
	}
	if to/64 < len(s) {
		s[to/64] &= 1<<(to%64) - 1
		clear(s[to/64+1:])
	}
}

func (s *bitset) count() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// rank returns the number of members at offsets before o.
func (s *bitset) rank(o int) (n int) {
	for _, word := range s[:o/64] {
		n += bits.OnesCount64(word)
	}
	if o%64 > 0 {
		n += bits.OnesCount64(s[o/64] & (1<<(o%64) - 1))
	}
	return n
}

// handles appends the handles at the offsets, up to n of them after the first skip.
func (s *bitset) handles(to []uint32, b *block, skip, n int) []uint32 {
	for i, word := range s {
		if c := bits.OnesCount64(word); c <= skip {
			skip -= c
			continue
		}
		for ; word != 0 && n > 0; word &= word - 1 {
			if skip > 0 {
				skip--
				continue
			}
			to = append(to, b.handle(i*64+bits.TrailingZeros64(word)))
			n--
		}
		if n == 0 {
			break
		}
	}
	return to
}
