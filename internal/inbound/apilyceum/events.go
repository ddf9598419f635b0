package apilyceum

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

// told is gen.Event with the body as it is.
type told struct {
	Number int64           `json:"number"`
	At     time.Time       `json:"at"`
	Resent bool            `json:"resent"`
	Type   string          `json:"type"`
	Body   json.RawMessage `json:"body"`
}

func eventsOf(l events.EventListing) any {
	list := struct {
		Events []told `json:"events"`
		Next   int64  `json:"next"`
		More   bool   `json:"more"`
		Last   int64  `json:"last"`
	}{[]told{}, l.Next, l.More, l.Last}
	for _, e := range l.Events {
		list.Events = append(list.Events, told{e.Number, wire.Moment(e.At), e.Resent, string(e.Event), e.Body})
	}
	return list
}

// eventsAsked is what listEvents is asked.
type eventsAsked struct {
	changesAsked

	names []lyceum.EventName
}

// The bounds of a part of the events.
const (
	usualEvents = 100
	mostEvents  = 1000
)

func bindListEvents(in *wire.Input) eventsAsked {
	q := eventsAsked{changesAsked: bindPart(in, usualEvents, mostEvents)}
	if words := in.Words("types"); words != nil {
		for word := range strings.SplitSeq(*words, ",") {
			if !slices.Contains(lyceum.EventNames(), lyceum.EventName(word)) {
				in.Refuse("types", "must be names of events parted by commas, such as Sale.created")
				break
			}
			q.names = append(q.names, lyceum.EventName(word))
		}
	}
	return q
}

// ListEvents serves GET /lyceum/v1/events.
func (f *Face) ListEvents(ctx context.Context, who wire.Principal, q eventsAsked) (wire.JSON, error) {
	listing, err := f.Feed.Events(ctx, who.Caller.School, q.filter.After, q.filter.Limit, q.names, q.wait)
	return wire.JSON{Value: eventsOf(listing)}, err
}
