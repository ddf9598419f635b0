package lyceum

import "context"

// Wrote hears of the changes that are made for somebody.
type Wrote interface {
	// Wrote is told the number of the last entry of a change that is on disk.
	Wrote(entry int64)
}

// WroteKey finds the Wrote of a context.
type WroteKey struct{}

// NoteWrote tells the Wrote of a context, if it has one, of a change.
func NoteWrote(ctx context.Context, entry int64) {
	if w, ok := ctx.Value(WroteKey{}).(Wrote); ok {
		w.Wrote(entry)
	}
}

// NotReached refuses who wants to see an entry that is not there after a second.
func NotReached(entry int64) error {
	return Errorf(Unavailable, "this server does not have change %d of the school yet; try again", entry)
}
