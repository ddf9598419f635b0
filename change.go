package lyceum

// ChangeRecord is a journal entry with the object as it is now, which may be newer than the
// entry. Object has one of the types of this package, such as Transaction. It is nil if the
// object no longer exists, and for credentials.
type ChangeRecord struct {
	Entry

	Object any
}

// ChangeListing is a part of a school's journal, in order.
type ChangeListing struct {
	Changes []ChangeRecord
	Next    int64 // the number to continue after
	More    bool  // there are more entries already
	Last    int64 // number of the school's last entry

	// Before is the entry that this part continues after, and Through the one that the next
	// part continues after; either has no number if the journal has no such entry. If Before or
	// Origin differs from the previous call, the caller is reading a different journal, such as
	// that of a replica that lacked the end of the first.
	Before, Through Entry
	Origin          string
}

// JournalEnds are the last entries of the journals of several schools.
type JournalEnds struct {
	Last map[SchoolID]Entry
	// Origin distinguishes a database from one that replaces it, as far as the engine can: on
	// PostgreSQL it is the system identifier and the timeline; on SQLite, where a store keeps
	// using the files that it opened, it is empty.
	Origin string
}

// ChangeFilter narrows a change feed.
type ChangeFilter struct {
	After int64
	Limit int         // maximum number of entries, at least 1
	Types []EntryType // empty: all
	// Events selects only entries that announce an event, and Names only those with one of
	// these events.
	Events bool
	Names  []EventName
}

// TaggedUser is a user with all their tags.
type TaggedUser struct {
	User

	Tags []string
}
