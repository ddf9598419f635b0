package clock

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// The cursors that keep where a clock is, in microseconds; 0 is nowhere.
const (
	atCursor     = "clock_at"     // where it stands, or a move has come to
	aheadCursor  = "clock_ahead"  // how far it is ahead while it runs
	targetCursor = "clock_target" // of a move
)

// placePause is after how many moments a move keeps where it is. What happened
// after that is not due again when the move goes on from there.
const placePause = 100

// place is where a clock is.
type place struct {
	at, target time.Time
	ahead      time.Duration
}

// keep notes where the clock is.
func (s *Service) keep(ctx context.Context, school lyceum.SchoolID, p place) error {
	stamp := lyceum.Stamp{School: school, At: s.clock.Now(), Actor: "clock"}
	return s.Store.Write(ctx, stamp, func(tx lyceum.Tx) error {
		for name, to := range map[string]int64{
			atCursor: micros(p.at), targetCursor: micros(p.target), aheadCursor: p.ahead.Microseconds(),
		} {
			from, err := tx.GetCursor(name)
			if err == nil && from != to {
				_, err = tx.MoveCursor(name, from, to)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// micros is 0 for the zero time.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Kept returns the clock of a school as its database keeps it. If it stands, and was
// not moved beyond at before, it stands at that.
func Kept(v lyceum.View, system func() time.Time, at lyceum.Opt[time.Time]) (*Clock, error) {
	ahead, err := v.GetCursor(aheadCursor)
	if err != nil {
		return nil, err
	}
	kept, err := v.GetCursor(atCursor)
	if err != nil {
		return nil, err
	}
	running := Running(system, time.Duration(ahead)*time.Microsecond)
	if at.Present {
		latest := max(kept, at.Value.UnixMicro())
		if ahead > 0 {
			latest = max(latest, running.Now().UnixMicro())
		}
		return Standing(system, time.UnixMicro(latest).UTC()), nil
	}
	if late := time.UnixMicro(kept).Sub(running.Now()); kept > 0 && late > 0 {
		running.ahead += late
	}
	return running, nil
}

// Resume does what is due before anybody asks: it goes on with a move that was
// interrupted, to its end.
func (s *Service) Resume(ctx context.Context, school lyceum.SchoolID) error {
	v := s.Store.In(ctx, school)
	target, err := v.GetCursor(targetCursor)
	if err != nil {
		return err
	}
	at, err := v.GetCursor(atCursor)
	if err != nil {
		return err
	}
	s.mu.Lock()
	from := s.clock.Now()
	to := from
	if target > 0 {
		from, to = time.UnixMicro(at).UTC(), time.UnixMicro(max(target, at)).UTC()
		s.Log.Info("the clock continues to where it was being moved", "to", to)
	}
	m := newMove(school, from, to, s.clock.standing())
	m.resumed = target > 0
	s.start(m)
	s.mu.Unlock()
	select {
	case <-m.done:
		return m.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave ends a move. One that failed goes on at the next start.
func (s *Service) leave(ctx context.Context, m *move, failed error) error {
	var ahead time.Duration
	if !m.stood {
		ahead = s.clock.run(m.At.Sub(m.From))
	}
	if failed != nil {
		return failed
	}
	p := place{ahead: ahead}
	if m.stood {
		p.at = m.To
	}
	return s.keep(ctx, m.school, p)
}
