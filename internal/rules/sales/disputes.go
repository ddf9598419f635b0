package sales

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// NewDispute is a payment, or a part of one, that the buyer's bank took back. An early warning
// is not a dispute: the bank has not taken anything yet.
type NewDispute struct {
	Transaction lyceum.TransactionID
	Amount      lyceum.Opt[lyceum.Minor] // tax included; absent: all that is left
	Fee         lyceum.Minor             // what the bank charges for it, in the transaction's currency
	Reason      lyceum.Opt[string]
	Reference   lyceum.Opt[string]    // of the payment system
	OccurredAt  lyceum.Opt[time.Time] // when it was opened; absent: now
}

// OpenDispute records that the buyer's bank took money back for the time being.
func (s *Service) OpenDispute(ctx context.Context, by lyceum.By, n NewDispute) (lyceum.Dispute, error) {
	return perform(ctx, s, by, n, s.openDispute)
}

// PreviewOpenDispute returns what OpenDispute would do.
func (s *Service) PreviewOpenDispute(
	ctx context.Context, by lyceum.By, n NewDispute, p lyceum.Page,
) (Preview, error) {
	return preview(ctx, s, by, p, n, ofTransaction(n.Transaction), s.openDispute)
}

func (s *Service) openDispute(tx lyceum.Tx, now time.Time, n NewDispute) (lyceum.Dispute, error) {
	a, err := openAccount(tx.Tables, tx, n.Transaction)
	if err != nil {
		return lyceum.Dispute{}, err
	}
	if err := checkNotes(n.Reason, n.Reference); err != nil {
		return lyceum.Dispute{}, err
	}
	if again, err := n.again(tx); err != nil || again.Present {
		return again.Value, err
	}
	d, _, err := a.dispute(tx, n, now)
	return d, err
}

// dispute saves a dispute of the transaction, and its movement.
func (a *account) dispute(tx lyceum.Tx, n NewDispute, now time.Time) (lyceum.Dispute, lyceum.Movement, error) {
	part, err := n.part(a)
	if err == nil {
		err = checkOccurred(n.OccurredAt, lyceum.Second(now), a.since(), "the payment")
	}
	if most := math.MaxInt32 - a.ChargebackFee.Value; err == nil && n.Fee > most {
		err = lyceum.InvalidFields(lyceum.FieldError{
			Field: "fee", Message: fmt.Sprintf("must be at most %d: the fees of all disputes of a transaction must not "+
				"exceed %d", max(most, 0), math.MaxInt32),
		})
	}
	if err != nil {
		return lyceum.Dispute{}, lyceum.Movement{}, err
	}
	at := lyceum.Second(n.OccurredAt.Else(now))
	id, err := tx.Disputes.NextID(tx)
	if err != nil {
		return lyceum.Dispute{}, lyceum.Movement{}, err
	}
	d := lyceum.Dispute{
		ID: id, TransactionID: a.ID, SaleID: a.SaleID, Amount: part.Total(), Tax: part.Tax, Fee: n.Fee,
		State: lyceum.DisputeOpen, OpenedAt: at, Reason: n.Reason, Reference: n.Reference,
	}
	before := a.Transaction
	a.disputes = append(a.disputes, d)
	a.HasChargeback, a.ChargebackFee = lyceum.Some(true), lyceum.Some(a.ChargebackFee.Value+n.Fee)
	m := lyceum.Movement{
		Kind: lyceum.ChargebackOpened, Amount: n.Fee, Dispute: lyceum.Some(id), Reason: n.Reason, Reference: n.Reference,
	}
	if err := a.keep(tx, before, &m, at); err != nil {
		return d, m, err
	}
	return d, m, tx.Disputes.Insert(tx, d)
}

// part returns the part of a transaction that the bank took.
func (n NewDispute) part(a *account) (lyceum.Part, error) {
	left, err := a.returnable()
	switch {
	case err != nil:
		return left, err
	case !n.Amount.Present:
		return left, nil
	case n.Amount.Value < 1:
		return left, lyceum.InvalidFields(lyceum.FieldError{Field: "amount", Message: "must be at least 1"})
	case n.Amount.Value > left.Total():
		return left, a.exceeds()
	}
	return a.PaidPart().ByTotal(a.back(), n.Amount.Value), nil
}

// DisputeOutcome is the outcome of a dispute.
type DisputeOutcome struct {
	Dispute     lyceum.DisputeID
	State       lyceum.DisputeState // DisputeWon or DisputeLost
	FeeReturned lyceum.Opt[bool]    // if it is won; absent: no
	Reason      lyceum.Opt[string]
	OccurredAt  lyceum.Opt[time.Time] // when it ended; absent: now
}

