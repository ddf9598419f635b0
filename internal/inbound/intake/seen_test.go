package intake

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestIDSet holds the set to a map, with ids close together, far apart and at
// the ends of their range.
func TestIDSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var set idSet
		want := map[int32]bool{}
		id := rapid.OneOf(rapid.Int32Range(1, 99), rapid.Int32Range(65500, 65600), rapid.Int32Range(1, math.MaxInt32), rapid.Just(int32(math.MaxInt32)))
		for _, run := range rapid.SliceOf(rapid.Custom(func(t *rapid.T) int32 { return id.Draw(t, "id") })).Draw(t, "ids") {
			length := rapid.SampledFrom([]int32{1, 3, 2 * fewIDs}).Draw(t, "length")
			keep := rapid.Bool().Draw(t, "keep")
			for n := run; n > 0 && n-run < length; n++ {
				if keep {
					set.add(n)
				} else {
					set.remove(n)
				}
				want[n] = keep
			}
		}
		for n, kept := range want {
			if set.has(n) != kept {
				t.Fatalf("has %d is %v", n, !kept)
			}
		}
	})
}

func TestIDSetMemory(t *testing.T) {
	for name, step := range map[string]uint32{"close": 1, "apart": 2654435761} {
		var set idSet
		bytes := 0
		for n := range uint32(1_000_000) {
			set.add(int32(n * step >> 1))
		}
		for _, chunk := range set.chunks {
			bytes += 2*cap(chunk.few) + 32
			if chunk.bits != nil {
				bytes += 1 << 13
			}
		}
		if bytes > 8<<20 {
			t.Errorf("a million ids %s take %d bytes", name, bytes)
		}
	}
}
