package sqlstore

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

const (
	// clockPause is how long one reading of the database's clock is used.
	clockPause = 5 * time.Second
	// clockReadings is how often the clock is read in a row; the quickest reading counts.
	clockReadings = 3
)

// sharedClock shows the time of the database. Processes whose own clocks differ agree on it to
// within the duration of a statement.
type sharedClock struct {
	own  func() time.Time
	read func(context.Context) (time.Time, error)
	last atomic.Pointer[clockReading]
}

// clockReading pairs a time of the database's clock with one of the process's own clock,
// accurate to within.
type clockReading struct {
	database, own time.Time
	within        time.Duration
}

func (r *clockReading) at(own time.Time) time.Time { return r.database.Add(own.Sub(r.own)) }

func (c *sharedClock) now() time.Time { return c.last.Load().at(c.own()) }

// measure reads the database's clock. A reading that agrees with the previous one changes
// nothing, so that the clock does not jump back and forth.
func (c *sharedClock) measure(ctx context.Context) error {
	var best *clockReading
	for range clockReadings {
		begin := c.own()
		at, err := c.read(ctx)
		if err != nil {
			return err
		}
		took := c.own().Sub(begin)
		if best == nil || took/2 < best.within {
			best = &clockReading{at, begin.Add(took / 2), took / 2}
		}
	}
	if last := c.last.Load(); last == nil || best.database.Sub(last.at(best.own)).Abs() > best.within+last.within {
		c.last.Store(best)
	}
	return nil
}

// Clock returns the clock that all processes of the database share: that of the database, or
// own for a SQLite file, which only one process serves. The database's clock is read again
// every few seconds until the store closes; own measures the time in between.
func (s *Store) Clock(ctx context.Context, own func() time.Time) (func() time.Time, error) {
	if s.dialect.now == "" {
		return own, nil
	}
	c := &sharedClock{own: own, read: s.databaseTime}
	if err := c.measure(ctx); err != nil {
		return nil, s.public(fmt.Errorf("read the database's clock: %w", err))
	}
	if off := own().Sub(c.now()); off.Abs() > time.Second {
		s.log.WarnContext(ctx, "this machine's clock differs from the database's, whose time is used", "seconds",
			off.Seconds())
	}
	s.writers.Go(func() { s.follow(c) })
	return c.now, nil
}

func (s *Store) databaseTime(ctx context.Context) (time.Time, error) {
	var at time.Time
	_, err := s.reads.single(ctx).one("SELECT "+s.dialect.now, nil, scanTime(&at))
	return at, err
}

// follow measures a clock regularly until the store closes.
func (s *Store) follow(c *sharedClock) {
	tick := time.NewTicker(clockPause)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.closing:
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), clockPause)
		if err := c.measure(ctx); err != nil {
			s.log.Debug("the database's clock could not be read", "err", err)
		}
		cancel()
	}
}