// CloseDispute records the outcome of a dispute. If it is won, the money is back; if it is
// lost, a sale whose payment is lost entirely ends. A lost dispute can still be won, which
// undoes what losing it ended. Recording the same outcome again changes nothing.
func (s *Service) CloseDispute(ctx context.Context, by lyceum.By, o DisputeOutcome) (lyceum.Dispute, error) {
	return perform(ctx, s, by, o, s.closeDispute)
}

// PreviewCloseDispute returns what CloseDispute would do.
func (s *Service) PreviewCloseDispute(
	ctx context.Context, by lyceum.By, o DisputeOutcome, p lyceum.Page,
) (Preview, error) {
	return preview(ctx, s, by, p, o, ofDispute(o.Dispute), s.closeDispute)
}

func (s *Service) closeDispute(tx lyceum.Tx, now time.Time, o DisputeOutcome) (lyceum.Dispute, error) {
	d, err := tx.Disputes.Get(tx, o.Dispute)
	if err != nil {
		return d, err
	}
	same := d.State == o.State && (!o.FeeReturned.Present || o.FeeReturned.Value == d.FeeReturned)
	switch {
	case o.State == lyceum.DisputeLost && o.FeeReturned.Value:
		return d, errFeeOfLost()
	case same:
		return d, nil
	case d.State == lyceum.DisputeWon:
		fee := "did not come back"
		if d.FeeReturned {
			fee = "came back"
		}
		return d, conflict("dispute_won", "dispute %d is already won, and its fee %s", d.ID, fee)
	}
	a, err := openAccount(tx.Tables, tx, d.TransactionID)
	if err != nil {
		return d, err
	}
	_, err = s.keepOutcome(tx, now, &a, &d, o)
	return d, err
}

// errFeeOfLost returns the error for a fee that is said to be returned although the dispute is
// lost.
func errFeeOfLost() error {
	return lyceum.InvalidFields(lyceum.FieldError{
		Field: "fee_returned", Message: "must not be true when the dispute is lost",
	})
}

// keepOutcome saves the outcome of a dispute of the transaction.
func (s *Service) keepOutcome(
	tx lyceum.Tx, now time.Time, a *account, d *lyceum.Dispute, o DisputeOutcome,
) (lyceum.Movement, error) {
	since := d.ClosedAt.Else(d.OpenedAt)
	err := checkOccurred(o.OccurredAt, lyceum.Second(now), lyceum.Some(since), "the dispute was opened, or last closed")
	if err != nil {
		return lyceum.Movement{}, err
	}
	if err := s.enroller.Relink(tx, now, a.UserID); err != nil {
		return lyceum.Movement{}, err
	}
	at := lyceum.Second(o.OccurredAt.Else(now))
	wasLost, before := d.State == lyceum.DisputeLost, a.Transaction
	d.State, d.FeeReturned, d.ClosedAt = o.State, o.FeeReturned.Value, lyceum.Some(at)
	a.disputes[slices.IndexFunc(a.disputes, func(x lyceum.Dispute) bool { return x.ID == d.ID })] = *d
	a.HasChargeback = lyceum.Some(slices.ContainsFunc(a.disputes, func(x lyceum.Dispute) bool { return x.Holds() }))
	if d.FeeReturned {
		a.ChargebackFee.Value -= d.Fee
		a.ChargebackFee.Present = a.ChargebackFee.Value > 0 ||
			slices.ContainsFunc(a.disputes, func(x lyceum.Dispute) bool { return !x.FeeReturned })
	}
	m := lyceum.Movement{Kind: lyceum.ChargebackLost, Dispute: lyceum.Some(d.ID), Reason: o.Reason}
	if o.State == lyceum.DisputeWon {
		m.Kind = lyceum.ChargebackWon
	}
	if err := a.keep(tx, before, &m, at); err != nil {
		return m, err
	}
	if err := tx.Disputes.Update(tx, *d); err != nil {
		return m, err
	}
	switch {
	case wasLost:
		return m, s.restore(tx, now, a.SaleID)
	case d.State == lyceum.DisputeLost && a.gone():
		return m, s.since(at, now).settle(tx, now, Ending{Sale: a.SaleID}, lyceum.SaleChargedBack, lyceum.None[bool]())
	}
	return m, nil
}

// ShowDispute returns a dispute.
func (s *Service) ShowDispute(ctx context.Context, by lyceum.By, id lyceum.DisputeID) (lyceum.Dispute, error) {
	v := s.store.In(ctx, by.School)
	return v.Disputes.Get(v, id)
}

// Disputes returns a page of a transaction's disputes, by id.
func (s *Service) Disputes(
	ctx context.Context, by lyceum.By, id lyceum.TransactionID, p lyceum.Page,
) (lyceum.Listing[lyceum.Dispute], error) {
	v := s.store.In(ctx, by.School)
	if _, err := v.Transactions.Get(v, id); err != nil {
		return lyceum.Listing[lyceum.Dispute]{}, err
	}
	return v.Disputes.List(v, lyceum.DisputeFilter{Transaction: lyceum.Some(id)}, p)
}
