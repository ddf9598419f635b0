package access

import (
	"context"
	"math"
	"time"

	"github.com/lyceum-school/lyceum"
)

// sharedCounter counts in a database, for all processes that serve it. An attempt costs a
// statement, which is cheap compared to what is attempted.
type sharedCounter struct {
	tallies lyceum.Tallies
	clock   func() time.Time
}

// talliesOf returns the windows in which something is counted, and the limit of each.
func talliesOf(c *counted, now time.Time) (tallies []lyceum.Tally, bounds []int64) {
	for _, window := range [...]struct {
		length time.Duration
		bound  int
	}{{time.Minute, c.bounds.Minute}, {time.Hour, c.bounds.Hour}} {
		if window.bound > 0 {
			tallies = append(tallies, lyceum.Tally{
				School: c.school, Topic: c.topic, Name: c.name, Length: window.length, Begin: now, Add: 1,
			})
			bounds = append(bounds, int64(window.bound))
		}
	}
	return tallies, bounds
}

// windows returns the windows of everything that is counted; owners has the index in of for
// each.
func (s *sharedCounter) windows(of []counted) (tallies []lyceum.Tally, bounds []int64, owners []int) {
	now := s.clock()
	for i := range of {
		more, bound := talliesOf(&of[i], now)
		tallies, bounds = append(tallies, more...), append(bounds, bound...)
		for range more {
			owners = append(owners, i)
		}
	}
	return tallies, bounds, owners
}

func (s *sharedCounter) check(ctx context.Context, of []counted) error {
	tallies, bounds, owners := s.windows(of)
	found, err := s.tallies.Look(ctx, tallies)
	if err != nil {
		return err
	}
	for i := range found {
		if found[i].Used >= bounds[i] {
			return of[owners[i]].spent
		}
	}
	return nil
}

// take counts first and checks afterwards, so that all processes together never let through
// more than the limit. A rejected attempt is given back.
func (s *sharedCounter) take(ctx context.Context, of []counted) (receipt, error) {
	tallies, bounds, owners := s.windows(of)
	found, err := s.tallies.Count(ctx, math.MaxInt64, tallies)
	if err != nil {
		return receipt{}, err
	}
	r := receipt{of: of, tallies: make([][]lyceum.Tally, len(of))}
	var spent error
	for i := range found {
		tallies[i].Begin = found[i].Begin
		r.tallies[owners[i]] = append(r.tallies[owners[i]], tallies[i])
		if found[i].Used > bounds[i] && spent == nil {
			spent = of[owners[i]].spent
		}
	}
	if spent == nil {
		return r, nil
	}
	if err := s.giveBack(ctx, r); err != nil {
		return receipt{}, err
	}
	return receipt{}, spent
}

// giveBack also gives back the attempt of somebody who does not wait for the result.
func (s *sharedCounter) giveBack(ctx context.Context, r receipt) error {
	var all []lyceum.Tally
	for _, tallies := range r.tallies {
		all = append(all, tallies...)
	}
	if len(all) == 0 {
		return nil
	}
	return s.tallies.GiveBack(context.WithoutCancel(ctx), all)
}

func (s *sharedCounter) forget(ctx context.Context, school lyceum.SchoolID, topic lyceum.TallyName) error {
	return s.tallies.Forget(context.WithoutCancel(ctx), school, topic) // as in giveBack
}
