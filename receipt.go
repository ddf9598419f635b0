package lyceum

import "time"

// SellerID identifies a version of a school's seller.
type SellerID int32

// Seller is the person or company that sells in a school, as receipts name it. It never
// changes: when a school changes its seller, that creates a new version.
type Seller struct {
	ID        SellerID
	Name      string // empty: the school issues no receipts
	Address   string // one or more lines
	TaxNumber string // empty if there is none
	Prefix    string // before the numbers of receipts; empty if there is none
	Since     time.Time
}

// Shown returns the fingerprint of the fields of a seller that can be changed.
func (s *Seller) Shown() string { return Fingerprint(s.Name, s.Address, s.TaxNumber, s.Prefix) }

// SellerFilter narrows versions of a seller, which are listed newest first.
type SellerFilter struct{}

// The maximum lengths of a seller's fields, in characters.
const (
	MaxSellerName    = 200
	MaxSellerAddress = 500
	MaxTaxNumber     = 50
	MaxReceiptPrefix = 20
)

// ReceiptID is the number of a receipt or a credit note. A school's numbers are 1, 2, 3 and so
// on without gaps, in the order of issue.
type ReceiptID int32

// Receipt states what a buyer paid or, as a credit note, what was refunded. It never changes.
type Receipt struct {
	ID          ReceiptID
	Transaction TransactionID
	Refund      Opt[MovementID] // only of a credit note
	User        UserID
	Seller      SellerID
	IssuedAt    time.Time
	PaidAt      time.Time // for a credit note, when it was refunded
	Item        string    // what was sold, by its name at that time
	Currency    Currency
	Price       Minor // without tax
	Tax         Minor
}

// Total returns the total that was paid or refunded.
func (r *Receipt) Total() Minor { return r.Price + r.Tax }

// ReceiptFilter narrows receipts and credit notes, which are listed newest first; absent fields
// match everything.
type ReceiptFilter struct {
	User        Opt[UserID]
	Transaction Opt[TransactionID]
	// Transactions selects only receipts of these transactions; nil: all.
	Transactions []TransactionID
	CreditNotes  Opt[bool] // true: only credit notes; false: only receipts
}
