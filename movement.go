package lyceum

import "time"

// MovementKind is what happened to the money of a transaction after it was
// charged.
type MovementKind string

// The kinds of movements.
const (
	Refunded         MovementKind = "refund"
	ChargebackOpened MovementKind = "chargeback_opened"
	ChargebackWon    MovementKind = "chargeback_won"
	ChargebackLost   MovementKind = "chargeback_lost"
)

// Movement is one thing that happened to the money of a transaction. It is
// never changed.
type Movement struct {
	ID            MovementID
	TransactionID TransactionID
	SaleID        SaleID
	Kind          MovementKind
	Amount        Minor // a refund: of the price; a chargeback opened: its fee
	Tax           Minor // of a refund
	Refunded      Minor // of the price, by all refunds of the transaction up to this movement
	TaxRefunded   Minor // of the tax, likewise
	Dispute       Opt[DisputeID]
	At            time.Time
	Reason        Opt[string]
	Reference     Opt[string] // of the payment system
}

// MovementFilter narrows movements; an absent part holds always.
type MovementFilter struct {
	Sale        Opt[SaleID]
	Transaction Opt[TransactionID]
	Kinds       []MovementKind // empty: all
	// Transactions are those whose movements are found; nil: all.
	Transactions []TransactionID
	Affiliate    Opt[AffiliateID] // of the transaction
	Author       Opt[AuthorID]    // of the transaction
	In           Opt[Period]      // by time, then by transaction
	Newest       bool             // by descending id, not ascending
	Reference    Opt[string]      // in any case of its letters
}
