package lyceum

// Named is something with a name that a person can pick from a list.
type Named struct {
	ID   int32
	Name string // empty where none is known
	Note string // what tells it from others of its name: a user's address, a plan's course
}

// NamesSearched is how many rows a search for a part of a name looks at, the
// newest first, so that it takes no longer in a school of millions.
const NamesSearched = 50_000

// NamesReads tell what users, courses, pricing plans, affiliates and authors are
// called. They are told apart by the sequence that numbers them.
type NamesReads interface {
	// FindNames returns what of ids exists.
	FindNames(of Sequence, ids []int32) (map[int32]Named, error)
	// SearchNames returns up to limit whose name and note have every word of the
	// text in them, whatever its case, the newest first. It looks at the newest
	// NamesSearched, and besides at all users whose address or name begins with
	// the text; those come first.
	SearchNames(of Sequence, text string, limit int) ([]Named, error)
}
