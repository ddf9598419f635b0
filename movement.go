package lyceum

import "time"

// MovementKind is what happened to the money of a transaction after the payment.
type MovementKind string

// The kinds of movements.
const (
	Refunded         MovementKind = "refund"
	ChargebackOpened MovementKind = "chargeback_opened"
	ChargebackWon    MovementKind = "chargeback_won"
	ChargebackLost   MovementKind = "chargeback_lost"
)

// Movement is one entry in the money history of a transaction. It never changes.
type Movement struct {
	ID            MovementID
	TransactionID TransactionID
	SaleID        SaleID
	Kind          MovementKind
	Amount        Minor // for a refund, what was refunded of the price; for an opened chargeback, its fee
	Tax           Minor // for a refund, what was refunded of the tax
	Refunded      Minor // of the price, by all refunds of the transaction so far
	TaxRefunded   Minor // of the tax, by all refunds of the transaction so far
	Dispute       Opt[DisputeID]
	At            time.Time
	Reason        Opt[string]
	Reference     Opt[string] // in the payment system
}

// MovementFilter narrows movements; absent fields match everything.
type MovementFilter struct {
	Sale        Opt[SaleID]
	Transaction Opt[TransactionID]
	Kinds       []MovementKind // empty: all
	// Transactions selects only movements of these transactions; nil: all.
	Transactions []TransactionID
	Affiliate    Opt[AffiliateID] // of the transaction
	Author       Opt[AuthorID]    // of the transaction
	In           Opt[Period]      // only in this period, ordered by time, then by transaction
	Newest       bool             // by descending id, instead of ascending
	Reference    Opt[string]      // case-insensitive
}
