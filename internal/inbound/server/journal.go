package server

import (
	"context"
	"math"
	"net/http"
	"strconv"

	"github.com/lyceum-school/lyceum"
)

// Journal numbers the changes of schools. A lyceum.Store is one.
type Journal interface {
	Reach(ctx context.Context, school lyceum.SchoolID, entry int64) error
	LastEntries(ctx context.Context, schools []lyceum.SchoolID) (lyceum.JournalEnds, error)
}

// journalEntry is the header of a response that callers send back to see what they have
// changed, whichever process handles their next request.
const journalEntry = "Journal-Entry"

// reach waits for the journal entry that a request names, and returns its number, or 0 if it
// names none.
func (h *handler) reach(x *exchange, r *http.Request) (entry int64, err error) {
	values := r.Header[journalEntry]
	switch {
	case len(values) == 0 || h.Journal == nil:
		return 0, nil
	case len(values) > 1:
		return 0, lyceum.Invalidf("the header Journal-Entry must be sent once")
	}
	if entry, err = strconv.ParseInt(values[0], 10, 64); err != nil || entry < 1 || values[0][0] == '+' {
		return 0, lyceum.Invalidf("the header Journal-Entry must be a whole number from 1 to %d, as sent in a response",
			int64(math.MaxInt64))
	}
	return entry, h.Journal.Reach(r.Context(), x.school(), entry)
}

// Wrote implements lyceum.Wrote.
func (h *held) Wrote(entry int64) { h.entry = max(h.entry, entry) }

// noteEntry sets the header of the response to a change: the entry that must be visible to see
// it. A request that had nothing to change may depend on a change that somebody else has just
// made.
func (h *handler) noteEntry(x *exchange) {
	school := x.school()
	if x.held.change && x.held.entry == 0 && school != 0 && h.Journal != nil {
		ends, err := h.Journal.LastEntries(&x.held, []lyceum.SchoolID{school})
		if err != nil {
			return // the change was made, so the request must not fail
		}
		x.held.entry = ends.Last[school].Number
	}
	if x.held.change && x.held.entry > 0 {
		x.Header()[journalEntry] = []string{strconv.FormatInt(x.held.entry, 10)}
	}
}
