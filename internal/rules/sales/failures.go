package sales

import (
	"context"
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// NewFailure is a failed attempt to charge a sale.
type NewFailure struct {
	Sale          lyceum.SaleID
	Reason        lyceum.Opt[string]
	OccurredAt    lyceum.Opt[time.Time] // absent: now
	NextAttemptAt lyceum.Opt[time.Time]
	Reference     lyceum.Opt[string] // of the payment system
}

// furthestAttempt is how long after a failed attempt the next one may be.
const furthestAttempt = 366 * 24 * time.Hour

// FailPayment records that an attempt to charge a subscription or a payment plan failed. The
// learner keeps the access until the sale's grace is over.
func (s *Service) FailPayment(ctx context.Context, by lyceum.By, n NewFailure) (lyceum.PaymentFailure, error) {
	return perform(ctx, s, by, n, s.failPayment)
}

func (s *Service) failPayment(tx lyceum.Tx, now time.Time, n NewFailure) (lyceum.PaymentFailure, error) {
	var none lyceum.PaymentFailure
	sale, err := tx.Sales.Get(tx, n.Sale)
	if err != nil {
		return none, err
	}
	if err := checkNotes(n.Reason, n.Reference); err != nil {
		return none, err
	}
	if again, err := n.again(tx); err != nil || again.Present {
		return again.Value, err
	}
	if err := n.checkTimes(lyceum.Second(now)); err != nil {
		return none, err
	}
	plan, err := planCharged(tx.Tables, tx, &sale)
	if err == nil {
		err = ongoing(&sale, &plan)
	}
	if err == nil && !sale.BillingAnchor.Present { // nothing was recorded here for it yet
		err = buy(tx, &sale, &plan)
	}
	if err != nil {
		return none, err
	}
	id, err := tx.PaymentFailures.NextID(tx)
	if err != nil {
		return none, err
	}
	f := lyceum.PaymentFailure{
		ID: id, SaleID: n.Sale, OccurredAt: n.OccurredAt.Else(lyceum.Second(now)), Reason: n.Reason,
		NextAttemptAt: n.NextAttemptAt, Reference: n.Reference,
	}
	if err := tx.PaymentFailures.Insert(tx, f); err != nil {
		return none, err
	}
	sale.BilledSince = sale.BilledSince.Or(lyceum.Second(now))
	if !sale.FailedAt.Present || sale.FailedAt.Value.Before(f.OccurredAt) {
		sale.FailedAt = lyceum.Some(f.OccurredAt)
	}
	if _, err := tx.Sales.Save(tx, sale); err != nil {
		return f, err
	}
	return f, s.since(f.OccurredAt, now).notify(tx, lyceum.PaymentFailedEmail, sale.UserID, int32(f.ID))
}

// buy stores on a sale what its payments bought.
func buy(tx lyceum.Tx, sale *lyceum.Sale, plan *lyceum.PricingPlan) error {
	accounts, err := accountsOf(tx.Tables, tx, sale.ID)
	if err != nil {
		return err
	}
	b, err := boughtBy(tx, sale, plan, accounts)
	if err == nil {
		b.apply(sale)
	}
	return err
}

// checkTimes rejects a failure in the future, and a next attempt before the failure or too long
// after it. If a failure is recorded late, the next attempt may be in the past.
func (n *NewFailure) checkTimes(now time.Time) error {
	var wrong []lyceum.FieldError
	if n.OccurredAt.Value.After(now) {
		wrong = append(wrong, lyceum.FieldError{Field: "occurred_at", Message: "must not be in the future"})
	}
	failed, next := n.OccurredAt.Else(now), n.NextAttemptAt
	if next.Present && (next.Value.Before(failed) || next.Value.Sub(failed) > furthestAttempt) {
		wrong = append(wrong, lyceum.FieldError{
			Field: "next_attempt_at", Message: "must not be before occurred_at, and at most 366 days after it",
		})
	}
	if len(wrong) > 0 {
		return lyceum.InvalidFields(wrong...)
	}
	return nil
}

// again returns the failure that was recorded with the same reference, if there is one.
func (n NewFailure) again(tx lyceum.Tx) (lyceum.Opt[lyceum.PaymentFailure], error) {
	var none lyceum.Opt[lyceum.PaymentFailure]
	if !n.Reference.Present {
		return none, nil
	}
	found, err := lyceum.All(tx.PaymentFailures, tx, lyceum.PaymentFailureFilter{Reference: n.Reference})
	kept := exact(found, n.Reference.Value, func(f *lyceum.PaymentFailure) lyceum.Opt[string] { return f.Reference })
	if err != nil || !kept.Present {
		return none, err
	}
	f := kept.Value
	of := repeated{
		reference: n.Reference.Value, kept: f.Reference.Value,
		what: fmt.Sprintf("payment failure %d of sale %d", f.ID, f.SaleID),
	}
	unlike(&of, "sale", lyceum.Some(n.Sale), f.SaleID)
	unlike(&of, "reason", n.Reason, f.Reason.Value)
	unlike(&of, "occurred_at", written(n.OccurredAt), f.OccurredAt.Format(time.RFC3339))
	unlike(&of, "next_attempt_at", written(n.NextAttemptAt), written(f.NextAttemptAt).Else("none"))
	return lyceum.Some(*f), of.refusal()
}

// written formats a time like the API does.
func written(at lyceum.Opt[time.Time]) lyceum.Opt[string] {
	return lyceum.Opt[string]{Value: at.Value.UTC().Format(time.RFC3339), Present: at.Present}
}
