package lyceum

// Named is a named object that a person can pick from a list.
type Named struct {
	ID   int32
	Name string // empty if unknown
	Note string // distinguishes objects with the same name: a user's address, a plan's course
}

// NamesSearched is how many rows, newest first, a search for part of a name examines, so that
// it takes no longer in a school with millions of rows.
const NamesSearched = 50_000

// NamesReads finds the names of users, courses, pricing plans, affiliates and authors. The
// sequence that numbers them selects the noun.
type NamesReads interface {
	// FindNames returns the names of those ids that exist.
	FindNames(of Sequence, ids []int32) (map[int32]Named, error)
	// SearchNames returns up to limit objects whose name and note together contain every word,
	// ignoring case, newest first. It examines the newest NamesSearched, and in addition all
	// users whose address or name begins with text; those come first.
	SearchNames(of Sequence, text string, limit int) ([]Named, error)
}
