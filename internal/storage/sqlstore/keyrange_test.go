package sqlstore

import (
	"fmt"
	"testing"
)

func TestRangesOf(t *testing.T) {
	run := func(from, step, n int) (keys []any) {
		for i := range n {
			keys = append(keys, int64(from+i*step))
		}
		return keys
	}
	for _, row := range []struct {
		name   string
		keys   []any
		ranges string
		rest   int
	}{
		{"few", run(1, 1, rangeLength-1), "", rangeLength - 1},
		{"close", run(7, 1, rangeLength), "7-134", 0},
		{"with gaps", run(1, rangeGap, rangeLength), "1-255", 0},
		{"far apart", run(1, rangeGap+1, 1000), "", 1000},
		{"two and a rest", append(append(run(5000, 1, 200), run(1, 2, 200)...), run(9000, 1, 10)...), "1-399 5000-5199", 10},
		{"again", append(run(1, 1, 200), run(1, 1, 200)...), "1-200", 0},
		{"hashes", append(run(1, 1, 200), []byte("x")), "", 201},
	} {
		ranges, rest := rangesOf(row.keys)
		got := ""
		for i, r := range ranges {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprintf("%d-%d", r[0], r[len(r)-1])
		}
		if got != row.ranges || len(rest) != row.rest {
			t.Errorf("%s: %s and %d, want %s and %d", row.name, got, len(rest), row.ranges, row.rest)
		}
	}
}
