package salesindex

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// pair is a handle and its sort value.
type pair struct{ value, handle uint32 }

// sorter sorts pairs by value in linear time. The sort is stable. Its buffers are reused.
type sorter struct{ pairs, spare []pair }

const (
	digitBits = 11
	digits    = (32 + digitBits - 1) / digitBits
)

func (s *sorter) sort() {
	var counts [digits][1 << digitBits]uint32
	sorted := true
	last := uint32(0)
	for _, p := range s.pairs {
		for d := range counts {
			counts[d][p.digit(d)]++
		}
		sorted = sorted && last <= p.value
		last = p.value
	}
	for d := range counts {
		if sorted || int(counts[d][s.pairs[0].digit(d)]) == len(s.pairs) {
			continue
		}
		s.byDigit(d, &counts[d])
	}
}

func (p pair) digit(d int) uint32 { return p.value >> (d * digitBits) % (1 << digitBits) }

// byDigit sorts by one digit. counts is how often each value of the digit occurs.
func (s *sorter) byDigit(d int, counts *[1 << digitBits]uint32) {
	if cap(s.spare) < len(s.pairs) {
		s.spare = make([]pair, len(s.pairs), cap(s.pairs))
	}
	to := s.spare[:len(s.pairs)]
	at := uint32(0)
	for i, n := range counts {
		counts[i] = at
		at += n
	}
	for _, p := range s.pairs {
		place := &counts[p.digit(d)]
		to[*place] = p
		*place++
	}
	s.pairs, s.spare = to, s.pairs
}

// spread runs n tasks on one goroutine per processor. Each goroutine creates its own worker.
func spread(n int, worker func() func(i int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			do := worker()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wait.Wait()
}
