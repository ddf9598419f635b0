package salesindex

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSorter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var s sorter // reused, so that its buffers hold earlier data
	for _, tc := range []struct {
		name  string
		n     int
		value func(i int) uint32
	}{
		{"nothing", 0, nil},
		{"one", 1, func(int) uint32 { return 7 }},
		{"all equal", 100, func(int) uint32 { return math.MaxUint32 }},
		{"sorted", 5000, func(i int) uint32 { return uint32(i) * 700_001 }},
		{"backwards", 5000, func(i int) uint32 { return math.MaxUint32 - uint32(i)*700_001 }},
		{"few values", 5000, func(int) uint32 { return r.Uint32N(9) }},
		{"all digits", 5000, func(int) uint32 { return r.Uint32() }},
		{"the middle digit", 300, func(int) uint32 { return 5 + r.Uint32N(2048)<<11 }},
		{"the last digit", 300, func(int) uint32 { return 5 + r.Uint32N(1024)<<22 }},
		{"fewer than before", 10, func(int) uint32 { return r.Uint32() }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s.pairs = s.pairs[:0]
			for i := range tc.n {
				s.pairs = append(s.pairs, pair{tc.value(i), uint32(i)})
			}
			want := slices.Clone(s.pairs)
			slices.SortStableFunc(want, func(a, b pair) int { return cmp.Compare(a.value, b.value) })
			if s.sort(); !slices.Equal(s.pairs, want) {
				t.Errorf("got %v\nwant %v", s.pairs, want)
			}
		})
	}
}
