package lyceum

import "context"

// Key is what names one row of a table: an id, or the hash of a secret.
type Key interface {
	~int32 | ~int64 | KeyHash
}

// Source is what rows are read from: a View, or a Tx, whose reads also see what
// it has changed.
type Source interface {
	// School is the only school whose rows are seen.
	School() SchoolID
	// Context is that of the call that opened the source.
	Context() context.Context
	// Session is for the store that opened the source.
	Session() any
}

// Rows reads the rows of one noun. ID names a row and F narrows a list, whose
// zero value lets all rows pass.
type Rows[ID Key, T, F any] interface {
	// Get fails with NotFound when there is no such row.
	Get(from Source, id ID) (T, error)
	// Find returns those of ids that exist.
	Find(from Source, ids ...ID) (map[ID]T, error)
	// First returns the first row that passes, in the order of List, if there is
	// one.
	First(from Source, f F) (row T, found bool, err error)
	// List returns a page and the exact total, both of one moment.
	List(from Source, f F, p Page) (Listing[T], error)
	// Each calls visit with every row that passes, in the order of List, all of
	// one moment, in bounded memory, until visit fails. The pointer is valid
	// only during the call.
	Each(from Source, f F, visit func(*T) error) error
}

// Table is Rows that can be changed. Each insert, update and deletion appends
// one journal entry, except for nouns that the journal does not have.
type Table[ID Key, T, F any] interface {
	Rows[ID, T, F]

	// NextID returns a new id. It fails with Conflict when the contract's int32
	// is used up.
	NextID(tx Tx) (ID, error)
	// Insert adds rows that are not there.
	Insert(tx Tx, rows ...T) error
	// Save inserts what is new, updates what differs and leaves alone what is
	// the same, by id. The last of two rows with one id wins. A saved id is
	// never returned by NextID again.
	Save(tx Tx, rows ...T) (Saved, error)
	// Update changes rows that this change has read, without reading them again.
	// A row that is not there stays so. What says whose a row is, such as the
	// user and the course of progress, must be as it was read.
	Update(tx Tx, rows ...T) error
	// Delete fails with NotFound when there is no such row.
	Delete(tx Tx, id ID) error
	// Clear deletes the rows that pass and returns how many.
	Clear(tx Tx, f F) (int, error)
}

// Wanted is what a change is going to ask for: the answer to a question, or an id.
type Wanted struct {
	Ask func(Source)
	All bool // rows of a short list; only of one list of several there is an answer ahead
	ID  Sequence
}

// ByID wants the row with an id.
func ByID[ID Key, T, F any](rows Rows[ID, T, F], id ID) Wanted {
	return Wanted{Ask: func(from Source) { _, _ = rows.Get(from, id) }}
}

// FirstOf wants the first row that passes.
func FirstOf[ID Key, T, F any](rows Rows[ID, T, F], f F) Wanted {
	return Wanted{Ask: func(from Source) { _, _, _ = rows.First(from, f) }}
}

// AllOf wants all rows that pass.
func AllOf[ID Key, T, F any](rows Rows[ID, T, F], f F) Wanted {
	return Wanted{Ask: func(from Source) { _ = rows.Each(from, f, func(*T) error { return nil }) }, All: true}
}

// NextOf wants an id.
func NextOf(seq Sequence) Wanted { return Wanted{ID: seq} }

// Listing is a page of a list and the exact number of all rows that pass.
type Listing[T any] struct {
	Page  Page
	Total int64
	Rows  []T
	More  bool // rows come after these
}

// All returns all rows that pass. It is for lists that are known to be short.
func All[ID Key, T, F any](rows Rows[ID, T, F], from Source, f F) ([]T, error) {
	var all []T
	err := rows.Each(from, f, func(row *T) error {
		all = append(all, *row)
		return nil
	})
	return all, err
}
