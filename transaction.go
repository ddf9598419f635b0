package lyceum

import "time"

// Transaction is one payment of a sale (contract/v1.yaml, TransactionSummary). Amounts of type
// Minor are in Currency.
type Transaction struct {
	ID             TransactionID
	UserID         UserID
	PricingPlanID  PricingPlanID
	SaleID         SaleID
	CreatedAt      time.Time // whole second, UTC
	PurchasedAt    time.Time // differs from CreatedAt for renewals
	Charge         USDCents
	FinalPrice     Minor // list price without fees and taxes
	Currency       Currency
	TaxCharge      Minor
	Revenue        USDCents
	Paid           bool      // the contract's status: paid, or null
	HasChargeback  Opt[bool] // true: marked fraudulent
	ChargebackFee  Opt[Minor]
	AffiliateID    Opt[AffiliateID]
	AffiliateFees  Minor
	AuthorID       Opt[AuthorID]
	AuthorFees     Minor
	CouponID       Opt[CouponID]
	RefundedAt     Opt[time.Time]
	AmountRefunded Minor
}

// FullyRefunded reports whether something was refunded and the refunds reach the final price.
func (t *Transaction) FullyRefunded() bool {
	return t.AmountRefunded > 0 && t.AmountRefunded >= t.FinalPrice
}

// Retained reports whether something was paid and not all of it was refunded.
func (t *Transaction) Retained() bool { return t.Paid && t.FinalPrice > 0 && !t.FullyRefunded() }

// TransactionFilter narrows a list of transactions. All fields must match; absent fields match
// everything.
type TransactionFilter struct {
	UserID        Opt[UserID]
	AffiliateID   Opt[AffiliateID]
	AuthorID      Opt[AuthorID]
	CourseID      Opt[CourseID] // of the transaction's pricing plan
	PricingPlanID Opt[PricingPlanID]
	FullyRefunded Opt[bool] // false: all others
	Chargeback    Opt[bool] // false: all others, including null
	Created       Period
}

// Match reports whether t matches the filter, given the course of its pricing plan. It defines
// the filter's meaning for every store.
func (f *TransactionFilter) Match(t *Transaction, course Opt[CourseID]) bool {
	return (!f.UserID.Present || f.UserID.Value == t.UserID) &&
		(!f.AffiliateID.Present || f.AffiliateID == t.AffiliateID) &&
		(!f.AuthorID.Present || f.AuthorID == t.AuthorID) &&
		(!f.CourseID.Present || f.CourseID == course) &&
		(!f.PricingPlanID.Present || f.PricingPlanID.Value == t.PricingPlanID) &&
		(!f.FullyRefunded.Present || f.FullyRefunded.Value == t.FullyRefunded()) &&
		(!f.Chargeback.Present || f.Chargeback.Value == (t.HasChargeback == Some(true))) &&
		f.Created.Has(t.CreatedAt)
}

// Order is the direction of a list.
type Order uint8

// The orders of a list: by created_at, then by id.
const (
	NewestFirst Order = iota
	OldestFirst
)

// Page is one page of a list: Number counts from 1, and Size, at least 1, is the number of
// items on a full page.
type Page struct{ Number, Size int32 }

// Offset returns the number of items before the page; it does not overflow.
func (p Page) Offset() int64 { return (int64(p.Number) - 1) * int64(p.Size) }

// TransactionListing is one page of transactions and the exact number of all that match, both
// from one snapshot.
type TransactionListing struct {
	Transactions Transactions
	Total        int64
	Page         Page
	Version      Version // of the snapshot, if the store knows it
}

// Transactions is an immutable, ordered list of transactions.
type Transactions interface {
	Len() int
	// Read copies transaction i, counted from 0, into t.
	Read(i int, t *Transaction)
}

// TransactionSlice implements Transactions with a slice.
type TransactionSlice []Transaction

func (s TransactionSlice) Len() int { return len(s) }

func (s TransactionSlice) Read(i int, t *Transaction) { *t = s[i] }

// All returns the transactions of the page.
func (l *TransactionListing) All() []Transaction {
	all := make([]Transaction, l.Transactions.Len())
	for i := range all {
		l.Transactions.Read(i, &all[i])
	}
	return all
}

// Version is a state of a school's sales: the one after an entry of its journal. The zero
// Version is an unknown state.
type Version struct {
	Number int64
	At     time.Time
}

// TransactionQuery narrows and orders transactions; absent fields match everything.
type TransactionQuery struct {
	TransactionFilter

	Sale  Opt[SaleID]
	Sales []SaleID // nil: all
	Order Order
	// RefundedElsewhere selects transactions that were refunded in a period but not by a
	// movement, ordered by RefundedOn.
	RefundedElsewhere Opt[Period]
	// LastOf selects the last transaction of each of these sales; nil: all transactions.
	LastOf []SaleID
}
