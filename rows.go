package lyceum

import "context"

// Key identifies one row of a table: an id, or the hash of a secret.
type Key interface {
	~int32 | ~int64 | KeyHash
}

// Source is what rows are read from: a View, or a Tx, whose reads also see its own changes.
type Source interface {
	// School returns the only school whose rows are visible.
	School() SchoolID
	// Context returns the context of the call that opened the source.
	Context() context.Context
	// Session is for the store that opened the source.
	Session() any
}

// Rows reads the rows of one noun. ID identifies a row, and F filters a list; the zero F
// matches all rows.
type Rows[ID Key, T, F any] interface {
	// Get fails with NotFound if there is no such row.
	Get(from Source, id ID) (T, error)
	// Find returns those of ids that exist.
	Find(from Source, ids ...ID) (map[ID]T, error)
	// First returns the first row that matches, in the order of List, if there is one.
	First(from Source, f F) (row T, found bool, err error)
	// List returns a page and the exact total, both from one snapshot.
	List(from Source, f F, p Page) (Listing[T], error)
	// Each calls visit with every row that matches, in the order of List, all from one snapshot
	// and in bounded memory, until visit fails. The pointer is valid only during the call.
	Each(from Source, f F, visit func(*T) error) error
}

// Table is Rows that can be changed. Each insert, update and delete appends one journal entry,
// except for nouns that the journal does not contain.
type Table[ID Key, T, F any] interface {
	Rows[ID, T, F]

	// NextID returns a new id. It fails with Conflict if the contract's int32 is exhausted.
	NextID(tx Tx) (ID, error)
	// Insert adds rows that do not exist yet.
	Insert(tx Tx, rows ...T) error
	// Save compares rows by id with the stored ones: it inserts new rows, updates those that
	// differ, and leaves identical ones alone. If two rows have the same id, the last one wins.
	// NextID never returns a saved id again.
	Save(tx Tx, rows ...T) (Saved, error)
	// Update changes rows that this change has read, without reading them again. Rows that do
	// not exist are not created. The fields that identify the owner of a row, such as user and
	// course of progress, must be as they were read.
	Update(tx Tx, rows ...T) error
	// Delete fails with NotFound if there is no such row.
	Delete(tx Tx, id ID) error
	// Clear deletes the rows that match and returns their number.
	Clear(tx Tx, f F) (int, error)
}

// Wanted is something that a change is about to read: the result of a query, or a new id.
type Wanted struct {
	Query func(Source)
	All   bool // rows of a short list; of several lists, only one is prefetched
	ID    Sequence
}

// ByID returns a Wanted for the row with the given id.
func ByID[ID Key, T, F any](rows Rows[ID, T, F], id ID) Wanted {
	return Wanted{Query: func(from Source) { _, _ = rows.Get(from, id) }}
}

// FirstOf returns a Wanted for the first row that matches.
func FirstOf[ID Key, T, F any](rows Rows[ID, T, F], f F) Wanted {
	return Wanted{Query: func(from Source) { _, _, _ = rows.First(from, f) }}
}

// AllOf returns a Wanted for all rows that match.
func AllOf[ID Key, T, F any](rows Rows[ID, T, F], f F) Wanted {
	return Wanted{Query: func(from Source) { _ = rows.Each(from, f, func(*T) error { return nil }) }, All: true}
}

// NextOf returns a Wanted for a new id.
func NextOf(seq Sequence) Wanted { return Wanted{ID: seq} }

// Listing is a page of a list and the exact number of all rows that match.
type Listing[T any] struct {
	Page  Page
	Total int64
	Rows  []T
	More  bool // there are rows after these
}

// All returns all rows that match. It is for lists that are known to be short.
func All[ID Key, T, F any](rows Rows[ID, T, F], from Source, f F) ([]T, error) {
	var all []T
	err := rows.Each(from, f, func(row *T) error {
		all = append(all, *row)
		return nil
	})
	return all, err
}
