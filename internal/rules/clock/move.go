package clock

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// furthest is how many years a clock can be moved at once.
const furthest = 10

// move is one move that is under way. Service.mu guards what it has done.
type move struct {
	Moved

	school  lyceum.SchoolID
	stood   bool // the clock stands when it is not moved
	resumed bool
	entry   int64 // the last of the journal before
	steps   int
	done    chan struct{}
	err     error
}

func newMove(school lyceum.SchoolID, from, to time.Time, stood bool) *move {
	return &move{
		Moved: Moved{From: from, To: to, At: from}, school: school, stood: stood, done: make(chan struct{}),
	}
}

// Distance is how far a clock is moved: to a moment, or by a part of the calendar.
type Distance struct {
	To lyceum.Opt[time.Time]
	By lyceum.Opt[Span]
}

// Span is a part of the calendar. Of days, weeks, months and years it is as much as
// until the clocks of the school show the same time again, as for subscriptions.
type Span struct {
	Count int
	Unit  string // second, minute, hour, day, week, month or year
}

// exact are the units that are always as long.
var exact = map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour}

// after returns the moment that is a span after another one.
func (p Span) after(now time.Time, zone *time.Location) time.Time {
	if unit, is := exact[p.Unit]; is {
		if time.Duration(p.Count) > math.MaxInt64/unit {
			return now.AddDate(furthest+1, 0, 0)
		}
		return now.Add(time.Duration(p.Count) * unit)
	}
	return lyceum.Billing{Anchor: now, Interval: p.Unit, Count: p.Count, Zone: zone}.Begin(1)
}

// Move moves the clock and returns when everything on the way has happened. It
// goes on if the caller does not wait for it.
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

// Target returns where a clock that shows now is to be moved.
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

// begin begins a move, unless there is one.
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

// start lets a move go on by itself.
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

// run moves the clock from one thing that is due to the next.
func (s *Service) run(ctx context.Context, m *move) error {
	resume := s.Rest()
	defer resume()
	s.clock.set(m.From)
	if err := s.keep(ctx, m.school, place{at: m.From, target: m.To}); err != nil {
		return s.leave(ctx, m, err)
	}
	what := lyceum.Waitings()
	if !m.resumed { // what was to be paid at this moment was tried when the clock came to it
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
		if slices.Contains(first, lyceum.PeriodEnd) { // a sale that follows another one is to be paid
			first = append(first, lyceum.PaymentDue)
		}
		if next.Unsettled || next.Told {
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

// unpaid is everything that waits but payments.
func unpaid() []lyceum.Waiting {
	return slices.DeleteFunc(lyceum.Waitings(), func(w lyceum.Waiting) bool { return w == lyceum.PaymentDue })
}

// advance lets the clock of a move show a moment.
func (s *Service) advance(m *move, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.At, m.steps = at, m.steps+1
	s.clock.set(at)
}

// step does what is due at the moment that a move has come to.
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

// note logs what could not be done at a moment: the move goes on without it.
func (s *Service) note(ctx context.Context, m *move, what string, err error) {
	if err != nil && ctx.Err() == nil {
		s.Log.WarnContext(ctx, "something that was due could not be done", "what", what, "at", m.At, "err", err)
	}
}
