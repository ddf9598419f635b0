package clock

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Work does what has become due in a school.
type Work = func(context.Context, lyceum.SchoolID) error

// Options are what a Service needs to move a clock.
type Options struct {
	Store lyceum.Store
	Works map[lyceum.Waiting]Work // payments and webhooks are handled separately
	// Settle processes products and plans that have changed, which is always due immediately.
	Settle   Work
	Provider *Provider
	// Deliver sends the due webhook messages, one after the other.
	Deliver func(context.Context, lyceum.SchoolID) (Delivered, error)
	// Rest stops all other background work until resume is called.
	Rest func() (resume func())
	// States saves and restores states of the sandbox.
	States States
	Log    *slog.Logger
}

// Delivered counts attempts to deliver messages to webhooks.
type Delivered struct{ Sent, Failed int }

// Service moves a clock.
type Service struct {
	Options

	clock *Clock
	ctx   context.Context //nolint:containedctx // of moves, which outlive their requests
	stop  context.CancelFunc

	mu      sync.Mutex
	move    *move // in progress; nil if there is none
	retired bool
	keeping sync.Mutex // guards saving and deleting snapshots
	work    sync.WaitGroup
}

// New returns a Service for the clock. Call Close to stop it.
func New(clock *Clock, o Options) *Service {
	s := &Service{Options: o, clock: clock}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Close interrupts a move in progress. Resume continues it.
func (s *Service) Close() {
	s.stop()
	s.work.Wait()
}

// Time is the time of a clock, and what comes next.
type Time struct {
	Now    time.Time
	Stands bool                // it stands still between moves
	Moving *Moved              // the progress of a move; nil if there is none
	Next   lyceum.Opt[NextOne] // what is due next
	// Payment is when the next payment is due or retried.
	Payment lyceum.Opt[time.Time]
}

// NextOne is the first thing that is due.
type NextOne struct {
	At   time.Time
	What lyceum.Waiting
}

// Moved is what a move of the clock has done.
type Moved struct {
	From, To       time.Time
	At             time.Time // the time reached so far; To at the end
	Payments       int       // made up by the provider
	FailedPayments int
	Deliveries     Delivered
	Events         map[lyceum.EventName]int64 // in the journal; set at the end
}

// Show returns the time of the clock.
func (s *Service) Show(ctx context.Context, by lyceum.By, _ struct{}) (Time, error) {
	s.mu.Lock()
	t := Time{Stands: s.clock.standing()}
	if s.move != nil {
		done := s.move.Moved
		t.Moving, t.Stands = &done, s.move.stood
	}
	s.mu.Unlock()
	t.Now = s.clock.Now()
	next, err := s.next(ctx, by.School, t.Now)
	if err != nil {
		return t, err
	}
	if at, what, found := next.first(); found {
		t.Next = lyceum.Some(NextOne{at, what[0]})
	}
	if at, due := next.At[lyceum.PaymentDue]; due {
		t.Payment = lyceum.Some(at)
	}
	return t, nil
}

// Moving returns the time that the clock is being moved to, if it is.
func (s *Service) Moving() lyceum.Opt[time.Time] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.move == nil {
		return lyceum.None[time.Time]()
	}
	return lyceum.Some(s.move.To)
}

// upcoming is what is due next.
type upcoming struct{ lyceum.NextDue }

// next returns what is due after now. Messages held back by a webhook's rate limit are due in
// the next minute.
func (s *Service) next(ctx context.Context, school lyceum.SchoolID, now time.Time) (upcoming, error) {
	params := lyceum.NextQuery{After: now, Tries: tries}
	chosen, err := s.Store.In(ctx, school).GetSchool()
	if err != nil {
		return upcoming{}, err
	}
	if chosen.Policy.OnLapse == lyceum.EndSale {
		params.Grace = lyceum.Some(chosen.Policy.Grace())
	}
	next, err := s.Store.FindNext(ctx, school, params)
	minute := now.Truncate(time.Minute).Add(time.Minute)
	if at, found := next.At[lyceum.WebhookAttempt]; next.Limited && (!found || minute.Before(at)) {
		next.At[lyceum.WebhookAttempt] = minute
	}
	return upcoming{next}, err
}

// first returns the first time at which something is due, and what is due then.
func (u upcoming) first() (at time.Time, what []lyceum.Waiting, found bool) {
	for _, w := range lyceum.Waitings() {
		moment, waits := u.At[w]
		switch {
		case !waits || found && moment.After(at):
		case found && moment.Equal(at):
			what = append(what, w)
		default:
			at, what, found = moment, []lyceum.Waiting{w}, true
		}
	}
	return at, what, found
}
