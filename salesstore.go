package lyceum

import (
	"context"
	"time"
)

// ExpiredCursor is the moment, in microseconds, up to which a school took note
// of enrollments that expired. What had expired before it first did is history.
const ExpiredCursor = "expired"

// ExpiredWithin is the id up to which it took note of those that expired in the
// microsecond after ExpiredCursor.
const ExpiredWithin = "expired_within"

// SalesReader is the part of a reader that knows single sales and the journal
// as others follow it. Single things that are not in the school are NotFound.
type SalesReader interface {
	GetSale(ctx context.Context, school SchoolID, id SaleID) (Sale, error)
	GetTransaction(ctx context.Context, school SchoolID, id TransactionID) (Transaction, error)
	// FindTransactionsOf gives the transactions of a sale, oldest first.
	FindTransactionsOf(ctx context.Context, school SchoolID, sale SaleID) ([]Transaction, error)
	// FindMovements gives the movements of a sale by id.
	FindMovements(ctx context.Context, school SchoolID, sale SaleID) ([]Movement, error)
	// FindReferences gives the names that transactions have in the payment
	// system, for those that have one.
	FindReferences(ctx context.Context, school SchoolID, ids []TransactionID) (map[TransactionID]string, error)
	GetOrder(ctx context.Context, school SchoolID, id OrderID) (PurchaseOrder, error)

	// FindChanges gives a part of the journal with its objects, all of one
	// moment.
	FindChanges(ctx context.Context, school SchoolID, f ChangeFilter) (ChangeListing, error)
	// GetObject gives the object that entries of a type are about, as in
	// ChangeRecord; nil when it is gone.
	GetObject(ctx context.Context, school SchoolID, of EntryType, id int32) (any, error)
	// LastEntry gives the number of the school's last entry; 0 without any.
	LastEntry(ctx context.Context, school SchoolID) (int64, error)
	// LastEntries gives the last entry of each of some schools that has one.
	LastEntries(ctx context.Context, schools []SchoolID) (JournalEnds, error)
	// FindOverdue gives the schools where an enrollment has expired since
	// ExpiredCursor, which may not be there yet, or an order is to be abandoned.
	FindOverdue(ctx context.Context, now time.Time) ([]SchoolID, error)
}

// SalesTx is the part of a transaction that keeps sales.
type SalesTx interface {
	CreateMovement(m Movement) error
	SaveOrders(orders []PurchaseOrder) (Saved, error)
	// SetPolicy changes what happens when sales end.
	SetPolicy(policy SalePolicy) error
	// SetTimeZone appends an entry when the zone was another.
	SetTimeZone(zone TimeZone) error
	// TakeReference keeps the name that a transaction has in the payment
	// system. It fails with Conflict when another transaction has it.
	TakeReference(reference string, id TransactionID) error

	// Announce marks the entry of this change of that type and object as an
	// event, and appends such an entry where there is none. Detail is JSON, or
	// empty.
	Announce(entry EntryType, id int32, event EventName, detail string)

	// ClaimAnswer makes a key of the stamp's actor this change's own, unless an
	// answer is kept for it: that one it gives, and false. Others who claim the
	// key wait. The same key of another actor is another key.
	ClaimAnswer(a KeptAnswer) (kept KeptAnswer, fresh bool, err error)
	KeepAnswer(key, body string) error

	// These are Reader's inside the transaction.
	GetPolicy() (SalePolicy, error)
	GetSale(id SaleID) (Sale, error)
	GetTransaction(id TransactionID) (Transaction, error)
	// GetFirstTransaction and GetLastTransaction give the oldest and the newest
	// transaction of a sale, if it has one.
	GetFirstTransaction(sale SaleID) (Opt[Transaction], error)
	GetLastTransaction(sale SaleID) (Opt[Transaction], error)
	GetOrder(id OrderID) (PurchaseOrder, error)
	// FindOffer gives a pricing plan, if it is there, and tells whether a user
	// is.
	FindOffer(plan PricingPlanID, user UserID) (offer Opt[PricingPlan], known bool, err error)
	// GetReference gives the name of a transaction in the payment system.
	GetReference(id TransactionID) (Opt[string], error)
	// FindLastMovement gives the last movement of a transaction of one of the
	// kinds, if there is one.
	FindLastMovement(id TransactionID, kinds ...MovementKind) (Opt[Movement], error)
	// CountSales gives the number of sales with a pricing plan that have not
	// ended, and counts no further than most.
	CountSales(plan PricingPlanID, most int64) (int64, error)
	// FindExpired gives up to limit enrollments that nobody ended and that expired
	// in a period, the first ones, without those of its first microsecond up to
	// an id.
	FindExpired(in Period, without EnrollmentID, limit int) ([]Enrollment, error)
	// FindStaleOrders gives up to limit open orders that are to be abandoned by
	// now.
	FindStaleOrders(now time.Time, limit int) ([]PurchaseOrder, error)
}
