package lyceum

import "context"

// Wrote is notified of the changes that are made on behalf of somebody.
type Wrote interface {
	// Wrote is called with the number of the last entry of a change that is on disk.
	Wrote(entry int64)
}

// WroteKey is the context key of a Wrote.
type WroteKey struct{}

// NoteWrote notifies the Wrote of ctx, if it has one, of a change.
func NoteWrote(ctx context.Context, entry int64) {
	if w, ok := ctx.Value(WroteKey{}).(Wrote); ok {
		w.Wrote(entry)
	}
}

// NotReached returns the error for a reader that waits for an entry that has not arrived after
// a second.
func NotReached(entry int64) error {
	return Errorf(Unavailable, "this server does not have change %d of the school yet; try again", entry)
}
