package lyceum

// ChangeRecord is one entry of the journal with the object as it is now, which
// may be newer than the entry. Object is one of the types of this package, such
// as Transaction; it is nil when the object is gone, and for credentials.
type ChangeRecord struct {
	Entry

	Object any
}

// ChangeListing is a part of a school's journal in order.
type ChangeListing struct {
	Changes []ChangeRecord
	Next    int64 // to go on after
	More    bool  // there is more already
	Last    int64 // number of the school's last entry

	// Before is the entry that was gone on after, and Through the one to go on
	// after next; neither has a number where the journal has no such entry.
	// Whoever finds Before or Origin to be others than last time reads another
	// journal, such as that of a replica that lacked the end of the first.
	Before, Through Entry
	Origin          string
}

// JournalEnds are the last entries of the journals of some schools.
type JournalEnds struct {
	Last map[SchoolID]Entry
	// Origin tells a database from one that takes its place, as far as the
	// engine does: on PostgreSQL it is the system identifier and the timeline,
	// on SQLite, where a store goes on with the files that it opened, empty.
	Origin string
}

// ChangeFilter narrows a change feed.
type ChangeFilter struct {
	After int64
	Limit int         // of entries, at least 1
	Types []EntryType // empty: all
	// Events narrows to entries that announce an event, and Names to some.
	Events bool
	Names  []EventName
}

// TaggedUser is a user with all their tags.
type TaggedUser struct {
	User

	Tags []string
}
