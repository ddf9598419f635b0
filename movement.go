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
	Amount        Minor // a refund: given back; a chargeback opened: its fee
	Refunded      Minor // all refunds of the transaction up to this movement
	At            time.Time
	Reason        Opt[string]
	Reference     Opt[string] // of the payment system
}

// MovementFilter narrows movements; an absent part holds always.
type MovementFilter struct {
	Sale        Opt[SaleID]
	Transaction Opt[TransactionID]
	Kinds       []MovementKind // empty: all
	Newest      bool           // by descending id, not ascending
}
