package intake

import (
	"maps"
	"math/rand/v2"
	"testing"
)

// TestHashes checks that numbers with the same upper or lower half are distinguished, in whatever
// order they are added and removed.
func TestHashes(t *testing.T) {
	set, want := newHashes(), map[uint64]bool{}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		k := random.Uint64N(5)<<32 | random.Uint64N(5)
		if random.IntN(2) == 0 {
			set.Add(k)
			want[k] = true
		} else {
			set.Remove(k)
			delete(want, k)
		}
		for upper := range uint64(5) {
			for lower := range uint64(5) {
				if k := upper<<32 | lower; set.Contains(k) != want[k] {
					t.Fatalf("%x is in it: %t; in it should be %v", k, !want[k], want)
				}
			}
		}
	}
	for k := range maps.Keys(want) {
		set.Remove(k)
	}
	if !set.empty() {
		t.Error("it is not empty")
	}
}
