package clock

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// The cursors that store the position of a clock, in microseconds; 0 means none.
const (
	atCursor     = "clock_at"     // the time at which it stands, or that a move has reached
	aheadCursor  = "clock_ahead"  // how far it is ahead while it runs
	targetCursor = "clock_target" // the target of a move
)

// placePause is after how many steps a move saves its position. What was done after that is not
// due again when the move resumes from there.
const placePause = 100

// place is the position of a clock.
type place struct {
	at, target time.Time
	ahead      time.Duration
}

// keep saves the position of the clock.
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

// micros returns t in microseconds, or 0 for the zero time.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Kept returns the clock of a school as stored in its database. If at is present, the clock
// stands at that time, or at the latest time that it was moved to if that is later.
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

// Resume does what is due before the first request: it continues an interrupted move, and
// returns when it is done.
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

// leave ends a move. A failed move is resumed at the next start.
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
