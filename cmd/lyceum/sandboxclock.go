package main

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/demo"
	"github.com/lyceum-school/lyceum/internal/outbound/webhook"
	"github.com/lyceum-school/lyceum/internal/rules/clock"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// movedPatience is the timeout of a message to a webhook while the clock of a sandbox is moved.
const movedPatience = time.Second

// The range of times for which a school can be generated.
var (
	earliestClock = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	latestClock   = time.Date(2200, time.January, 1, 0, 0, 0, 0, time.UTC)
)

// standingAt returns the time of --clock.
func (c *sandboxCommand) standingAt() (lyceum.Opt[time.Time], error) {
	if c.Clock == "" {
		return lyceum.None[time.Time](), nil
	}
	at, err := lyceum.ParseTime(c.Clock)
	if err != nil {
		return lyceum.None[time.Time](), lyceum.InvalidFields(lyceum.FieldError{Field: "--clock", Message: err.Error()})
	}
	if at.Before(earliestClock) || at.After(latestClock) {
		return lyceum.None[time.Time](), lyceum.InvalidFields(lyceum.FieldError{
			Field: "--clock", Message: "must be from " + earliestClock.Format(time.DateOnly) + " to " +
				latestClock.Format(time.DateOnly),
		})
	}
	return lyceum.Some(at), nil
}

// movable makes the clock of a sandbox movable.
func (s *service) movable(
	ctx context.Context, moved *clock.Clock, school lyceum.SchoolID, seed uint64, states clock.States,
) error {
	sender := webhook.New(webhook.Options{Loopback: true, Timeout: movedPatience})
	s.moves = clock.New(moved, clock.Options{
		Store: s.store, Log: s.log,
		Works: map[lyceum.Waiting]clock.Work{
			lyceum.AccessEnd: s.learning.Expire, lyceum.PeriodEnd: s.sales.EndPeriods, lyceum.Lapse: s.sales.Lapse,
			lyceum.OrderAbandonment: s.sales.Abandon,
		},
		Settle:   s.settleNow,
		Provider: &clock.Provider{Store: s.store, Seed: seed, Renew: s.renewMadeUp, Fail: s.failMadeUp},
		Deliver: func(ctx context.Context, school lyceum.SchoolID) (done clock.Delivered, err error) {
			done.Sent, done.Failed, err = s.courier.SendInOrder(ctx, school, sender)
			return done, err
		},
		Rest: s.rest, States: states,
	})
	s.people.Elsewhere = s.moves
	return s.moves.Resume(ctx, school)
}

// rest pauses all background work.
func (s *service) rest() (resume func()) {
	s.turn.Lock()
	send := s.courier.Rest()
	return func() { send(); s.turn.Unlock() }
}

// settleNow does the background work that does not depend on time.
func (s *service) settleNow(ctx context.Context, school lyceum.SchoolID) error {
	err := s.learning.Settle(ctx, school)
	for more := true; more && err == nil; {
		more, err = s.continueBulkJobs(ctx)
	}
	return err
}

// renewMadeUp records a payment that a sandbox made up, and returns false if it was recorded before.
// In another currency than USD it is charged at the rate of the last payment, or at that of the
// generated data if that one was free.
func (s *service) renewMadeUp(
	ctx context.Context, by lyceum.By, sale *lyceum.Sale, reference string,
) (recorded bool, err error) {
	v := s.store.In(ctx, by.School)
	last, _, err := v.Transactions.First(v, lyceum.TransactionQuery{
		Sale: lyceum.Some(sale.ID), Order: lyceum.NewestFirst,
	})
	if err != nil {
		return false, err
	}
	now := lyceum.Second(s.clock())
	made, err := s.sales.Renew(ctx, by, sales.Renewal{
		Sale: sale.ID, Reference: lyceum.Some(reference),
		Cents: func(paid lyceum.Minor, currency lyceum.Currency) lyceum.USDCents {
			before := last.FinalPrice + last.TaxCharge
			if paid > 0 && before > 0 && last.Charge > 0 && last.Currency == currency {
				return max(1, last.Charge*lyceum.USDCents(paid)/lyceum.USDCents(before))
			}
			return demo.Cents(paid, currency)
		},
	})
	return err == nil && made.CreatedAt.Equal(now), err
}

// failMadeUp records a failed payment that a sandbox made up.
func (s *service) failMadeUp(ctx context.Context, by lyceum.By, f clock.Failure) error {
	_, err := s.sales.FailPayment(ctx, by, sales.NewFailure{
		Sale: f.Sale, Reason: lyceum.Some("card_declined"), NextAttemptAt: f.Again, Reference: lyceum.Some(f.Reference),
	})
	return err
}
