package lyceum

import "time"

// DisputeState is the state of a dispute.
type DisputeState string

// The states of a dispute. A lost dispute can still be won if the bank reverses its decision.
const (
	DisputeOpen DisputeState = "open"
	DisputeWon  DisputeState = "won"
	DisputeLost DisputeState = "lost"
)

// Dispute is a payment, or part of one, that the buyer's bank took back.
type Dispute struct {
	ID            DisputeID
	TransactionID TransactionID
	SaleID        SaleID
	Amount        Minor // what the bank took, including tax
	Tax           Minor // part of Amount
	Fee           Minor // what the bank charges for the dispute
	FeeReturned   bool
	State         DisputeState
	OpenedAt      time.Time
	ClosedAt      Opt[time.Time]
	Reason        Opt[string]
	Reference     Opt[string] // in the payment system
}

// Part returns the part of the payment that the bank took.
func (d *Dispute) Part() Part { return Part{Price: d.Amount - d.Tax, Tax: d.Tax} }

// Holds reports whether the bank has the money.
func (d *Dispute) Holds() bool { return d.State != DisputeWon }

// DisputeFilter narrows disputes; absent fields match everything.
type DisputeFilter struct {
	Transaction Opt[TransactionID]
	// Transactions selects only disputes of these transactions; nil: all.
	Transactions []TransactionID
	Sale         Opt[SaleID]
	Reference    Opt[string] // case-insensitive
}
