package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// contest is a class of requests that is measured in comparison with constant responses.
type contest struct {
	size           int
	name           string
	ours, constant *server
	turn           func() []pair // returns what is requested in a round
}

// pair is a request with its counterpart for the constant server.
type pair struct{ ours, constant []byte }

// startConstant starts a process that serves prepared responses of the given lengths.
func startConstant(ctx context.Context, lengths []int) (*server, error) {
	args := []string{"constant"}
	for _, n := range slices.Compact(slices.Sorted(slices.Values(lengths))) {
		args = append(args, strconv.Itoa(n))
	}
	return start(ctx, os.Args[0], args...)
}

// pairs returns requests for paths whose responses have the given lengths, which are repeated
// if there are fewer. A request's counterpart has the same query and headers.
func pairs(ours, constant *server, paths []string, lengths []int) []pair {
	all := make([]pair, len(paths))
	for i, path := range paths {
		all[i] = pair{request(path, ours.key), constant.twin(path, lengths[i%len(lengths)])}
	}
	return all
}

// twin returns the counterpart of a request for a path.
func (s *server) twin(path string, length int) []byte {
	_, query, found := strings.Cut(path, "?")
	if found {
		query = "?" + query
	}
	return request(constantPath+strconv.Itoa(length)+query, s.key)
}

// contestHead is the header of the table of contests, without its first column, the size.
const contestHead = `class | connections | requests/s | p50 ms | p99 ms | constant/s | ratio |
|---|---|---|---|---|---|---|---|`

// run prints a row for each number of connections.
func (c contest) run(s settings) error {
	for _, n := range s.connections {
		if err := c.row(s, n); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

func (c contest) row(s settings, n int) error {
	var rates []rate
	var base, ratio []float64
	for range s.rounds {
		var requests, twins [][]byte
		for _, p := range c.turn() {
			requests, twins = append(requests, p.ours), append(twins, p.constant)
		}
		b, err := drive(c.constant.address, twins, n, s.duration)
		if err != nil {
			return err
		}
		r, err := drive(c.ours.address, requests, n, s.duration)
		if err != nil {
			return err
		}
		rates, base, ratio = append(rates, r), append(base, b.perSecond), append(ratio, r.perSecond/b.perSecond)
	}
	r := medians(rates)
	fmt.Printf("| %s | %s | %d | %.0f | %.2f | %.2f | %.0f | %.3f |\n",
		grouped(c.size), c.name, n, r.perSecond, r.p50, r.p99, median(base), median(ratio))
	return nil
}

// grouped formats a number like 1,000,000.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
