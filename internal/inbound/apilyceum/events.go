package apilyceum

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

func (f *Face) events() []wire.Operation {
	return []wire.Operation{
		waiting(heavy(one("listEvents", wire.Get, "/lyceum/v1/events", bindEvents, f.Feed.Events, "", eventPage))),
	}
}

// The limits of a part of the events.
const (
	usualEvents = 100
	mostEvents  = 1000
)

func bindEvents(in *wire.Input) events.ChangesQuery {
	q := bindPart(in, usualEvents, mostEvents)
	if words := in.Query("types").Text(1, wire.Unbounded); words.Present {
		for word := range strings.SplitSeq(words.Value, ",") {
			if !slices.Contains(lyceum.EventNames(), lyceum.EventName(word)) {
				in.Refuse("types", "must be names of events separated by commas, such as Sale.created")
				break
			}
			q.Filter.Names = append(q.Filter.Names, lyceum.EventName(word))
		}
	}
	return q
}

// rawEvent is gen.Event with the raw body.
type rawEvent struct {
	Number int64           `json:"number"`
	At     time.Time       `json:"at"`
	Resent bool            `json:"resent"`
	Type   string          `json:"type"`
	Body   json.RawMessage `json:"body"`
}

// rawEventList is gen.EventList with raw bodies.
type rawEventList struct {
	Events []rawEvent `json:"events"`
	Next   int64      `json:"next"`
	More   bool       `json:"more"`
	Last   int64      `json:"last"`
}

func eventPage(l events.EventListing) rawEventList {
	list := rawEventList{[]rawEvent{}, l.Next, l.More, l.Last}
	for _, e := range l.Events {
		list.Events = append(list.Events, rawEvent{e.Number, wire.Moment(e.At), e.Resent, string(e.Event), e.Body})
	}
	return list
}
