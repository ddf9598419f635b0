package clock

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// furthest is the maximum distance of one move, in years.
const furthest = 10

// move is a move in progress. Service.mu guards its progress.
type move struct {
	Moved

	school  lyceum.SchoolID
	stood   bool // the clock stands between moves
	resumed bool
	entry   int64 // the last journal entry before the move
	steps   int
	done    chan struct{}
	err     error
}

func newMove(school lyceum.SchoolID, from, to time.Time, stood bool) *move {
	return &move{
		Moved: Moved{From: from, To: to, At: from}, school: school, stood: stood, done: make(chan struct{}),
	}
}

// Distance is how far to move a clock: to a time, or by a calendar span.
type Distance struct {
	To lyceum.Opt[time.Time]
	By lyceum.Opt[Span]
}

// Span is a calendar span. Days, weeks, months and years are counted by the clocks of the
// school's time zone, which show the same time at the end, as for subscriptions.
type Span struct {
	Count int
	Unit  string // second, minute, hour, day, week, month or year
}

// exact maps units to their durations, if these are constant.
var exact = map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour}

// after returns the time one span after now.
func (p Span) after(now time.Time, zone *time.Location) time.Time {
	if unit, is := exact[p.Unit]; is {
		if time.Duration(p.Count) > math.MaxInt64/unit {
			return now.AddDate(furthest+1, 0, 0)
		}
		return now.Add(time.Duration(p.Count) * unit)
	}
	return lyceum.Billing{Anchor: now, Interval: p.Unit, Count: p.Count, Zone: zone}.Begin(1)
}

// Move moves the clock and returns when everything on the way is done. The move continues if
// ctx ends before.
func (s *Service) Move(ctx context.Context, by lyceum.By, d Distance) (Moved, error) {
	school, err := s.Store.In(ctx, by.School).GetSchool()
	if err != nil {
		return Moved{}, err
	}
	zone, err := school.TimeZone.Location()
	if err != nil {
		return Moved{}, err
	}
	m, err := s.begin(ctx, by.School, func(now time.Time) (time.Time, error) { return d.Target(now, zone) })
	if err != nil {
		return Moved{}, err
	}
	select {
	case <-m.done:
		return m.Moved, m.err
	case <-ctx.Done():
		return Moved{}, ctx.Err()
	}
}

// Target returns the time that a clock at now is to be moved to.
func (d Distance) Target(now time.Time, zone *time.Location) (time.Time, error) {
	field, to := "to", d.To.Value
	if d.By.Present {
		field, to = "advance", d.By.Value.after(now, zone)
	}
	message := ""
	switch {
	case to.Before(now):
		message = "must not be before " + now.UTC().Format(time.RFC3339) + ", which is what the clock shows: it is never " +
			"moved backwards; to go back, reset the sandbox or restore a snapshot"
	case to.After(now.AddDate(furthest, 0, 0)):
		message = "must not be more than ten years ahead of what the clock shows; move it several times"
	}
	if message != "" {
		return to, lyceum.InvalidFields(lyceum.FieldError{Field: field, Message: message})
	}
	return to, nil
}

// begin starts a move, unless one is in progress.
func (s *Service) begin(
	ctx context.Context, school lyceum.SchoolID, target func(time.Time) (time.Time, error),
) (*move, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.moving(); err != nil {
		return nil, err
	}
	if s.retired {
		return nil, &lyceum.Error{
			Kind: lyceum.Conflict, Code: "sandbox_busy", Detail: "the sandbox is being reset or restored; try again",
		}
	}
	now := s.clock.Now()
	to, err := target(now)
	if err != nil {
		return nil, err
	}
	m := newMove(school, now, to, s.clock.standing())
	if m.entry, err = s.Store.In(ctx, school).LastEntry(); err != nil {
		return nil, err
	}
	s.start(m)
	return m, nil
}

// start runs a move in the background.
func (s *Service) start(m *move) {
	s.move = m
	s.work.Go(func() {
		ctx := s.ctx
		m.err = s.run(ctx, m)
		var events map[lyceum.EventName]int64
		if m.err == nil {
			events, m.err = s.Store.CountEvents(ctx, m.school, m.entry)
		}
		s.mu.Lock()
		s.move, m.Events = nil, events
		s.mu.Unlock()
		close(m.done)
	})
}

// run moves the clock from each thing that is due to the next.
func (s *Service) run(ctx context.Context, m *move) error {
	resume := s.Rest()
	defer resume()
	s.clock.set(m.From)
	if err := s.keep(ctx, m.school, place{at: m.From, target: m.To}); err != nil {
		return s.leave(ctx, m, err)
	}
	what := lyceum.Waitings()
	if !m.resumed { // otherwise the payments due at this time were attempted when the clock reached it
		what = unpaid()
	}
	for {
		if err := s.step(ctx, m, what); err != nil {
			return s.leave(ctx, m, err)
		}
		next, err := s.next(ctx, m.school, m.At)
		if err != nil {
			return s.leave(ctx, m, err)
		}
		at, first, found := next.first()
		if slices.Contains(first, lyceum.PeriodEnd) { // a sale that follows another one must be paid
			first = append(first, lyceum.PaymentDue)
		}
		if next.Unsettled || next.Webhooks {
			first = append(first, lyceum.WebhookAttempt)
		}
		if !found || at.After(m.To) {
			break
		}
		if what = first; m.steps%placePause == 0 {
			if err := s.keep(ctx, m.school, place{at: at, target: m.To}); err != nil {
				return s.leave(ctx, m, err)
			}
		}
		s.advance(m, at)
	}
	s.advance(m, m.To)
	return s.leave(ctx, m, s.step(ctx, m, unpaid()))
}

// unpaid returns everything that can be scheduled, except payments.
func unpaid() []lyceum.Waiting {
	return slices.DeleteFunc(lyceum.Waitings(), func(w lyceum.Waiting) bool { return w == lyceum.PaymentDue })
}

// advance sets the clock of a move to the given time.
func (s *Service) advance(m *move, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.At, m.steps = at, m.steps+1
	s.clock.set(at)
}

// step does what is due at the current time of a move.
func (s *Service) step(ctx context.Context, m *move, what []lyceum.Waiting) error {
	for _, w := range lyceum.Waitings() {
		if !slices.Contains(what, w) {
			continue
		}
		if do, has := s.Works[w]; has {
			s.note(ctx, m, string(w), do(ctx, m.school))
		}
		if w != lyceum.PaymentDue {
			continue
		}
		done, err := s.Provider.charge(ctx, m.school, m.At)
		s.note(ctx, m, "payments", err)
		s.mu.Lock()
		m.Payments, m.FailedPayments = m.Payments+done.paid, m.FailedPayments+done.failed
		s.mu.Unlock()
	}
	if !slices.Contains(what, lyceum.WebhookAttempt) {
		return ctx.Err()
	}
	s.note(ctx, m, "settling", s.Settle(ctx, m.school))
	done, err := s.Deliver(ctx, m.school)
	s.note(ctx, m, "webhooks", err)
	s.mu.Lock()
	m.Deliveries.Sent, m.Deliveries.Failed = m.Deliveries.Sent+done.Sent, m.Deliveries.Failed+done.Failed
	s.mu.Unlock()
	return ctx.Err()
}

// note logs what could not be done. The move continues without it.
func (s *Service) note(ctx context.Context, m *move, what string, err error) {
	if err != nil && ctx.Err() == nil {
		s.Log.WarnContext(ctx, "something that was due could not be processed", "what", what, "at", m.At, "err", err)
	}
}
