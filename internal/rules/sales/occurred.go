package sales

import (
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Events at the payment system may be recorded later, together with the time when they
// happened. The periods that a payment buys are counted from that time.

// checkTime rejects a payment that was made in the future, or before what it pays for began.
// Only a payment with a reference can be marked as recorded late, because an import may use
// purchased_at with another meaning.
func (a Amounts) checkTime(now time.Time, reference lyceum.Opt[string], since lyceum.Opt[time.Time]) error {
	if a.OccurredAt.Present && !reference.Present {
		return wrongTime("must be sent together with reference")
	}
	return checkOccurred(a.OccurredAt, now, since, "the sale")
}

// checkOccurred rejects a time in the future, or before something began.
func checkOccurred(at lyceum.Opt[time.Time], now time.Time, since lyceum.Opt[time.Time], what string) error {
	switch {
	case !at.Present:
		return nil
	case at.Value.After(now):
		return wrongTime("must not be in the future")
	case since.Present && at.Value.Before(since.Value):
		return wrongTime("must not be before " + what + " (" + moment(since.Value) + ")")
	}
	return nil
}

func wrongTime(message string) error {
	return lyceum.InvalidFields(lyceum.FieldError{Field: "occurred_at", Message: message})
}

// earliest returns the earliest time of a purchase that follows another one.
func (n *NewSale) earliest() lyceum.Opt[time.Time] {
	if n.replaces == nil {
		return lyceum.None[time.Time]()
	}
	if anchor := n.replaces.BillingAnchor; anchor.Present && anchor.Value.Before(n.replaces.CreatedAt) {
		return anchor
	}
	return lyceum.Some(n.replaces.CreatedAt)
}

// earliestRenewal returns the earliest time of a renewal: the first payment, or shortly before
// the first period of a sale that followed another one.
func earliestRenewal(sale *lyceum.Sale, accounts []account) lyceum.Opt[time.Time] {
	if len(accounts) > 0 {
		return lyceum.Some(accounts[0].at)
	}
	return lyceum.Some(sale.PaidUntil.Else(sale.CreatedAt).Add(-renewedEarly))
}

// start returns the earliest known time of a sale.
func start(sale *lyceum.Sale, accounts []account) time.Time {
	if len(accounts) > 0 && accounts[0].at.Before(sale.CreatedAt) {
		return accounts[0].at
	}
	return sale.CreatedAt
}

// lateNames finds the references of the transactions that may have been recorded late.
func lateNames(
	tables *lyceum.Tables, from lyceum.Source, transactions []lyceum.Transaction,
) (map[lyceum.TransactionID]lyceum.Reference, error) {
	var late []lyceum.TransactionID
	for i := range transactions {
		if transactions[i].PurchasedAt.Before(transactions[i].CreatedAt) {
			late = append(late, transactions[i].ID)
		}
	}
	if late == nil { // saves a statement
		return map[lyceum.TransactionID]lyceum.Reference{}, nil
	}
	return tables.References.Find(from, late...)
}

// paidAt returns when a payment was made. An imported purchased_at has another meaning.
func paidAt(t *lyceum.Transaction, references map[lyceum.TransactionID]lyceum.Reference) time.Time {
	if _, here := references[t.ID]; here && t.PurchasedAt.Before(t.CreatedAt) {
		return t.PurchasedAt
	}
	return t.CreatedAt
}

// byTime returns payments in the order in which they were made.
func byTime(accounts []account) []account {
	compare := func(a, b account) int { return a.at.Compare(b.at) }
	if slices.IsSortedFunc(accounts, compare) {
		return accounts
	}
	return slices.SortedStableFunc(slices.Values(accounts), compare)
}
