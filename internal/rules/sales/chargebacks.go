package sales

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Chargeback is a dispute of everything that is left of a payment.
type Chargeback struct {
	Transaction lyceum.TransactionID
	Fee         lyceum.Minor // what the bank charges for it, in the transaction's currency
	Reason      lyceum.Opt[string]
	Reference   lyceum.Opt[string]    // of the payment system
	OccurredAt  lyceum.Opt[time.Time] // when it was opened; absent: now
}

// OpenChargeback opens a dispute of everything that is left of a transaction that has no
// dispute.
func (s *Service) OpenChargeback(ctx context.Context, by lyceum.By, c Chargeback) (TransactionDetail, error) {
	return perform(ctx, s, by, c, s.openChargeback)
}

// PreviewOpenChargeback returns what OpenChargeback would do.
func (s *Service) PreviewOpenChargeback(
	ctx context.Context, by lyceum.By, c Chargeback, p lyceum.Page,
) (Preview, error) {
	return preview(ctx, s, by, p, c, ofTransaction(c.Transaction), s.openChargeback)
}

func (s *Service) openChargeback(tx lyceum.Tx, now time.Time, c Chargeback) (TransactionDetail, error) {
	a, err := openAccount(tx.Tables, tx, c.Transaction)
	if err != nil {
		return TransactionDetail{}, err
	}
	if err := checkNotes(c.Reason, c.Reference); err != nil {
		return TransactionDetail{}, err
	}
	n := NewDispute{
		Transaction: c.Transaction, Fee: c.Fee, Reason: c.Reason, Reference: c.Reference, OccurredAt: c.OccurredAt,
	}
	again, err := n.again(tx)
	switch {
	case err != nil:
		return TransactionDetail{}, err
	case again.Present:
		return a.opening(tx, again.Value.ID)
	case a.HasChargeback.Value:
		return TransactionDetail{}, conflict("charged_back", "transaction %d already has a chargeback", a.ID)
	}
	_, m, err := a.dispute(tx, n, now)
	if err != nil {
		return TransactionDetail{}, err
	}
	return a.detail(tx, m)
}

// opening returns the transaction with the movement that opened one of its disputes.
func (a *account) opening(tx lyceum.Tx, id lyceum.DisputeID) (TransactionDetail, error) {
	opened, err := lyceum.All(tx.Movements, tx, lyceum.MovementFilter{
		Transaction: lyceum.Some(a.ID), Kinds: []lyceum.MovementKind{lyceum.ChargebackOpened},
	})
	if err != nil {
		return TransactionDetail{}, err
	}
	var of lyceum.Movement
	for i := range opened {
		if opened[i].Dispute == lyceum.Some(id) {
			of = opened[i]
		}
	}
	return a.detail(tx, of)
}

// Outcome is the outcome of a transaction's open dispute.
type Outcome struct {
	Transaction lyceum.TransactionID
	State       lyceum.DisputeState // DisputeWon or DisputeLost
	FeeReturned lyceum.Opt[bool]    // if it is won; absent: no
	Reason      lyceum.Opt[string]
	OccurredAt  lyceum.Opt[time.Time] // when it ended; absent: now
}

// CloseChargeback closes the open dispute of a transaction that has exactly one.
func (s *Service) CloseChargeback(ctx context.Context, by lyceum.By, o Outcome) (TransactionDetail, error) {
	return perform(ctx, s, by, o, s.closeChargeback)
}

// PreviewCloseChargeback returns what CloseChargeback would do.
func (s *Service) PreviewCloseChargeback(
	ctx context.Context, by lyceum.By, o Outcome, p lyceum.Page,
) (Preview, error) {
	return preview(ctx, s, by, p, o, ofTransaction(o.Transaction), s.closeChargeback)
}

func (s *Service) closeChargeback(tx lyceum.Tx, now time.Time, o Outcome) (TransactionDetail, error) {
	a, err := openAccount(tx.Tables, tx, o.Transaction)
	if err != nil {
		return TransactionDetail{}, err
	}
	var open []lyceum.Dispute
	for i := range a.disputes {
		if a.disputes[i].State == lyceum.DisputeOpen {
			open = append(open, a.disputes[i])
		}
	}
	switch {
	case len(open) == 0:
		return TransactionDetail{}, conflict("no_open_chargeback", "transaction %d has no open chargeback", a.ID)
	case len(open) > 1:
		return TransactionDetail{}, conflict("several_disputes", "transaction %d has %d open disputes, %d and others: "+
			"close each of them by its id", a.ID, len(open), open[0].ID)
	}
	if o.State == lyceum.DisputeLost && o.FeeReturned.Value {
		return TransactionDetail{}, errFeeOfLost()
	}
	m, err := s.keepOutcome(tx, now, &a, &open[0], DisputeOutcome{
		Dispute: open[0].ID, State: o.State, FeeReturned: o.FeeReturned, Reason: o.Reason, OccurredAt: o.OccurredAt,
	})
	if err != nil {
		return TransactionDetail{}, err
	}
	return a.detail(tx, m)
}
