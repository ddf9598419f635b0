package lyceum

import "time"

// DisputeState is how far a dispute has come.
type DisputeState string

// The states of a dispute. A lost one can still be won, when the bank reverses
// its decision.
const (
	DisputeOpen DisputeState = "open"
	DisputeWon  DisputeState = "won"
	DisputeLost DisputeState = "lost"
)

// Dispute is a payment, or a part of one, that the buyer's bank took back.
type Dispute struct {
	ID            DisputeID
	TransactionID TransactionID
	SaleID        SaleID
	Amount        Minor // what the bank took, tax included
	Tax           Minor // of it
	Fee           Minor // what the bank charges for it
	FeeReturned   bool
	State         DisputeState
	OpenedAt      time.Time
	ClosedAt      Opt[time.Time]
	Reason        Opt[string]
	Reference     Opt[string] // of the payment system
}

// Part is what the bank took.
func (d *Dispute) Part() Part { return Part{Price: d.Amount - d.Tax, Tax: d.Tax} }

// Holds reports whether the bank has the money.
func (d *Dispute) Holds() bool { return d.State != DisputeWon }

// DisputeFilter narrows disputes; an absent part holds always.
type DisputeFilter struct {
	Transaction Opt[TransactionID]
	// Transactions are those whose disputes are found; nil: all.
	Transactions []TransactionID
	Sale         Opt[SaleID]
	Reference    Opt[string] // in any case of its letters
}
