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
