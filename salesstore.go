package lyceum

import (
	"context"
	"time"
)

// ExpiredCursor is the moment, in microseconds, up to which a school took note
// of entitlements whose time is over. What was over before it first did is
// history.
const ExpiredCursor = "expired"

// ExpiredWithin is the id up to which it took note of those that expired in the
// microsecond after ExpiredCursor.
const ExpiredWithin = "expired_within"

// SalesReader is the part of a reader that knows the sales of a school, and the
// journals of several.
type SalesReader interface {
	// FindTransactions returns a page and the exact total of one moment.
	FindTransactions(
		ctx context.Context, school SchoolID, f TransactionFilter, o Order, p Page,
	) (TransactionListing, error)
	// SumSales returns the sums that each query asks for, all of one moment.
	SumSales(ctx context.Context, school SchoolID, queries ...SalesSumQuery) ([][]SalesSum, error)
	// ScanTransactions calls visit with all transactions, a part at a time and in
	// any order, as quickly as the store can. One that changes meanwhile is as it
	// was before or after.
	ScanTransactions(ctx context.Context, school SchoolID, visit func([]Transaction) error) error
	// LastEntries returns the last entry of each of some schools that has one.
	LastEntries(ctx context.Context, schools []SchoolID) (JournalEnds, error)
	// FindOverdue returns the schools where the time of an entitlement is over
	// since ExpiredCursor, which may not be there yet, the holders of a product
	// that was added or removed are not settled, the buyers of a pricing plan are
	// not linked again, a sale stops, lapses or changes its plan, an order is to be
	// abandoned, or somebody is to be erased.
	FindOverdue(ctx context.Context, now time.Time) ([]SchoolID, error)
	// FindNext returns what is due next in a school.
	FindNext(ctx context.Context, school SchoolID, asked NextAsked) (NextDue, error)
	// CountEvents counts the events of a school's journal after an entry, by name.
	CountEvents(ctx context.Context, school SchoolID, after int64) (map[EventName]int64, error)
	// FindBulkSchools returns the schools that have a bulk job to prepare or to run,
	// a draft from before unstarted, or another one from before others.
	FindBulkSchools(ctx context.Context, unstarted, others time.Time) ([]SchoolID, error)
}

// JournalReads are questions to the journal of one school.
type JournalReads interface {
	// FindChanges returns a part of the journal with its objects, all of one
	// moment.
	FindChanges(f ChangeFilter) (ChangeListing, error)
	// FindEntries returns the newest entries that a query selects, or those nearest to
	// its After. It looks at EntriesScanned others at most.
	FindEntries(q EntryQuery) (EntryListing, error)
	// LastEntry returns the number of the last entry, inside a change that of the
	// last one before it; 0 without any.
	LastEntry() (int64, error)
	// GetCursor returns the number up to which the journal was read under a name;
	// 0 at first.
	GetCursor(name string) (int64, error)
}

// SalesChanges are what a change does about sales besides changing their rows.
type SalesChanges interface {
	// TakeReference keeps the name that a transaction has in the payment
	// system. It fails with ErrReferenceTaken if a transaction has it, in any
	// case of its letters.
	TakeReference(reference string, id TransactionID) error
	// FindOffer returns a pricing plan, if it is there, and reports whether a
	// user is.
	FindOffer(plan PricingPlanID, user UserID) (Offer, error)
	// FindProductName returns what a product is called, and nothing if it is not
	// there.
	FindProductName(p Product) (string, error)
	// FindExpired returns up to limit entitlements that no act ended and whose
	// time was over in a period, the first ones, without those of its first
	// microsecond up to an id.
	FindExpired(in Period, without EntitlementID, limit int) ([]Entitlement, error)
	// FindBuyers returns who paid for some pricing plans in the next transactions of
	// the school. It looks at a few thousand of them at most, so that it takes a few
	// milliseconds, whatever the school has sold.
	FindBuyers(q BuyerQuery) (BuyerListing, error)
	// FindPaidSales returns the paid sales of up to MaxUsers users whose plan's
	// product is known, by user, then sale.
	FindPaidSales(users []UserID) ([]PaidSale, error)
}

// JournalChanges are what a change does to the journal besides what its saves
// append.
type JournalChanges interface {
	// Announce marks the entry of this change of that type and object as an
	// event, and appends such an entry where there is none. Detail is JSON, or
	// empty.
	Announce(entry EntryType, id int32, event EventName, detail string)
	// Note appends an entry that is about no row that was saved.
	Note(entry EntryType, id int32)
	// NoteDetail appends such an entry with a detail, which is JSON, or empty, and has
	// nothing that must be erased with a person.
	NoteDetail(entry EntryType, id int32, detail string)
	// MoveCursor reports whether the cursor stood at from, and moves it if so.
	MoveCursor(name string, from, to int64) (bool, error)
}
