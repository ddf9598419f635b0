package sales

import (
	"fmt"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// account is a transaction with its refunds and disputes.
type account struct {
	lyceum.Transaction

	at       time.Time    // when it was paid
	tax      lyceum.Minor // that the movements refunded
	disputes []lyceum.Dispute
}

// openAccount reads a transaction with its refunds and disputes.
func openAccount(tables *lyceum.Tables, from lyceum.Source, id lyceum.TransactionID) (account, error) {
	t, err := tables.Transactions.Get(from, id)
	if err != nil {
		return account{}, err
	}
	a := account{Transaction: t}
	last, _, err := tables.Movements.First(from, lyceum.MovementFilter{Transaction: lyceum.Some(id), Newest: true})
	if err != nil {
		return a, err
	}
	if a.tax = last.TaxRefunded; last.ID != 0 {
		a.disputes, err = lyceum.All(tables.Disputes, from, lyceum.DisputeFilter{Transaction: lyceum.Some(id)})
	}
	return a, err
}

// since returns the earliest time at which the payment may have been made.
func (a *account) since() lyceum.Opt[time.Time] {
	if a.PurchasedAt.Before(a.CreatedAt) {
		return lyceum.Some(a.PurchasedAt)
	}
	return lyceum.Some(a.CreatedAt)
}

// accountsOf reads a sale's transactions in the order in which they were paid, with their
// disputes but without the refunded tax.
func accountsOf(tables *lyceum.Tables, from lyceum.Source, sale lyceum.SaleID) ([]account, error) {
	transactions, err := lyceum.All(tables.Transactions, from, paymentsOf(sale))
	if err != nil {
		return nil, err
	}
	var disputes []lyceum.Dispute
	if slices.ContainsFunc(transactions, func(t lyceum.Transaction) bool { return t.HasChargeback.Value }) {
		disputes, err = lyceum.All(tables.Disputes, from, lyceum.DisputeFilter{Sale: lyceum.Some(sale)})
	}
	if err != nil {
		return nil, err
	}
	names, err := lateNames(tables, from, transactions)
	accounts := make([]account, len(transactions))
	for i := range transactions {
		t := &transactions[i]
		accounts[i] = account{Transaction: *t, at: paidAt(t, names), disputes: disputesOf(disputes, t.ID)}
	}
	return byTime(accounts), err
}

func disputesOf(disputes []lyceum.Dispute, id lyceum.TransactionID) []lyceum.Dispute {
	var own []lyceum.Dispute
	for i := range disputes {
		if disputes[i].TransactionID == id {
			own = append(own, disputes[i])
		}
	}
	return own
}

// refunded returns everything that was refunded.
func (a *account) refunded() lyceum.Part { return a.RefundedPart(a.tax) }

// disputed returns the part that the banks took back, in disputes of any state or only of the
// given ones.
func (a *account) disputed(only ...lyceum.DisputeState) lyceum.Part {
	part := a.lostElsewhere()
	for i := range a.disputes {
		if d := &a.disputes[i]; d.Holds() && (len(only) == 0 || slices.Contains(only, d.State)) {
			part = part.Plus(d.Part())
		}
	}
	return part
}

// lostElsewhere returns what a chargeback took that was imported without its dispute: everything
// that was left.
func (a *account) lostElsewhere() lyceum.Part {
	holds := func(d lyceum.Dispute) bool { return d.Holds() }
	if !a.HasChargeback.Value || slices.ContainsFunc(a.disputes, holds) {
		return lyceum.Part{}
	}
	return a.PaidPart().Minus(a.refunded())
}

// back returns the part that no longer belongs to the school, or may not.
func (a *account) back() lyceum.Part { return a.refunded().Plus(a.disputed()) }

// left returns the part that can still be returned. An imported file may contain more refunds
// than fit alongside the disputes, or a price or tax below 0: that is subtracted from the other
// part.
func (a *account) left() lyceum.Part {
	left := a.PaidPart().Minus(a.back())
	return lyceum.Part{
		Price: max(left.Price+min(left.Tax, 0), 0), Tax: max(left.Tax+min(left.Price, 0), 0),
	}
}

// gone reports whether the whole price was returned, by refunds or lost disputes. Such a
// payment buys nothing.
func (a *account) gone() bool {
	return a.FullyRefunded() ||
		a.FinalPrice > 0 && a.refunded().Price+a.disputed(lyceum.DisputeLost).Price >= a.FinalPrice
}

// charged reports whether the payment moved money.
func (a *account) charged() bool { return a.Paid && a.Charge > 0 }

// returnable returns the part that can still be returned, or the reason why there is none.
func (a *account) returnable() (lyceum.Part, error) {
	left := a.left()
	open := slices.ContainsFunc(a.disputes, func(d lyceum.Dispute) bool { return d.State == lyceum.DisputeOpen })
	switch {
	case !a.charged() || a.PaidPart().Total() <= 0:
		return left, conflict("nothing_charged", "nothing was charged for transaction %d", a.ID)
	case left.Total() > 0:
		return left, nil
	case open:
		return left, conflict("chargeback_open", "transaction %d has an open chargeback: the bank holds the money", a.ID)
	case a.HasChargeback.Value:
		return left, conflict("charged_back", "transaction %d was already paid back by a chargeback", a.ID)
	}
	return left, conflict("refunded", "transaction %d is fully refunded", a.ID)
}

// exceeds returns the error for taking back more than is left.
func (a *account) exceeds() error {
	left := a.left()
	return conflict("exceeds_left", "at most %d is left of transaction %d, %d of the price and %d of the tax, "+
		"in the smallest unit of %s", left.Total(), a.ID, left.Price, left.Tax, a.Currency)
}

// keep saves a movement, and the transaction as the movement left it.
func (a *account) keep(tx lyceum.Tx, before lyceum.Transaction, m *lyceum.Movement, at time.Time) error {
	if err := checkNotes(m.Reason, m.Reference); err != nil {
		return err
	}
	var err error
	if m.ID, err = tx.Movements.NextID(tx); err != nil {
		return err
	}
	m.TransactionID, m.SaleID, m.At = a.ID, a.SaleID, lyceum.Second(at)
	m.Refunded, m.TaxRefunded = a.AmountRefunded, a.tax
	if a.Transaction != before {
		if _, err := tx.Transactions.Save(tx, a.Transaction); err != nil {
			return err
		}
	}
	if m.Kind == lyceum.Refunded {
		// The amount is stored because another refund may be saved before the event is sent.
		detail := fmt.Sprintf(`{"amount_refunded":%d}`, a.AmountRefunded)
		tx.Announce(lyceum.TransactionUpdated, int32(a.ID), lyceum.TransactionRefundedEvent, detail)
	}
	return tx.Movements.Insert(tx, *m)
}

// detail returns the transaction with one of its movements.
func (a *account) detail(tx lyceum.Tx, m lyceum.Movement) (TransactionDetail, error) {
	references, err := tx.References.Find(tx, a.ID)
	if err != nil {
		return TransactionDetail{}, err
	}
	periods, err := paidPeriods(tx.Tables, tx, a.SaleID)
	return TransactionDetail{
		Transaction: a.Transaction, TaxRefunded: a.refunded().Tax, Reference: nameIn(references, a.ID),
		Period: periodIn(periods, a.ID), Movements: []lyceum.Movement{m},
	}, err
}

// maxNote is the maximum length of a movement's reason or reference, in characters.
const maxNote = 500

// checkNotes rejects an invalid reason or reference of a movement.
func checkNotes(reason, reference lyceum.Opt[string]) error {
	var wrong []lyceum.FieldError
	for _, note := range []struct{ field, text string }{{"reason", reason.Value}, {"reference", reference.Value}} {
		if message := lyceum.CheckText(note.text, 0, maxNote); message != "" {
			wrong = append(wrong, lyceum.FieldError{Field: note.field, Message: message})
		}
	}
	if len(wrong) > 0 {
		return lyceum.InvalidFields(wrong...)
	}
	return nil
}
