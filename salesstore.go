package lyceum

import (
	"context"
	"time"
)

// ExpiredCursor is the time, in microseconds, up to which a school has processed entitlements
// whose time is over. Those that were over when it first did so are history.
const ExpiredCursor = "expired"

// ExpiredWithin is the id up to which it has processed those that expired in the microsecond
// after ExpiredCursor.
const ExpiredWithin = "expired_within"

// SalesReader is the part of Reader that reads the sales of a school, and the journals of
// several schools.
type SalesReader interface {
	// FindTransactions returns a page and the exact total, from one snapshot.
	FindTransactions(
		ctx context.Context, school SchoolID, f TransactionFilter, o Order, p Page,
	) (TransactionListing, error)
	// SumSales returns the sums of each query, all from one snapshot.
	SumSales(ctx context.Context, school SchoolID, queries ...SalesSumQuery) ([][]SalesSum, error)
	// ScanTransactions calls visit with all transactions, in batches and in any order, as
	// quickly as the store can. A transaction that changes meanwhile is seen as it was before
	// or after.
	ScanTransactions(ctx context.Context, school SchoolID, visit func([]Transaction) error) error
	// LastEntries returns the last entry of each school that has one.
	LastEntries(ctx context.Context, schools []SchoolID) (JournalEnds, error)
	// FindOverdue returns the schools in which, as of now, an entitlement has expired since
	// ExpiredCursor, or that cursor does not exist yet or is in the future; the holders of a
	// product that was added or removed are not settled; the buyers of a pricing plan are not
	// linked again; a sale stops, lapses or changes its plan; an order must be abandoned; or
	// somebody must be erased.
	FindOverdue(ctx context.Context, now time.Time) ([]SchoolID, error)
	// FindNext returns what is due next in a school.
	FindNext(ctx context.Context, school SchoolID, q NextQuery) (NextDue, error)
	// CountEvents counts the events in a school's journal after an entry, by name.
	CountEvents(ctx context.Context, school SchoolID, after int64) (map[EventName]int64, error)
	// FindBulkSchools returns the schools that have a bulk job to prepare or run, a draft older
	// than unstarted, or another job older than others.
	FindBulkSchools(ctx context.Context, unstarted, others time.Time) ([]SchoolID, error)
}

// JournalReads are the queries to the journal of one school.
type JournalReads interface {
	// FindChanges returns a part of the journal with its objects, all from one snapshot.
	FindChanges(f ChangeFilter) (ChangeListing, error)
	// FindEntries returns the newest entries that match a query, or those nearest to its After.
	// It examines at most EntriesScanned others.
	FindEntries(q EntryQuery) (EntryListing, error)
	// LastEntry returns the number of the last entry or, within a change, of the last entry
	// before it; 0 if there is none.
	LastEntry() (int64, error)
	// GetCursor returns the number up to which the journal was read under the given name,
	// initially 0.
	GetCursor(name string) (int64, error)
}

// SalesChanges are the operations on sales in a transaction, other than saving rows.
type SalesChanges interface {
	// TakeReference stores the reference of a transaction in the payment system. It fails with
	// ErrReferenceTaken if a transaction already has it, ignoring case.
	TakeReference(reference string, id TransactionID) error
	// FindOffer returns a pricing plan, if it exists, and reports whether the user exists.
	FindOffer(plan PricingPlanID, user UserID) (Offer, error)
	// FindProductName returns the name of a product, or "" if it does not exist.
	FindProductName(p Product) (string, error)
	// FindExpired returns the first entitlements, up to limit, that no act ended and that
	// expired in a period, except those that expired in its first microsecond and whose ids are
	// not above without.
	FindExpired(in Period, without EntitlementID, limit int) ([]Entitlement, error)
	// FindBuyers returns who paid for some pricing plans in the next transactions of the
	// school. It examines a few thousand transactions at most, so that it takes only a few
	// milliseconds, however much the school has sold.
	FindBuyers(q BuyerQuery) (BuyerListing, error)
	// FindPaidSales returns the paid sales of up to MaxUsers users, by user, then sale. Sales
	// of plans with an unknown product are left out.
	FindPaidSales(users []UserID) ([]PaidSale, error)
}

// JournalChanges are the operations on the journal in a transaction, besides the entries that
// saving rows appends.
type JournalChanges interface {
	// Announce marks the entry of this change with the given type and object as an event. If
	// there is no such entry, it appends one. Detail is JSON, or empty.
	Announce(entry EntryType, id int32, event EventName, detail string)
	// Note appends an entry that does not concern a saved row.
	Note(entry EntryType, id int32)
	// NoteDetail is Note with a detail, which is JSON or empty and must not contain data that
	// must be erased with a person.
	NoteDetail(entry EntryType, id int32, detail string)
	// MoveCursor moves the cursor if it was at from, and reports whether it was.
	MoveCursor(name string, from, to int64) (bool, error)
}
