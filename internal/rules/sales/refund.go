package sales

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Refund is money returned to the buyer, in the transaction's currency. Without Amount and
// Total it is everything that is left.
type Refund struct {
	Transaction lyceum.TransactionID
	Amount      lyceum.Opt[lyceum.Minor] // of the price; its share of the tax is refunded with it
	Total       lyceum.Opt[lyceum.Minor] // including tax
	EndAccess   lyceum.Opt[bool]         // absent: a full refund does what the school's policy says
	// ChargingStopped says that, if the refund ends the sale, the payment system no longer
	// charges it.
	ChargingStopped bool
	Reason          lyceum.Opt[string]
	Reference       lyceum.Opt[string]    // of the payment system
	OccurredAt      lyceum.Opt[time.Time] // when it was refunded; absent: now
}

// Refund records that a transaction was refunded, in full or in part. All refunds and disputes
// together never exceed its price with tax. When every payment of a sale is fully refunded, the
// sale ends.
func (s *Service) Refund(ctx context.Context, by lyceum.By, r Refund) (TransactionDetail, error) {
	return perform(ctx, s, by, r, s.refund)
}

// PreviewRefund returns what Refund would do.
func (s *Service) PreviewRefund(
	ctx context.Context, by lyceum.By, r Refund, p lyceum.Page,
) (Preview, error) {
	return preview(ctx, s, by, p, r, ofTransaction(r.Transaction), s.refund)
}

func (s *Service) refund(tx lyceum.Tx, now time.Time, r Refund) (TransactionDetail, error) {
	a, err := openAccount(tx.Tables, tx, r.Transaction)
	if err != nil {
		return TransactionDetail{}, err
	}
	if err := checkNotes(r.Reason, r.Reference); err != nil {
		return TransactionDetail{}, err
	}
	if again, err := r.again(tx.Tables, tx); err != nil || again.Present {
		if err != nil {
			return TransactionDetail{}, err
		}
		return a.detail(tx, again.Value)
	}
	part, err := r.part(&a)
	if err == nil {
		err = checkOccurred(r.OccurredAt, lyceum.Second(now), a.since(), "the payment")
	}
	if err != nil {
		return TransactionDetail{}, err
	}
	at := lyceum.Second(r.OccurredAt.Else(now))
	if err := s.enroller.Relink(tx, now, a.UserID); err != nil {
		return TransactionDetail{}, err
	}
	before := a.Transaction
	a.AmountRefunded += part.Price
	a.tax += part.Tax
	if !a.RefundedAt.Present || a.RefundedAt.Value.Before(at) {
		a.RefundedAt = lyceum.Some(at)
	}
	m := lyceum.Movement{
		Kind: lyceum.Refunded, Amount: part.Price, Tax: part.Tax, Reason: r.Reason, Reference: r.Reference,
	}
	if err := a.keep(tx, before, &m, at); err != nil {
		return TransactionDetail{}, err
	}
	if err := issueCreditNote(tx, now, &m); err != nil {
		return TransactionDetail{}, err
	}
	if a.gone() || r.EndAccess.Value {
		end := Ending{a.SaleID, r.ChargingStopped}
		if err := s.since(at, now).settle(tx, now, end, lyceum.SaleRefunded, r.EndAccess); err != nil {
			return TransactionDetail{}, err
		}
	}
	return a.detail(tx, m)
}

// part returns the part of a transaction that is refunded.
func (r Refund) part(a *account) (lyceum.Part, error) {
	left, err := a.returnable()
	if err != nil {
		return left, err
	}
	switch {
	case r.Amount.Present && r.Total.Present:
		return left, lyceum.InvalidFields(lyceum.FieldError{
			Field: "total", Message: "must not be sent together with amount: each follows from the other",
		})
	case r.Amount.Present && r.Amount.Value < 1:
		return left, lyceum.InvalidFields(lyceum.FieldError{Field: "amount", Message: "must be at least 1"})
	case r.Total.Present && r.Total.Value < 1:
		return left, lyceum.InvalidFields(lyceum.FieldError{Field: "total", Message: "must be at least 1"})
	case r.Amount.Value > left.Price, r.Total.Value > left.Total():
		return left, a.exceeds()
	case r.Amount.Present:
		return a.PaidPart().ByPrice(a.back(), r.Amount.Value), nil
	case r.Total.Present:
		return a.PaidPart().ByTotal(a.back(), r.Total.Value), nil
	}
	return left, nil
}

// Returnable returns a transaction and what can still be refunded of it. It fails if Refund
// would fail for any amount.
func (s *Service) Returnable(
	ctx context.Context, by lyceum.By, id lyceum.TransactionID,
) (lyceum.Transaction, lyceum.Part, error) {
	v := s.store.In(ctx, by.School)
	a, err := openAccount(v.Tables, v, id)
	if err != nil {
		return lyceum.Transaction{}, lyceum.Part{}, err
	}
	left, err := a.returnable()
	return a.Transaction, left, err
}

// CheckOnce fails if the caller has already acted with the same by.Once, as that act would.
// by.Once must be set.
func (s *Service) CheckOnce(ctx context.Context, by lyceum.By) error {
	return lyceum.CheckOnce(ctx, s.store, by.Stamp(s.clock()))
}
