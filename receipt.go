package lyceum

import "time"

// SellerID names a version of a school's seller.
type SellerID int32

// Seller is who sells in a school, as receipts name them. It is never changed: a school
// that changes its seller has another version from then on.
type Seller struct {
	ID        SellerID
	Name      string // empty: the school issues no receipts
	Address   string // lines
	TaxNumber string // empty for none
	Prefix    string // before the numbers of receipts; empty for none
	Since     time.Time
}

// Shown is the fingerprint of what can be changed of a seller.
func (s *Seller) Shown() string { return Fingerprint(s.Name, s.Address, s.TaxNumber, s.Prefix) }

// SellerFilter narrows versions of a seller, which are listed newest first.
type SellerFilter struct{}

// The bounds of a seller, in characters.
const (
	MaxSellerName    = 200
	MaxSellerAddress = 500
	MaxTaxNumber     = 50
	MaxReceiptPrefix = 20
)

// ReceiptID is the number of a receipt or a credit note. A school's numbers are 1, 2, 3
// and so on without gaps, in the order in which they were issued.
type ReceiptID int32

// Receipt says what a buyer paid, or, as a credit note, what they were refunded. It is
// never changed.
type Receipt struct {
	ID          ReceiptID
	Transaction TransactionID
	Refund      Opt[MovementID] // of a credit note
	User        UserID
	Seller      SellerID
	IssuedAt    time.Time
	PaidAt      time.Time // of a credit note: when it was refunded
	Item        string    // what was sold, as it was called then
	Currency    Currency
	Price       Minor // without tax
	Tax         Minor
}

// Total is what was paid or refunded in all.
func (r *Receipt) Total() Minor { return r.Price + r.Tax }

// ReceiptFilter narrows receipts and credit notes, which are listed newest first; an
// absent part holds always.
type ReceiptFilter struct {
	User        Opt[UserID]
	Transaction Opt[TransactionID]
	// Transactions are those whose receipts are found; nil: all.
	Transactions []TransactionID
	CreditNotes  Opt[bool] // false: only receipts
}
